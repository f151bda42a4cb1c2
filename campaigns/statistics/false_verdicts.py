"""How many verdicts are false where both sides are the same (A/A), and somebody looks after every block?

python -m campaigns.statistics.false_verdicts [--runs 1000]

Every run has 30 blocks; each block launches A twice under two names. What a launch brings is shared by all its sizes
(half of its variance), the rest is of each size's own. A run counts as false when any look at any
size says faster or slower. Looks begin with the third block: two decide nothing.
"""

from __future__ import annotations

import sys

import numpy as np
from campaigns.statistics.asked import asked
from numpy.typing import NDArray

from fabriscope.analysis.comparing.compared import LEADS, CurvePair
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.evidence import ANYTIME
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.values.stopping import ON_THE_WAY, Rules

BLOCKS = 30
FIXED_BLOCKS = 5
SIZES = (1, 8)
NOISES = (0.02, 0.3)
ONE, OTHER = (Curve("inter", side, "tcp", None, "engine", "ping_pong", "", "", "") for side in ("a", "b"))
PAIR = CurvePair("fabric", "a", "b", ONE, OTHER, "latency_ns")


def log_ratios(noise: np.random.Generator, sizes: int, spread: float) -> NDArray[np.float64]:
    """Return log ratios, (BLOCKS, sizes), of a run that compares a thing with itself."""

    def one() -> NDArray[np.float64]:
        own = noise.normal(0, 1, (BLOCKS, sizes))
        return np.asarray((noise.normal(0, 1, (BLOCKS, 1)) + own) * spread / np.sqrt(2))

    return one() - one()


def is_false(logs: NDArray[np.float64], rules: Rules) -> bool:
    """Return whether a look at these blocks tells a difference."""
    spots = tuple(Spot(place, rules.mean(column), 1.0, 1.0) for place, column in enumerate(logs.T))
    return any(row.verdict in LEADS for row in Family(PAIR, spots).rows(rules))


def main() -> None:
    """Print a table: how many runs of 1,000 had a false verdict, by how they were looked at."""
    run_count, noise = asked(__doc__)
    student, anytime, on_the_way = Rules(), Rules(ANYTIME, error_rate=0.05), Rules(ANYTIME, error_rate=ON_THE_WAY)
    naive, until = Rules(error_rate=0.05), Rules(ANYTIME, error_rate=0.05, horizon=BLOCKS)
    sys.stdout.write(
        "| sizes | launch noise | until decided, at most 30 blocks | anytime, after each of 30 blocks "
        "| 5 blocks planned: anytime on the way, Student at the end | Student once | Student after every block |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    for sizes in SIZES:
        for spread in NOISES:
            counts = np.zeros(5)
            for _ in range(run_count):
                logs = log_ratios(noise, sizes, spread)
                looks = range(LEAST_BLOCKS, BLOCKS + 1)
                at_end = is_false(logs[:FIXED_BLOCKS], student)
                counts += (
                    any(is_false(logs[:count], until) for count in looks),
                    any(is_false(logs[:count], anytime) for count in looks),
                    at_end or any(is_false(logs[:count], on_the_way) for count in range(LEAST_BLOCKS, FIXED_BLOCKS)),
                    at_end,
                    any(is_false(logs[:count], naive) for count in looks),
                )
            cells = " | ".join(f"{count / run_count:.1%}" for count in counts)
            sys.stdout.write(f"| {sizes} | {spread:.0%} | {cells} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
