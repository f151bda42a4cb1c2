"""How long a tuning takes, and which design and how many blocks fit into its budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabriscope.analysis.tuning.designs import LEAST_FREEDOM, Design, designs

SETTING_NS = 200_000_000
"""About what it takes to set one thing on all hosts before a launch, to read it again and to put it back."""
LEAST_CONFIRMING, MOST_CONFIRMING = 6, 20
"""Blocks of the confirmation."""
MOST_SCREENING = 8
HALVING_BLOCKS = 2
"""Of each round of halving; what is left of it has the blocks of the rounds before, too."""


@dataclass(frozen=True)
class Prices:
    """What launches take, in ns."""

    objective_ns: int
    """One launch of the objective's entry."""
    all_ns: int
    """One launch of each entry over the tuned fabric."""
    entry_count: int


@dataclass(frozen=True)
class TuningTime:
    """Blocks of each stage, and what they take at most."""

    design: Design
    screening_blocks: int
    confirming_blocks: int
    knob_count: int
    more_values: int
    """What challenges the best of the screening, at most."""
    prices: Prices

    @property
    def screening_ns(self) -> int:
        """Return what the screening takes."""
        return self.screening_blocks * self._block_ns(len(self.design.runs))

    @property
    def total_ns(self) -> int:
        """Return what all stages take at most: there may be less to halve, and nothing to confirm."""
        halving = sum(HALVING_BLOCKS * self._block_ns(1 + count) for count in halved(self.more_values))
        settings_ns = self.knob_count * SETTING_NS * self.prices.entry_count
        confirming = self.confirming_blocks * (2 * self.prices.all_ns + settings_ns)
        return self.screening_ns + halving + confirming

    def full_ns(self, combinations: int) -> int:
        """Return what it would take to launch all combinations of all values as often as the screening its own."""
        return self.screening_blocks * self._block_ns(combinations)

    def _block_ns(self, count: int) -> int:
        """Return what a block of configurations takes, with the fabric as it is."""
        return (count + 1) * self.prices.objective_ns + count * self.knob_count * SETTING_NS


def halved(challengers: int) -> list[int]:
    """Return how many configurations each round of halving has beside the best of the screening.

    One more joins after the first; a single one has a round, too.
    """
    found = [challengers] if challengers == 1 else []
    while challengers > 1:
        found.append(challengers)
        challengers = math.ceil(challengers / 2) + (1 if len(found) == 1 else 0)
    return found


def fitting(value_counts: Sequence[int], prices: Prices, budget_ns: int) -> TuningTime:
    """Return what fits into a budget: the design that tells most, then as many blocks as there is time for.

    `value_counts` has the values of each setting, what is set now among them.

    Where nothing fits it is the least that there is, which takes longer.
    """
    count, more = len(value_counts), sum(max(0, values - 2) for values in value_counts)
    least = [TuningTime(one, _least_blocks(one), LEAST_CONFIRMING, count, more, prices) for one in designs(count)]
    found = next((one for one in least if one.total_ns <= budget_ns), min(least, key=lambda one: one.total_ns))
    while True:
        more_blocks = replace(
            found,
            screening_blocks=min(MOST_SCREENING, found.screening_blocks + 1),
            confirming_blocks=min(MOST_CONFIRMING, found.confirming_blocks + 2),
        )
        if more_blocks == found or more_blocks.total_ns > budget_ns:
            return found
        found = more_blocks


def _least_blocks(design: Design) -> int:
    """Return how many blocks leave the noise enough degrees of freedom, two at least."""
    return max(2, 1 + math.ceil(LEAST_FREEDOM / (len(design.runs) - 1)))
