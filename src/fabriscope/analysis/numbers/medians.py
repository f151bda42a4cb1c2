"""The median of what launches gave, and an interval that holds it whatever shape their spread has.

From six launches on the interval lies between order statistics: how many of n launches lie below their median is
binomial, whatever their distribution (Thompson 1936); between two neighbouring ones it is interpolated, so that it
covers 95 % (Hettmansperger and Sheather 1986). Fewer launches cannot do that: five lie all on one side of their median
in one of sixteen runs. There it is Student's interval of the mean, never less than from the least launch to the most.
ANYTIME: from eight launches on those order statistics at which the evidence against a fair coin stays below 20, the
likelihood ratio of a uniform mixture over other coins; before that the anytime-valid interval of the mean. Each of the
two holds at any look of its own; of looks before and after the eighth launch together, one fails in up to 10 % of runs.
No run ends because of these intervals: what ends one are comparisons, which keep to one rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy

from fabriscope.analysis.numbers.evidence import ANYTIME, CONFIDENCE, Floats, Mean

FREE_FROM, FREE_FROM_ANYTIME = 6, 8
"""Launches from which on the interval asks nothing of their distribution."""


def median_with_interval(
    values: Sequence[float] | Floats, method: str, blur: float = 0.0, kept: float = 0.0
) -> tuple[float, float, float]:
    """Return the median and its 95 % interval, NaN where there is none.

    `blur` is half a step of the clock; `kept` what a state that lasted over the launches leaves open
    (`persistence.offset`), independent of the rest, so that squares add up.
    """
    centre, low, high = _median(np.sort(np.asarray(values, dtype=np.float64)), method, blur)
    if kept:
        low, high = centre - math.hypot(centre - low, kept), centre + math.hypot(high - centre, kept)
    return centre, low, high


def _median(ordered: Floats, method: str, blur: float) -> tuple[float, float, float]:
    centre = float(np.median(ordered))
    if len(ordered) < (FREE_FROM_ANYTIME if method == ANYTIME else FREE_FROM):
        low, high = Mean(ordered, method, blur).interval()
        if len(ordered) > 1:
            low, high = min(low, float(ordered[0]) - blur), max(high, float(ordered[-1]) + blur)
        return centre, low, high
    inner, share = (_place_anytime(len(ordered)), 0.0) if method == ANYTIME else _place(len(ordered))
    outer = inner - 1 if share else inner
    low = share * ordered[outer] + (1 - share) * ordered[inner]
    high = share * ordered[-1 - outer] + (1 - share) * ordered[-1 - inner]
    return centre, float(low) - blur, float(high) + blur


@cache
def _place(count: int) -> tuple[int, float]:
    """Return the order statistic just inside the interval, and the share that the one outside of it has."""
    outer = 0
    while 1 - 2 * scipy.special.bdtr(outer + 1, count, 0.5) >= CONFIDENCE:
        outer += 1
    wide, narrow = (float(1 - 2 * scipy.special.bdtr(place, count, 0.5)) for place in (outer, outer + 1))
    part = (wide - CONFIDENCE) / (wide - narrow)
    number = outer + 1
    weight = (count - number) * part / (number + (count - 2 * number) * part)
    return outer + 1, 1 - weight


@cache
def _place_anytime(count: int) -> int:
    """Return the order statistic at which the interval ends: the last one with enough evidence against it."""
    below = np.arange(count // 2 + 1)
    evidence = scipy.special.betaln(below + 1, count - below + 1) + count * math.log(2)
    return int(np.flatnonzero(evidence >= -math.log(1 - CONFIDENCE))[-1])
