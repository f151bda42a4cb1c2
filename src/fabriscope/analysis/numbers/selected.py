"""What a difference is that is told because it was large: less than it looks, and less certain.

Of differences that are stated where a test has shown them, those that luck made larger are stated more often. What is
stated here allows for that: the interval's lower end holds given that the difference was shown. The distribution is
that of the mean, cut where a difference is not shown; the error is taken as known to its degrees of freedom.
(A. Weinstein, W. Fithian, Y. Benjamini, "Selection adjusted confidence intervals with more power to determine the
sign", JASA 108, 2013.) Intervals that cover under this condition keep the false coverage rate too, whatever was
selected beside them (Y. Benjamini, D. Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
selected parameters", JASA 100, 2005).

Blocks whose spread luck made small are shown more often, too, and few blocks cannot tell it from a spread that is
small. So the value is the geometric mean of two. One is the median under that condition, which takes the spread as it
was seen: too large where few differences are shown. The other is the difference times the share that the condition
leaves of its ratio to its error (by the noncentral t): too small where most are. `campaigns.statistics.stated_effects`
tells what comes of it.

That is of a number of blocks that was fixed beforehand. A run that goes on until it is decided tells its differences
sooner or later, whatever luck they have had: what ends it is the block, not the size, and they stand as measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import scipy

from fabriscope.analysis.numbers.evidence import CONFIDENCE, FIXED, Evidence

_STEPS = 24
_SURE = 6.0
"""Times as large as what would have been shown: being shown takes nothing off any more."""


class Stated(NamedTuple):
    """A number as it is stated, with its interval."""

    value: float
    low: float
    high: float


def stated(evidence: Evidence, error_rate: float, equivalent_rate: float, edge: float) -> Stated:
    """Return what is stated of a log ratio that was shown to differ from 0, at these rates of the one test.

    One that is shown to lie within `edge` at `equivalent_rate` would have been called equivalent. Neither the value nor
    an end of the interval has another sign than the difference.
    """
    low, high = evidence.interval()
    sign = 1.0 if evidence.centre > 0 else -1.0
    distance = abs(evidence.centre)
    near, far = sorted((sign * low, sign * high))
    cut = max(_half(evidence, 1 - error_rate), edge - _half(evidence, 1 - 2 * equivalent_rate))
    if evidence.method == FIXED and evidence.error > 0 and 0 < cut < distance:
        middle = _placed(0.5, distance, cut, evidence)
        value = math.sqrt(middle * distance * _share(distance, cut, evidence))
        near = min(near, value, _placed(0.5 + CONFIDENCE / 2, distance, cut, evidence))
    else:
        value = distance
    ends = sorted((sign * max(0.0, near), sign * far))
    return Stated(sign * value, *ends)


def _half(evidence: Evidence, confidence: float) -> float:
    low, high = evidence.interval(min(max(confidence, 0.0), 1 - 1e-12))
    half = min(evidence.centre - low, high - evidence.centre)
    return half if math.isfinite(half) else 0.0


def _placed(chance: float, distance: float, cut: float, evidence: Evidence) -> float:
    """Return the truth under which a shown difference is as small as this one, or smaller, with a chance.

    It is 0 where that is no likelier with a truth of 0: of few blocks, whose tails are heavy, then nothing is excluded.
    """
    error, freedom = evidence.error, evidence.freedom

    def below(truth: float) -> float:
        tail = scipy.special.stdtr
        opposite, same = tail(freedom, (-cut - truth) / error), tail(freedom, (truth - cut) / error)
        return float((opposite + same - tail(freedom, (truth - distance) / error)) / (opposite + same))

    return _falls_to(chance, below, 0.0, distance) if below(0.0) > chance else 0.0


def _share(distance: float, cut: float, evidence: Evidence) -> float:
    """Return what share of its ratio to its error is left of a difference, given that it was shown."""
    if distance > _SURE * cut:
        return 1.0
    freedom, size, shown_from = evidence.freedom, distance / evidence.error, cut / evidence.error
    tail = scipy.special.nctdtr

    def below(truth: float) -> float:
        opposite, same = tail(freedom, truth, -shown_from), tail(freedom, -truth, -shown_from)
        shown = opposite + same
        return float((shown - tail(freedom, -truth, -size)) / shown) if shown > 0 else 1.0

    plain = _falls_to(0.5, lambda truth: float(tail(freedom, truth, size)), 0.0, 3 * size)
    return _falls_to(0.5, below, 0.0, plain) / plain


def _falls_to(chance: float, below: Callable[[float], float], least: float, most: float) -> float:
    """Return where a chance that falls with the truth is this one."""
    for _ in range(_STEPS):
        middle = (least + most) / 2
        least, most = (middle, most) if below(middle) > chance else (least, middle)
    return (least + most) / 2
