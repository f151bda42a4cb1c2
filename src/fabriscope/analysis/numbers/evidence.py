"""What values, one for each block or launch, say of their mean: the three ways of judging, behind one interface.

FIXED: Student's t (Welch's, for two runs). Right where the number of blocks was settled before the first of them.

SEQUENTIAL: right where somebody looks after every block of at most so many (`boundaries.py`).

ANYTIME: right however often somebody looks, and whatever makes the run stop. The values are normal with unknown mean
and variance; the evidence against the mean m is the likelihood ratio of a normal mixture over effect sizes
(variance 1/PRIOR, in units of the values' own variance) and the right Haar mixture over the variance,

    E(m) = sqrt(c / (n + c)) * (1 - n / (n + c) * r)^(-n/2),   r = n d^2 / ((n - 1) s^2 + n d^2)
    d = mean - m,   c = PRIOR

a test martingale under m: by Ville's inequality it ever reaches 1/a with probability at most a. All m whose evidence
stays below 1/a are the confidence sequence, 1/E is a p-value at any time. (Lai 1976; with this mixture: Wang and
Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", 2023.)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from fabriscope.analysis.numbers.boundaries import p_needed, p_of_look
from fabriscope.model.blocks import LEAST_BLOCKS

FIXED, SEQUENTIAL, ANYTIME = "fixed", "sequential", "anytime"
CONFIDENCE = 0.95
PRIOR = 0.1
"""Small values favour large effects, which few blocks can show: with 0.1 three blocks can decide, with 1 it takes five.
Many blocks pay little for it (8 % of the width at 10 blocks)."""
WIDEST_LOG = 300.0
"""An interval that is wider than this on either side says nothing, and stands as none."""
_GRID = 129
_STEPS = 60

Floats = NDArray[np.float64]


class Evidence(Protocol):
    """What is known of one number."""

    centre: float
    spread: float
    """Standard deviation of the values it rests on; NaN below two."""
    count: int
    """How many values there are; of the side that has fewer, where there are two."""
    method: str
    blur: float
    """How far the clock's step may have moved it, up or down."""
    horizon: int
    """The most values that there may be, where that matters (SEQUENTIAL)."""
    error: float
    """The standard error of the centre."""
    freedom: float
    """The degrees of freedom of the error."""

    def p_above(self, edge: float) -> float:
        """Return the p-value of the hypothesis that the number is not above `edge`; NaN below two values."""

    def p_below(self, edge: float) -> float:
        """Return the p-value of the hypothesis that the number is not below `edge`; NaN below two values."""

    def p_not(self, value: float) -> float:
        """Return the two-sided p-value of the hypothesis that the number is `value`; NaN below two values."""

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return its interval; NaN where the values give none."""

    def parts(self) -> tuple[Mean, ...]:
        """Return the means that it is made of: itself, or those of both sides."""

    def at_least(self, spread: float) -> Evidence:
        """Return the same with at least this spread of the values of each part."""


class Mean:
    """The mean of values, those that are not finite left out; the centre of none is NaN.

    `blur` is how far rounding to a clock's steps may move each value, all of them the same way: no number of values
    takes it out of the mean, and their spread is at least that of an error which is anywhere within it.
    """

    def __init__(
        self, values: Sequence[float] | Floats, method: str = FIXED, blur: float = 0.0, horizon: int = 0
    ) -> None:
        numbers = np.asarray(values, dtype=np.float64)
        numbers = numbers[np.isfinite(numbers)]
        self.method, self.horizon = method, horizon
        self.numbers, self.count = numbers, len(numbers)
        self.centre = float(numbers.mean()) if self.count else math.nan
        self.spread = float(numbers.std(ddof=1)) if self.count > 1 else math.nan
        if self.count > 1 and float(np.ptp(numbers)) == 0:
            # Equal values may differ from their mean in the last bit.
            self.centre, self.spread = float(numbers[0]), 0.0
        self.blur = blur
        self.spread = max(self.spread, blur / math.sqrt(3)) if blur and self.count > 1 else self.spread
        self.error = self.spread / math.sqrt(self.count) if self.count else math.nan
        self.freedom: float = self.count - 1

    def p_above(self, edge: float) -> float:
        """See Evidence."""
        return self._tail(self.centre - edge)

    def p_below(self, edge: float) -> float:
        """See Evidence."""
        return self._tail(edge - self.centre)

    def p_not(self, value: float) -> float:
        """See Evidence."""
        distance = abs(self.centre - value)
        return _two_sided(self._tail(distance), self.method)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """See Evidence."""
        half = half_width(self.count, self.spread, self.method, confidence, self.horizon) + self.blur
        half = math.nan if half > WIDEST_LOG else half
        return self.centre - half, self.centre + half

    def parts(self) -> tuple[Mean, ...]:
        """See Evidence."""
        return (self,)

    def at_least(self, spread: float) -> Mean:
        """See Evidence."""
        found = copy.copy(self)
        found.spread = max(self.spread, spread)
        found.error = found.spread / math.sqrt(self.count)
        return found

    def log_evidence(self, values: Floats) -> Floats:
        """Return the logarithm of the evidence against each of these means."""
        return log_evidence(self.count, self.spread, np.maximum(np.abs(self.centre - values) - self.blur, 0))

    def _tail(self, distance: float) -> float:
        if self.count < 2:
            return math.nan
        if math.isinf(distance):
            return 0.0 if distance > 0 else 1.0
        distance -= self.blur
        if self.method == ANYTIME:
            # Evidence grows with the distance: the edge is the hypothesis that has least against it.
            return 1.0 if distance <= 0 else _p_of(float(log_evidence(self.count, self.spread, np.array(distance))))
        tail = student_tail(distance, self.error, self.count - 1)
        return p_of_look(tail, self.count, self.horizon) if self.method == SEQUENTIAL else tail


class Difference:
    """The difference of two independent means: of runs that share no blocks.

    `kept` is how far states that lasted over a whole run may have moved it.
    """

    def __init__(self, left: Mean, right: Mean, kept: float = 0.0) -> None:
        self._left, self._right = left, right
        self.method = ANYTIME if ANYTIME in (left.method, right.method) else FIXED
        self.centre = left.centre - right.centre
        self.spread = math.hypot(left.spread, right.spread)
        self.count = min(left.count, right.count)
        self.error = math.hypot(left.error, right.error)
        self.freedom = self._welch() if self.count > 1 else math.nan
        self.blur, self.horizon, self._kept = left.blur + right.blur + kept, 0, kept

    def p_above(self, edge: float) -> float:
        """See Evidence."""
        return self._tail(self.centre - edge, edge)

    def p_below(self, edge: float) -> float:
        """See Evidence."""
        return self._tail(edge - self.centre, edge)

    def p_not(self, value: float) -> float:
        """See Evidence."""
        return _two_sided(self._tail(abs(self.centre - value), value), self.method)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """See Evidence."""
        if self.count < 2:
            return math.nan, math.nan
        if self.method == FIXED:
            errors = float(scipy.special.stdtrit(self.freedom, 0.5 + confidence / 2)) if self.error else 0.0
            half = errors * self.error + self.blur
            return self.centre - half, self.centre + half
        low, high = self._edge(-1, 1 - confidence), self._edge(1, 1 - confidence)
        return (low, high) if math.isfinite(low) and math.isfinite(high) else (math.nan, math.nan)

    def parts(self) -> tuple[Mean, ...]:
        """See Evidence."""
        return self._left, self._right

    def at_least(self, spread: float) -> Difference:
        """See Evidence."""
        return Difference(self._left.at_least(spread), self._right.at_least(spread), self._kept)

    def _tail(self, distance: float, edge: float) -> float:
        if self.count < 2:
            return math.nan
        if self.method == ANYTIME:
            return 1.0 if distance <= 0 else _p_of(self._log_evidence(edge))
        return student_tail(distance - self.blur, self.error, self.freedom)

    def _welch(self) -> float:
        """Return Welch's degrees of freedom (Welch 1947)."""
        parts = [(one.error**2, one.count - 1) for one in (self._left, self._right)]
        total = sum(part for part, _ in parts) ** 2
        return total / sum(part**2 / freedom for part, freedom in parts) if total else math.inf

    def _log_evidence(self, difference: float) -> float:
        """Return the log evidence against a difference: the product of both runs', least over where the two means lie.

        The runs are independent, so that the product is evidence against every such pair of means.
        """
        moved = difference - self.centre
        difference = self.centre + math.copysign(max(0.0, abs(moved) - self._kept), moved)
        places = np.linspace(self._left.centre, self._right.centre + difference, _GRID)
        both = self._left.log_evidence(places) + self._right.log_evidence(places - difference)
        return float(both.min())

    def _edge(self, sign: int, error_rate: float) -> float:
        """Return the end of the interval on one side, by bisection; infinite where there is none."""
        needed = -math.log(error_rate)
        inside, outside = 0.0, max(self.error, 1e-9)
        while self._log_evidence(self.centre + sign * outside) < needed:
            inside, outside = outside, outside * 2
            if outside > WIDEST_LOG:
                return math.inf
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            is_inside = self._log_evidence(self.centre + sign * middle) < needed
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        return self.centre + sign * outside


def t_quantile(count: int, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t for the mean of `count` values; NaN below two values."""
    return float(scipy.special.stdtrit(count - 1, 0.5 + confidence / 2)) if count > 1 else math.nan


def half_width(
    count: int, spread: float, method: str = FIXED, confidence: float = CONFIDENCE, horizon: int = 0
) -> float:
    """Return half the width of the interval of a mean of `count` values; NaN below two, infinite without an end.

    For ANYTIME: E(m) >= 1/a, solved for d.
    """
    if count < 2 or (method == SEQUENTIAL and count < LEAST_BLOCKS):
        return math.nan
    if method == FIXED:
        return t_quantile(count, confidence) * spread / math.sqrt(count)
    if method == SEQUENTIAL:
        tail = p_needed((1 - confidence) / 2, count, horizon)
        return -float(scipy.special.stdtrit(count - 1, tail)) * spread / math.sqrt(count)
    ratio = (count + PRIOR) / PRIOR
    least_share = (1 - ((1 - confidence) ** 2 / ratio) ** (1 / count)) * (count + PRIOR) / count
    if least_share >= 1:
        return math.inf
    return spread * math.sqrt(least_share * (count - 1) / (count * (1 - least_share)))


def log_evidence(count: int, spread: float, distances: Floats) -> Floats:
    """Return log E for means at these distances from the centre of at least two values."""
    squares = count * distances**2
    rest = (count - 1) * spread**2
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(squares > 0, squares / (squares + rest), 0.0)
    weight = count / (count + PRIOR)
    return np.asarray(0.5 * math.log(PRIOR / (count + PRIOR)) - count / 2 * np.log1p(-weight * share))


def student_tail(distance: float, error: float, freedom: float) -> float:
    """Return the chance that Student's t lies a number of errors beyond zero; without an error all or nothing."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(scipy.special.stdtr(min(freedom, 1e9), -distance / error))


def _two_sided(tail: float, method: str) -> float:
    """Return the p-value of both tails together; the evidence of ANYTIME is of both from the start. NaN stays NaN."""
    return tail if method == ANYTIME else float(np.minimum(1.0, 2 * tail))


def _p_of(log_of_evidence: float) -> float:
    return min(1.0, math.exp(-log_of_evidence))
