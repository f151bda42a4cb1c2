"""Do intervals and verdicts hold where two pilot blocks chose the number of blocks, and what is gained?

python -m campaigns.statistics.chosen_blocks [--runs 2000] [--seed 1]

Two entries are compared at one size or at eight. A launch has a level of its own (lognormal, five levels, or a heavy
tail: Student's t with three degrees of freedom), and noise inside it that falls with the time of measuring; what it
says of that noise is as good as 20 cycles make it. Time is counted in start-ups of a block. Both entries are the same,
so that a run is false when any size leads, and an interval is to hold a ratio of 1. Widths are set beside those that
are expected where the noises are known beforehand, and where five blocks take the same time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import NOISES
from numpy.typing import NDArray

from fabriscope.analysis.comparing.judging import LEAD_STEP
from fabriscope.analysis.numbers.block_counts import Costs, Noises, freedom_of, narrowest, planned, pooled
from fabriscope.analysis.numbers.intervals import family_wise, log_ratio
from fabriscope.analysis.values.stopping import Rules
from fabriscope.model.blocks import MOST_CHOSEN_BLOCKS, PILOT_BLOCKS, USUAL_BLOCKS

Floats = NDArray[np.float64]
Generator = np.random.Generator
SIZES = (1, 8)
STARTS = (6.0, 25.0, 100.0)
"""The whole time, in start-ups of a block."""
INSIDE = (0.25, 1.0, 4.0)
"""The noise inside a pilot, in that between launches: a cell of the table has all three."""
ENTRIES, CYCLES, LEAST = 2, 20, 0.01
_HEAVY = 3


def _heavy(noise: Generator, shape: tuple[int, int, int, int]) -> Floats:
    of_launch = noise.standard_t(_HEAVY, (*shape[:3], 1)) + noise.standard_t(_HEAVY, shape)
    return np.asarray(0.1 * of_launch / math.sqrt(2 * _HEAVY))


LEVELS: dict[str, tuple[float, Callable[[Generator, tuple[int, int, int, int]], Floats]]] = {
    "lognormal": (0.1, NOISES["lognormal 10 %"].own),
    "five levels": (math.hypot(0.01, 0.03 * math.sqrt(2)), NOISES["five levels"].own),
    "heavy tail": (0.1, _heavy),
}
"""Name to the standard deviation of a launch, and the launches."""


@dataclass(frozen=True)
class Setting:
    """What runs are made of."""

    levels: str
    sizes: int
    starts: float
    inside: float

    @property
    def pilot(self) -> float:
        """Return how long a pilot's launch measures."""
        return self.starts / (ENTRIES * 10)

    @property
    def noises(self) -> Noises:
        """Return the true ones."""
        between = LEVELS[self.levels][0] * math.sqrt(2)
        return Noises(between, between * self.inside * math.sqrt(self.pilot))

    @property
    def costs(self) -> Costs:
        """Return what blocks cost after the pilots."""
        return Costs(1.0, (LEAST,) * ENTRIES, self.pilot, self.starts - PILOT_BLOCKS * (1.0 + ENTRIES * self.pilot))


@dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    blocks: int
    is_false: bool
    covered: float
    """Share of sizes."""
    half_width: float


def run_of(noise: Generator, setting: Setting) -> Outcome | None:
    """Return one run; None where there is no time for a third block."""
    launches = LEVELS[setting.levels][1](noise, (1, MOST_CHOSEN_BLOCKS, ENTRIES, setting.sizes))[0]
    levels, normal = launches[:, 0] - launches[:, 1], noise.normal(0, 1, (MOST_CHOSEN_BLOCKS, setting.sizes))
    inside = setting.noises.inside
    pilots = levels[:PILOT_BLOCKS] + normal[:PILOT_BLOCKS] * inside / math.sqrt(setting.pilot)
    freedom = PILOT_BLOCKS * CYCLES
    seen = inside**2 / setting.pilot * noise.chisquare(freedom, setting.sizes) / freedom
    found = pooled(pilots.var(axis=0, ddof=1), seen, freedom_of(ENTRIES, setting.sizes), setting.pilot)
    chosen = narrowest(found, setting.costs)
    if chosen is None:
        return None
    later = slice(PILOT_BLOCKS, chosen.blocks)
    logs = np.concatenate([pilots, levels[later] + normal[later] * inside / math.sqrt(chosen.launch_s)])
    results = [log_ratio(column) for column in logs.T]
    is_false = bool(min(family_wise([one.p_different for one in results], LEAD_STEP)) < Rules().error_rate)
    covered = float(np.mean([one.low <= 0.0 <= one.high for one in results]))
    return Outcome(chosen.blocks, is_false, covered, float(np.mean([one.high - one.low for one in results])) / 2)


def _cells(noise: Generator, setting: Setting, runs: int) -> tuple[str, ...]:
    """Return blocks, the best number of them, false leads, coverage, and widths in those of the best and of five."""
    outcomes = [one for _ in range(runs) if (one := run_of(noise, setting)) is not None]
    best, usual = narrowest(setting.noises, setting.costs), planned(setting.noises, setting.costs, USUAL_BLOCKS)
    if not outcomes or best is None:
        return ("\N{EN DASH}",) * 6
    width = float(np.mean([one.half_width for one in outcomes]))
    false, covered = (float(np.mean([getattr(one, name) for one in outcomes])) for name in ("is_false", "covered"))
    return (
        f"{np.median([one.blocks for one in outcomes]):.0f}",
        f"{best.blocks}",
        f"{100 * false:.1f}",
        f"{100 * covered:.1f}",
        f"{width / best.half_width:.2f}",
        f"{width / usual.half_width:.2f}" if usual is not None else "\N{EN DASH}",
    )


def main() -> None:
    """Print a table: how many runs were false, and how wide their intervals were, for each noise inside a pilot."""
    runs, noise = asked(__doc__, runs=2000)
    sys.stdout.write(
        "| levels | sizes | time, in start-ups | blocks, median | best | false leads, % | intervals that hold the "
        "truth, % | width, in that of the best | in that of five blocks |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    for levels in LEVELS:
        for sizes in SIZES:
            for starts in STARTS:
                columns = zip(
                    *(_cells(noise, Setting(levels, sizes, starts, inside), runs) for inside in INSIDE), strict=True
                )
                cells = " | ".join(", ".join(cell) for cell in columns)
                sys.stdout.write(f"| {levels} | {sizes} | {starts:.0f} | {cells} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
