"""How often do the checks on launches see what is there, and what is not? Made-up launches of one entry.

python -m campaigns.statistics.launch_checks [--runs 1500]

By launches: the share of launches that may be slow while all of an entry's miss it in one run of twenty; of entries of
which one launch in ten takes twice the time, how many have met a slow one, and how many are said to have; and how many
are said to have where launches are of one normal distribution. Then, of series of 200 bursts whose level never changes,
how many are split.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import NOISES, Generator

from fabriscope.analysis.values.bursts import changepoints
from fabriscope.analysis.values.slow_launches import LEAST_LAUNCHES, slow_of
from fabriscope.analysis.values.stopping import ERROR_RATE

LAUNCHES = (3, 4, 5, 8, 16, 30)
SLOW, USUAL = "one in ten twice", "lognormal 10 %"
SLOW_SHARE = 0.1
BURSTS = 200


def said_slow(generator: Generator, name: str, runs: int, launches: int) -> str:
    """Return the share of entries that are said to have slow launches under a noise; a dash for too few launches."""
    if launches < LEAST_LAUNCHES:
        return "\N{EN DASH}"
    logs = NOISES[name].logs(generator, (runs, launches, 1, 1))[:, :, 0, 0]
    return f"{np.mean([bool(slow_of(of_entry)) for of_entry in logs]):.1%}"


def lines(generator: Generator, runs: int) -> Iterator[str]:
    """Yield the lines of the table, and one of the series."""
    yield "| launches | a share up to this may go unseen | one in ten: met | seen | none: said to be seen |"
    yield "|---" * 5 + "|"
    for launches in LAUNCHES:
        unseen, met = 1 - ERROR_RATE ** (1 / launches), 1 - (1 - SLOW_SHARE) ** launches
        seen, false = (said_slow(generator, name, runs, launches) for name in (SLOW, USUAL))
        yield f"| {launches} | {unseen:.0%} | {met:.0%} | {seen} | {false} |"
    split = sum(bool(changepoints(generator.normal(size=BURSTS))) for _ in range(runs))
    yield f"\n{split} of {runs} series of {BURSTS} bursts without a change were split."


def main() -> None:
    """Print the table."""
    runs, generator = asked(__doc__, runs=1500)
    for line in lines(generator, runs):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
