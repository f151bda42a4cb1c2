"""Where the lead changes from one side of a pair to the other, as far as the verdicts say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabriscope.analysis.comparing.compared import FASTER, LEADS
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.words import size_text

MOST_TOLD = 2
"""More changes than this are told by their number: a lead that comes and goes has no crossover worth a name."""


@dataclass(frozen=True)
class Crossover:
    """One change of the lead."""

    above_bytes: int
    """The largest size at which the one side is shown to lead ..."""
    below_bytes: int
    """... and the next at which the other is: the ratio passes 1 between the two."""
    about_bytes: int
    """Where a straight line between their two ratios, both axes logarithmic, passes 1."""
    leader: str
    """Who leads from there on."""


def crossovers(ranges: Sequence[Range]) -> list[Crossover]:
    """Return the changes of the lead of one pair, from its ranges, smallest sizes first.

    What is equivalent or undecided between two verdicts widens the interval; it is as sure as the two verdicts are.
    """
    decided = [row for row in ranges if row.verdict in LEADS]
    found = []
    for before, after in pairwise(decided):
        if before.verdict == after.verdict:
            continue
        sizes = before.last_size_bytes, after.first_size_bytes
        one, other = math.log(before.ratio_at_last), math.log(after.ratio_at_first)
        low, high = (math.log(max(1, size)) for size in sizes)
        about = math.exp(low + (high - low) * one / (one - other))
        leader = after.pair.left if after.verdict == FASTER else after.pair.right
        found.append(Crossover(*sizes, round(about), leader))
    return found


def crossover_text(found: Sequence[Crossover]) -> str:
    """Return where the lead changes: `the lead passes to gige between 2 KiB and 8 KiB, at about 4100 B`."""
    if len(found) > MOST_TOLD:
        first, last = size_text(found[0].above_bytes), size_text(found[-1].below_bytes)
        return f"the lead changes {len(found)} times between {first} and {last}"
    return "; ".join(
        f"the lead passes to {one.leader} between {size_text(one.above_bytes)} and {size_text(one.below_bytes)}, "
        f"at about {_rounded(one.about_bytes)}"
        for one in found
    )


def _rounded(size_bytes: int) -> str:
    """Return a size with two digits, which is more than an interpolation is worth."""
    for factor, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= factor:
            value = size_bytes / factor
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{size_bytes} B"
