"""Of differences that are told, how much larger than the truth are they stated, and how many intervals cover?

python -m campaigns.statistics.stated_effects [--runs 2000]

Two entries, one truly faster, log ratios normal with a spread between blocks. Of sizes with a lead: the median of
what is stated over the truth, and the share of intervals that cover, as sentences state them and, in brackets, as
measured. "A curve" is eight sizes of which half differ, "until decided" a run of one size of at most 50 blocks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
from campaigns.statistics.asked import asked
from campaigns.statistics.false_verdicts import PAIR

from fabriscope.analysis.comparing.compared import LEADS, UNDECIDED, Compared
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.numbers.evidence import ANYTIME, Floats
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules

EFFECTS, SPREADS, BLOCKS = (0.05, 0.1), (0.05, 0.1), (3, 4, 5, 8, 16)
CURVE, HORIZON = 8, 50
FEWEST = 40
"""Leads of which a cell says something."""


def looked(logs: Floats, rules: Rules) -> list[Compared]:
    """Return what came of blocks of log ratios, (blocks, sizes)."""
    spots = tuple(Spot(place, rules.mean(column), 1.0, 1.0) for place, column in enumerate(logs.T))
    return Family(PAIR, spots).rows(rules)


def fixed(noise: np.random.Generator, truth: Floats, spread: float, blocks: int) -> list[Compared]:
    """Return what came of a run of a fixed number of blocks; half of the noise is common to the sizes."""
    shared, own = noise.normal(0, 1, (blocks, 1)), noise.normal(0, 1, (blocks, len(truth)))
    return looked(truth + spread * (shared + own) / math.sqrt(2), Rules())


def until_decided(noise: np.random.Generator, truth: Floats, spread: float) -> list[Compared]:
    """Return what came of a run that ends when it is decided."""
    rules = Rules(ANYTIME, error_rate=ERROR_RATE, horizon=HORIZON)
    logs = truth + noise.normal(0, spread, (HORIZON, len(truth)))
    for blocks in range(LEAST_BLOCKS, HORIZON + 1):
        rows = looked(logs[:blocks], rules)
        if all(row.verdict != UNDECIDED for row in rows):
            break
    return rows


def cell(rows: list[tuple[Compared, float]], count: int) -> str:
    """Return what leads among `count` comparisons come to; each comes with the true log ratio."""
    leads = [(row, truth) for row, truth in rows if row.verdict in LEADS and truth]
    if len(leads) < FEWEST:
        return f"{len(leads) / count:.0%} led"
    sizes = [
        np.median([math.copysign(1, math.log(row.ratio)) * math.log(told) / truth for (row, truth), told in each])
        for each in (
            [(one, one[0].stated) for one in leads],
            [(one, one[0].ratio) for one in leads],
        )
    ]
    covers = [
        np.mean([(low or 0) <= math.exp(truth) <= (high or math.inf) for low, high, truth in each])
        for each in (
            [(row.stated_low, row.stated_high, truth) for row, truth in leads],
            [(row.low, row.high, truth) for row, truth in leads],
        )
    ]
    stated, measured = sizes
    return f"{len(leads) / count:.0%} led, {stated:.2f} ({measured:.2f}), {covers[0]:.0%} ({covers[1]:.0%})"


def lines(noise: np.random.Generator, runs: int) -> Iterator[str]:
    """Yield the lines of the table."""
    head = [f"{blocks} blocks" for blocks in BLOCKS]
    yield "| sizes | true effect | spread | " + " | ".join(head) + " | until decided |"
    yield "|---" * (4 + len(BLOCKS)) + "|"
    for sizes in (1, CURVE):
        for effect in EFFECTS:
            for spread in SPREADS:
                truth = np.where(np.arange(sizes) >= sizes // 2, math.log1p(effect), 0.0)
                differing, few = int(np.count_nonzero(truth)), max(1, runs // sizes)
                cells = []
                for blocks in BLOCKS:
                    rows = [
                        pair
                        for _ in range(few)
                        for pair in zip(fixed(noise, truth, spread, blocks), truth, strict=True)
                    ]
                    cells.append(cell(rows, few * differing))
                some = max(1, few // 5) if sizes == 1 else 0
                rows = [
                    pair for _ in range(some) for pair in zip(until_decided(noise, truth, spread), truth, strict=True)
                ]
                cells.append(cell(rows, some) if some else "\N{EN DASH}")
                yield f"| {sizes} | {effect:.0%} | {spread:.0%} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print a table: a true effect, a spread and a number of sizes in each row, blocks in the columns."""
    runs, noise = asked(__doc__, runs=2000)
    for line in lines(noise, runs):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
