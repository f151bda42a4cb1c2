"""Of runs that are told "10 to 20 blocks would decide", how many are decided by 10, and how many by 20?

python -m campaigns.statistics.forecasts [--runs 1000]

Blocks of two entries whose log ratio is normal around a true effect. Each run is looked at once after some blocks;
where it is undecided and gets a forecast, it goes on to either end of it, and is judged there. A run until it is
decided is judged after every block up to there, and is told nothing before it has five. The promise is of effects as
they come (the last line: any up to 15 %, at equal chances), not of each by itself: a difference that is shown to be
neither large nor small takes longest.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from campaigns.statistics.asked import asked

from fabriscope.analysis.numbers.evidence import FIXED, SEQUENTIAL, Floats, Mean
from fabriscope.analysis.numbers.forecasts import blocks_to_decide
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, judge

EFFECTS = (0.0, 0.02, 0.05, 0.10)
LARGEST = 0.15
SPREAD = 0.10
COUNTS = (3, 5, 10, 20)
ERROR = 0.05
HORIZON = 50


def is_decided(logs: Floats, method: str) -> bool:
    """Return whether blocks give a verdict."""
    result = judge(Mean(logs, method, 0.0, HORIZON if method == SEQUENTIAL else 0))
    return min(result.p_different, result.p_equivalent) < ERROR


def outcomes(
    noise: np.random.Generator, effects: Floats, count: int, method: str
) -> tuple[int, list[tuple[int, int, bool, bool]]]:
    """Return how many runs are undecided after some blocks, and for each that is told a range whether its ends held."""
    undecided, found = 0, []
    for effect in effects:
        logs = math.log1p(effect) + noise.normal(0, SPREAD, 1000)
        first = LEAST_BLOCKS if method == SEQUENTIAL else count
        if any(is_decided(logs[:blocks], method) for blocks in range(first, count + 1)):
            continue
        undecided += 1
        told = blocks_to_decide(judge(Mean(logs[:count], method, 0.0, HORIZON if method == SEQUENTIAL else 0)))
        if told is None or (method == SEQUENTIAL and told.most > HORIZON):
            continue
        ends = []
        for end in told:
            looks = range(count + 1, end + 1) if method == SEQUENTIAL else (end,)
            ends.append(any(is_decided(logs[:blocks], method) for blocks in looks))
        found.append((told.least, told.most, ends[0], ends[1]))
    return undecided, found


def main() -> None:
    """Print a table: a row for each effect, method and number of blocks at the look."""
    run_count, noise = asked(__doc__)
    sys.stdout.write(
        "| rule | blocks | true effect | undecided | told a range | its ends, medians | decided by the first "
        "| by the last |\n|---|---|---|---|---|---|---|---|\n"
    )
    for method in (FIXED, SEQUENTIAL):
        for count in COUNTS:
            drawn = noise.uniform(-LARGEST, LARGEST, run_count)
            for name, effects in (*((f"{one:.0%}", np.full(run_count, one)) for one in EFFECTS), ("any", drawn)):
                undecided, found = outcomes(noise, effects, count, method)
                if not found:
                    continue
                least, most, by_first, by_last = (np.array(column) for column in zip(*found, strict=True))
                sys.stdout.write(
                    f"| {method} | {count} | {name} | {undecided / run_count:.0%} | {len(found) / undecided:.0%} "
                    f"| {np.median(least):.0f} to {np.median(most):.0f} | {by_first.mean():.0%} | {by_last.mean():.0%} "
                    "|\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
