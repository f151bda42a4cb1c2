"""How many verdicts at sizes that were added near a crossover are false, and does its interval hold the crossing?

python -m campaigns.statistics.sharpened_verdicts [--runs 1000]

Every run compares two curves at 17 sizes in 5 blocks, and adds sizes near their crossovers in two rounds. The curves
cross at 3,000 B, where their ratio changes by 2 or 20 % when the size doubles, or are the same. What a launch brings is
shared by all its sizes (half of its variance), the rest is of each size's own. A verdict is false when it names the
wrong side, or says equivalent beyond the margin.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from campaigns.statistics.asked import asked
from numpy.typing import NDArray

from fabriscope.analysis.comparing.compared import UNDECIDED, Compared, CurvePair
from fabriscope.analysis.comparing.crossovers import MOST_TOLD, Crossover, crossovers
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.comparing.sharpening import NARROW, PER_INTERVAL, Interval, level_of, sizes_inside
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.evidence import Mean
from fabriscope.analysis.values.stopping import Rules

BLOCKS = 5
ROUNDS = 2
CROSSING_BYTES = 3000
PLANNED = tuple(2**power for power in range(17))
STEEPNESS = (0.2, 0.02, 0.0)
NOISES = (0.02, 0.1)
RULES = Rules()


def true_log_ratio(size: int, steepness: float) -> float:
    """Return the logarithm of how many times as fast the left one is."""
    return math.log2(size / CROSSING_BYTES) * math.log1p(steepness)


def measured(sizes: list[int], number: int, steepness: float, spread: float, noise: np.random.Generator) -> list[Spot]:
    """Return what the blocks of a round say of each size."""

    def one() -> NDArray[np.float64]:
        own = noise.normal(0, 1, (BLOCKS, len(sizes)))
        return np.asarray((noise.normal(0, 1, (BLOCKS, 1)) + own) * spread / np.sqrt(2))

    logs = one() - one() + [true_log_ratio(size, steepness) for size in sizes]
    return [Spot(size, Mean(column), 1.0, 1.0, number) for size, column in zip(sizes, logs.T, strict=True)]


def judged(spots: list[Spot]) -> list[Compared]:
    """Return the comparisons of one pair of curves."""
    one, other = (Curve("inter", side, "tcp", None, "engine", "ping_pong", "", "", "") for side in ("a", "b"))
    pair = CurvePair("fabric", "a", "b", one, other, "latency_ns")
    return Family(pair, tuple(sorted(spots, key=lambda spot: spot.size_bytes))).rows(RULES)


def sharpened(
    steepness: float, spread: float, noise: np.random.Generator
) -> tuple[list[Compared], list[Spot], list[Crossover], list[Crossover]]:
    """Return a run's comparisons, what it measured, and its crossovers before and after the rounds."""
    spots = measured(list(PLANNED), 0, steepness, spread, noise)
    rows = judged(spots)
    first = found = crossovers(of_pair := ranges(rows))
    for number in range(1, ROUNDS + 1):
        added: list[int] = []
        for one in found if len(found) <= MOST_TOLD else ():
            interval = Interval("", (), one.above_bytes, one.below_bytes, level_of(of_pair, one))
            if interval.ratio > NARROW:
                added += sizes_inside(interval, [spot.size_bytes for spot in spots] + added, PER_INTERVAL)
        spots += measured(sorted(added), number, steepness, spread, noise) if added else []
        rows = judged(spots)
        found = crossovers(of_pair := ranges(rows))
    return rows, spots, first, found


def false_share(rows: list[Compared], sizes: list[int], steepness: float) -> float:
    """Return which share of the verdicts at these sizes is false; 0 where there is none."""
    told = [
        (row.verdict, true_log_ratio(row.message_size_bytes, steepness))
        for row in rows
        if row.message_size_bytes in sizes and row.verdict != UNDECIDED
    ]
    edge = math.log1p(RULES.margin)
    wrong = sum(
        abs(truth) > edge if verdict == "equivalent" else truth <= 0 if verdict == "faster" else truth >= 0
        for verdict, truth in told
    )
    return wrong / len(told) if told else 0.0


def main() -> None:
    """Print a table: false verdicts at planned and at added sizes, and what became of the crossover's interval."""
    run_count, noise = asked(__doc__)
    sys.stdout.write(
        "| ratio per doubling | launch noise | runs that added sizes | false, planned sizes | false, added sizes "
        "| interval before (median) | after | crossing outside, before | after |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    for steepness in STEEPNESS:
        for spread in NOISES:
            sys.stdout.write(f"| {steepness:.0%} | {spread:.0%} | {row_of(run_count, steepness, spread, noise)} |\n")
            sys.stdout.flush()


def row_of(runs: int, steepness: float, spread: float, noise: np.random.Generator) -> str:
    """Return the cells of a row, from a number of runs."""
    false_planned, false_added, widths, outside, count = 0.0, 0.0, [], np.zeros(2), 0
    for _ in range(runs):
        rows, spots, first, last = sharpened(steepness, spread, noise)
        added = [spot.size_bytes for spot in spots if spot.round]
        false_planned += false_share(rows, list(PLANNED), steepness) / runs
        false_added += false_share(rows, added, steepness) / runs
        count += bool(added)
        if len(first) == len(last) == 1 and steepness:
            widths.append([one.below_bytes / one.above_bytes for one in (first[0], last[0])])
            outside += [not one.above_bytes <= CROSSING_BYTES <= one.below_bytes for one in (first[0], last[0])]
    cells = [f"{count / runs:.0%}", f"{false_planned:.1%}", f"{false_added:.1%}"]
    if not widths:
        return " | ".join([*cells, "–", "–", "–", "–"])
    before, after = np.median(widths, axis=0)
    return " | ".join(
        [*cells, f"{before:.2f} times", f"{after:.2f} times", *(f"{one / len(widths):.1%}" for one in outside)]
    )


if __name__ == "__main__":
    main()
