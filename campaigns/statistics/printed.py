"""What is said of two sides whose times lie less than a step apart, in logs that print times of a coarse clock.

python -m campaigns.statistics.printed [--runs 300]

A clock counts whole microseconds, or tenths, and the log prints two decimals. Launches have the noise that is told, in
percent. One side takes so many microseconds, and up to a step more. Two answers are wrong: a lead that is stated as
more than 4 %, where the other side takes 1 % longer, and that both are equivalent, where it takes 6 % longer.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import Floats, values_of

from fabriscope.analysis.comparing.compared import EQUIVALENT, LEADS, Compared
from fabriscope.analysis.comparing.comparisons import KINDS, compared
from fabriscope.analysis.values.clock_steps import STEP, with_clock_steps

PAIR = (("a", "ping_pong", ""), ("b", "ping_pong", ""))
BLOCKS = (3, 5, 16)
TIMES_US = (3.0, 18.0, 60.0)
NOISES = (0.0, 0.02)
NS = 1000.0
NEAR, TOO_LARGE, FAR = 1.01, 1.04, 1.06


def rows_of(times_us: Floats, step_us: float) -> list[Compared]:
    """Return what is said of each run; times are (runs, blocks, 2)."""
    printed = np.floor(times_us / step_us) * step_us
    values = values_of(np.zeros((*times_us.shape, 1)), (8,), PAIR).with_columns(
        pl.Series("value", NS * np.round(printed, 2).ravel()),
        pl.lit("osu").alias("instrument"),
        pl.lit(1, pl.Int64).alias("sample_count"),
    )
    of_runs = values.drop(STEP).partition_by("series", maintain_order=True)
    stepped = pl.concat(with_clock_steps(one) for one in of_runs).select(values.columns)
    return compared(stepped, KINDS["fabric"])


def said(left_us: float, right_us: float, blocks: int, step_us: float = 1.0) -> str:
    """Return what is said of two sides without noise."""
    return rows_of(np.broadcast_to([left_us, right_us], (1, blocks, 2)).copy(), step_us)[0].verdict


def wrong(
    noise: np.random.Generator, runs: int, blocks: int, time_us: float, step_us: float, spread: float
) -> tuple[float, float]:
    """Return the shares of runs with too large a lead, of sides 1 % apart, and of "equivalent", of sides 6 % apart."""
    begin = time_us + step_us * noise.random((runs, 1, 1))
    own = np.exp(spread * noise.normal(0, 1, (runs, blocks, 2)))
    near, far = (rows_of(begin * np.array([1.0, apart]) * own, step_us) for apart in (NEAR, FAR))
    leads = [row.verdict in LEADS and max(row.stated, 1 / row.stated) > TOO_LARGE for row in near]
    alike = [row.verdict == EQUIVALENT for row in far]
    return float(np.mean(leads)), float(np.mean(alike))


def main() -> None:
    """Print the table."""
    runs, noise = asked(__doc__, runs=300)
    sys.stdout.write("| time | clock | noise | " + " | ".join(f"{blocks} launches" for blocks in BLOCKS) + " |\n")
    sys.stdout.write("|---" * (3 + len(BLOCKS)) + "|\n")
    for time_us in TIMES_US:
        for step_us in (1.0, 0.1):
            for spread in NOISES:
                cells = [wrong(noise, runs, blocks, time_us, step_us, spread) for blocks in BLOCKS]
                told = " | ".join(f"{lead:.1%}, {alike:.1%}" for lead, alike in cells)
                sys.stdout.write(f"| {time_us:g} µs | {step_us:g} µs | {spread:.0%} | {told} |\n")


if __name__ == "__main__":
    main()
