"""Launches on few levels with little between them, and what a gate over many pairs makes of a few of such.

Of n blocks whose launches are on one of two levels, at equal chances, all differ by the same, in the same direction,
with a chance of 2 / 4^n. Then they have no spread of their own, and a test that goes by it is sure of what luck did. In
a gate over many pairs that happens to one of them. What the others show of it is their spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.numbers.evidence import Floats
from fabriscope.analysis.numbers.levels import p_without_levels
from fabriscope.model.blocks import LEAST_BLOCKS

SEEN = 0.05
"""How often launches of normal distributions are to be taken for such."""
RARE = 0.05
"""How often a gate may meet a pair whose launches all fell so."""
_MOST = 20
"""Blocks from which on nothing is asked: no gate is that large."""


@dataclass(frozen=True)
class Guarded:
    """The pairs of a gate, as it is to test them."""

    families: Sequence[Family]
    needed: int = 0
    """Blocks from which on luck is rare enough; 0 where nothing was changed."""

    def notes(self) -> list[str]:
        """Return what there is to say of it."""
        if not self.needed:
            return []
        return [
            f"launches come in few levels with little between them, and of {len(self.families)} pairs some would fall"
            f" on unlike ones in every block by chance: with fewer than {self.needed} blocks a condition is tested by"
            " the spread that most pairs have, where a pair's own is less"
        ]


def guarded(families: Sequence[Family]) -> Guarded:
    """Return pairs whose spread is at least what most of them have, where launches have levels and blocks are few."""
    needed = max(LEAST_BLOCKS, math.ceil(math.log(2 * max(len(families), 1) / RARE, 4)))
    spots = [spot for one in families for spot in one.spots if spot.evidence.count >= LEAST_BLOCKS]
    if not any(spot.evidence.count < needed for spot in spots) or p_without_levels(list(_series(families))) >= SEEN:
        return Guarded(families)
    usual = float(np.median([part.spread for spot in spots for part in spot.evidence.parts()]))
    return Guarded(
        [replace(one, spots=tuple(_widened(spot, usual, needed) for spot in one.spots)) for one in families], needed
    )


def _widened(spot: Spot, usual: float, needed: int) -> Spot:
    is_few = LEAST_BLOCKS <= spot.evidence.count < needed
    return replace(spot, evidence=spot.evidence.at_least(usual)) if is_few else spot


def _series(families: Sequence[Family]) -> Iterator[Floats]:
    """Yield the values over blocks of each pair, of one of its sizes: all of them share the luck of their launches."""
    for one in families:
        evidence = max((spot.evidence for spot in one.spots), key=lambda evidence: evidence.count)
        yield from (part.numbers for part in evidence.parts() if LEAST_BLOCKS <= part.count <= _MOST)
