"""Launches that took far longer than the others of their entry: how many, by how much, and whether one entry has more.

The median launch does not move for a rare slow one, and few launches may not meet any. Where some are seen, they are
named, since they are a property of what was measured as the median is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import scipy

from fabriscope.analysis.numbers.evidence import Floats
from fabriscope.analysis.values.kept_state import Entry, KeptState, levels_of
from fabriscope.model.counting import counted, listed

FALSE_ALARM = 0.01
"""How often launches of one normal distribution are to have one that counts as slow, by entry."""
LEAST_FACTOR = 1.1
"""What is less slow than that is the usual noise of launches, however alike the others are."""
LEAST_LAUNCHES = 4
DIFFERENT = 0.05
MOST_NAMED = 3

NO_NETWORK = "null."
"""How the entries of the instrument's own floor begin, of which nothing is asked."""


@dataclass(frozen=True)
class SlowLaunches:
    """The slow launches of an entry."""

    entry_id: str
    launch_count: int
    factors: tuple[float, ...]
    """How many times as long as the median of the other launches each of them took, over all of its cases; ascending.
    Empty where none was seen."""

    def words(self) -> str:
        """Return how many there were, and how slow."""
        least, most = (f"{factor:.2g}" for factor in (self.factors[0], self.factors[-1]))
        times = least if least == most else f"{least} to {most}"
        return f"{len(self.factors)} of {self.launch_count} of {self.entry_id} ({times} times as long)"


def slow_launches(values: pl.DataFrame) -> list[SlowLaunches]:
    """Return the slow launches of each entry that has LEAST_LAUNCHES or more in a round, in the values' order."""
    of_entry: dict[Entry, list[float]] = {}
    for _, entry, level in levels_of(values):
        of_entry.setdefault(entry, []).append(level)
    return [
        SlowLaunches(entry_id, len(levels), slow_of(np.array(levels)))
        for (entry_id, number), levels in of_entry.items()
        if number == 0 and len(levels) >= LEAST_LAUNCHES and not entry_id.startswith(NO_NETWORK)
    ]


def slow_of(levels: Floats) -> tuple[float, ...]:
    """Return how many times as long as the median of the others each slow launch took, ascending.

    `levels` are logarithms of times, one for each launch. By the generalized extreme studentized deviate test, of the
    upper side alone and of at most half of the launches (B. Rosner, Technometrics 25, 1983).
    """
    ordered, count = np.sort(levels), 0
    most = (len(levels) - 1) // 2
    for taken in range(1, most + 1):
        left = ordered[: len(ordered) - taken + 1]
        deviation = float(left.std(ddof=1))
        if deviation > 0 and (left[-1] - left.mean()) / deviation > _critical(len(left)):
            count = taken
    others = ordered[: len(ordered) - count]
    factors = np.exp(ordered[len(ordered) - count :] - np.median(others))
    return tuple(float(factor) for factor in factors if factor >= LEAST_FACTOR)


def _critical(count: int) -> float:
    """Return what the largest of so many normal values exceeds with the probability FALSE_ALARM, in deviations."""
    point = float(scipy.special.stdtrit(count - 2, 1 - FALSE_ALARM / count))
    return (count - 1) * point / math.sqrt((count - 2 + point**2) * count)


def words_of_launches(kept: KeptState, values: pl.DataFrame) -> list[str]:
    """Return what the launches themselves say: of a state that the machine keeps, and of slow ones."""
    return [*([kept.sentence()] if kept.is_seen else []), *sentences(slow_launches(values))]


def of_runs(of_each: Sequence[tuple[str, pl.DataFrame]]) -> list[str]:
    """Return what is to be said of the slow launches of runs that are compared, each with its name, or of one run."""
    several = len(of_each) > 1
    every = [(name, one) for name, values in of_each for one in slow_launches(values)]
    return sentences([replace(one, entry_id=f"{one.entry_id} in {name}") if several else one for name, one in every])


def sentences(found: Sequence[SlowLaunches]) -> list[str]:
    """Return what is to be said of slow launches; nothing where none was seen."""
    told = sorted((one for one in found if one.factors), key=lambda one: -len(one.factors))
    if not told:
        return []
    more = counted(len(told) - MOST_NAMED, "more entry", "more entries")
    words = [one.words() for one in told[:MOST_NAMED]] + ([more] if len(told) > MOST_NAMED else [])
    return [
        f"Some launches were slower than the others of their entry: {listed(words)}. Medians do not show that,"
        f" ratios of blocks do.{_how_often(found)}"
    ]


def _how_often(found: Sequence[SlowLaunches]) -> str:
    """Return which entries have slow launches more often, by Fisher's exact test with Holm's correction over pairs."""
    pairs = [pair for pair in itertools.combinations(found, 2) if any(one.factors for one in pair)]
    tested = sorted(((_p_alike(*pair), place) for place, pair in enumerate(pairs)))
    shown = []
    for rank, (p_value, place) in enumerate(tested):
        if p_value * (len(pairs) - rank) > DIFFERENT:
            break
        less, more = sorted(pairs[place], key=lambda one: len(one.factors) / one.launch_count)
        shown.append(f"{more.entry_id} has them more often than {less.entry_id} (p = {p_value:.2g})")
    if shown:
        return f" {listed(shown[:MOST_NAMED])}."
    return " How often they come is not shown to differ between entries." if pairs else ""


def _p_alike(one: SlowLaunches, other: SlowLaunches) -> float:
    from scipy.stats import fisher_exact  # here: loading it takes long

    table = [[len(side.factors), side.launch_count - len(side.factors)] for side in (one, other)]
    return float(fisher_exact(np.array(table)).pvalue)
