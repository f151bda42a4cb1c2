"""Is a state that the machine keeps from launch to launch seen, and do intervals of one value hold other hours then?

python -m campaigns.statistics.kept_states [--runs 300] [--entries 2] [--two-runs]

Made-up launch values under every noise (noises.py), in the order in which they were made. "Seen": share of runs that
say so. "Covers": intervals that hold the median launch, as they are, and in brackets those that ask for no state. With
--two-runs: of two runs of the same, made in different hours, the share that differ by the test of runs that share no
blocks, and in brackets without what their states may have moved.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np
import polars as pl
from campaigns.statistics.noises import BASE_NS, NOISES, Noise, true_logs, values_of

from fabriscope.analysis.numbers.evidence import Difference, Mean
from fabriscope.analysis.values.clock_steps import STEP
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.kept_state import KEPT, kept_state
from fabriscope.analysis.values.stopping import Rules

BLOCKS = (3, 4, 5, 8, 16)


def outcomes(noise: Noise, runs: int, blocks: int, entries: int, seed: int) -> tuple[float, float, float, float]:
    """Return the shares of runs in which a state is seen and whose intervals cover, with it and without, and how many
    times as wide intervals are where it is seen."""
    sides = tuple((chr(ord("a") + place), "ping_pong", "") for place in range(entries))
    logs, places = noise.in_order(np.random.default_rng(seed), (runs, blocks, entries, 1))
    values = values_of(logs, (8,), sides, places)
    order = {launch: (float(launch), str(launch)) for launch in range(1, blocks * entries + 1)}
    seen = np.array(
        [kept_state(of_run, order).is_seen for of_run in values.partition_by("series", maintain_order=True)]
    )
    truth = BASE_NS * float(np.exp(true_logs(noise.name)[0][0]))
    ends = [
        estimates_of(one.filter(pl.col("fabric") == "a")).select("low", "high").to_numpy()
        for one in (values, values.with_columns(pl.lit(0.0).alias(KEPT)))
    ]
    covers = [np.mean((low <= truth) & (truth <= high)) for low, high in (one.T for one in ends)]
    widths = [np.log(one[:, 1] / one[:, 0])[seen] for one in ends]
    wider = float(np.median(widths[0] / widths[1])) if seen.any() else 1.0
    return float(seen.mean()), float(covers[0]), float(covers[1]), wider


def called_different(noise: Noise, runs: int, blocks: int, entries: int, seed: int) -> tuple[float, float]:
    """Return the shares of pairs of runs of the same whose first entries differ, with their states and without."""
    sides = tuple((chr(ord("a") + place), "ping_pong", "") for place in range(entries))
    logs, places = noise.in_order(np.random.default_rng(seed), (2 * runs, blocks, entries, 1))
    values = values_of(logs, (8,), sides, places).filter(pl.col("fabric") == "a")
    told = [
        (Mean(of_run["value"].log().to_numpy(), blur=of_run[STEP][0] / 2), float(of_run[KEPT][0]))
        for of_run in values.partition_by("series", maintain_order=True)
    ]
    pairs = list(zip(told[::2], told[1::2], strict=True))
    with_states = [Difference(one, other, math.hypot(kept, more)) for (one, kept), (other, more) in pairs]
    plain = [Difference(one, other) for (one, _), (other, _) in pairs]
    differ = [sum(pair.p_not(0.0) < Rules().error_rate for pair in every) / runs for every in (with_states, plain)]
    return differ[0], differ[1]


def main() -> None:
    """Print a table: a noise each, a number of blocks in each column."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--entries", type=int, default=2)
    parser.add_argument("--two-runs", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("noises", nargs="*", metavar="NOISE", help="begin of a noise's name; all unless given")
    asked = parser.parse_args()
    sys.stdout.write("| noise | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " |\n")
    sys.stdout.write("|---" * (1 + len(BLOCKS)) + "|\n")
    for name, noise in NOISES.items():
        if name.startswith("one side") or (asked.noises and not name.startswith(tuple(asked.noises))):
            continue
        cells = []
        for blocks in BLOCKS:
            if asked.two_runs:
                differ = called_different(noise, asked.runs, blocks, asked.entries, asked.seed)
                cells.append("{:.1%} ({:.1%})".format(*differ))
                continue
            seen, covers, plain, wider = outcomes(noise, asked.runs, blocks, asked.entries, asked.seed)
            cells.append(f"seen {seen:.0%}, covers {covers:.1%} ({plain:.1%}), {wider:.1f}")
        sys.stdout.write(f"| {name} | " + " | ".join(cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
