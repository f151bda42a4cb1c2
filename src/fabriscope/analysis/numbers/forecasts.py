"""How many blocks would decide what is undecided: a range, since the centre and the spread are not known yet."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import scipy

from fabriscope.analysis.numbers.evidence import CONFIDENCE, SEQUENTIAL, half_width
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, MARGIN, LogRatio

MOST_BLOCKS_ADVISED = 1000
CHANCES = (0.2, 0.8)
"""Of runs that are told a range, this share is decided by its first end, and by its last."""
SEQUENTIAL_FROM = 5
"""Blocks from which on a run until it is decided is told anything: before, those that are told an end within their plan
are those that luck made look hopeful, and a third of them misses it."""
_LEVELS = (np.arange(25) + 0.5) / 25


class Forecast(NamedTuple):
    """Blocks in all, those that there are among them."""

    least: int
    """By then one run in five is decided."""
    most: int
    """By then four in five are."""

    def __str__(self) -> str:
        """Return `12`, or `10 to 24`."""
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"

    def less(self, count: int) -> Forecast:
        """Return how many more than `count` blocks that is, at least one."""
        return Forecast(max(1, self.least - count), max(1, self.most - count))


Reach = Callable[[int], float]
"""From a number of blocks to how far their mean must lie from an edge, for a spread of 1."""


class Within(NamedTuple):
    """What is equivalent: a mean that lies inside, by `reach` at least."""

    room: float
    reach: Reach


def joined(forecasts: Iterable[Forecast | None]) -> Forecast | None:
    """Return what decides all of them; None for none, and where one is not known."""
    every = list(forecasts)
    known = [one for one in every if one is not None]
    if not known or len(known) < len(every):
        return None
    return Forecast(max(one.least for one in known), max(one.most for one in known))


def blocks_to_decide(result: LogRatio, margin: float = MARGIN, error_rate: float = 1 - CONFIDENCE) -> Forecast | None:
    """Return how many blocks would give a verdict on a log ratio, as a lead or as equivalence.

    `error_rate` is that of the one test, with what the rest of its family costs. None if unknown, more than 1000, or
    of a run until it is decided that has fewer than SEQUENTIAL_FROM.
    """
    if result.method == SEQUENTIAL and result.block_count < SEQUENTIAL_FROM:
        return None
    error = min(error_rate, 1 - CONFIDENCE)

    def reach(confidence: float) -> Reach:
        # A later run may have more blocks than this one's plan.
        return lambda count: half_width(count, 1.0, result.method, confidence, max(result.horizon, count))

    within = Within(math.log1p(margin) - result.blur, reach(1 - 2 * error))
    return forecast(result.centre, result.spread, result.block_count, reach(1 - error), result.blur, within)


def forecast(
    centre: float, spread: float, count: int, outside: Reach, blur: float = 0.0, within: Within | None = None
) -> Forecast | None:
    """Return how many blocks would put a mean outside `blur`, or within what it may be; None as `blocks_to_decide`.

    `centre` and `spread` are those of `count` values. What they leave open of the truth is a part of it: with flat
    priors of the mean and of the logarithm of the deviation, the mean of n of m blocks is told by that of the first n
    (a posterior predictive distribution; Gelman et al., Bayesian Data Analysis, 3rd ed., section 3.2).
    """
    if count < 2 or not math.isfinite(spread):
        return None
    # The deviation may be any that chi square allows, at equal chances.
    deviations = max(spread, 1e-12) * np.sqrt((count - 1) / scipy.special.chdtri(count - 1, _LEVELS))

    def chance(blocks: int) -> float:
        errors = deviations * math.sqrt((blocks - count) / (count * blocks))
        edges = blur + outside(blocks) * deviations
        normal = scipy.special.ndtr
        decided = normal((-edges - centre) / errors) + normal((centre - edges) / errors)
        if within is not None:
            half = np.maximum(0.0, within.room - within.reach(blocks) * deviations)
            decided = decided + normal((half - centre) / errors) - normal((-half - centre) / errors)
        return float(np.mean(decided))

    counts = range(max(count + 1, LEAST_BLOCKS), MOST_BLOCKS_ADVISED + 1)
    least, most = (bisect_left(counts, wanted, key=chance) for wanted in CHANCES)
    return Forecast(counts[least], counts[most]) if most < len(counts) else None
