"""The smallest statements that a claim is made of: does a number, seen once in each block, lie where it is said to lie?

A statement is tested both ways. It holds when its 95 % interval lies inside what it says; it fails when the interval
lies outside. Claims are made of several (`all_of`, `any_of`); how that changes the error is accounted for:

- all of them hold: each must hold by itself, and no adjustment is needed (intersection-union test, Berger 1982);
- not all of them hold: Simes' test (1986) of the hypothesis that every one of them holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.numbers.evidence import CONFIDENCE, FIXED, Mean, half_width
from fabriscope.analysis.numbers.forecasts import Forecast, forecast, joined
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, MARGIN

TAIL = (1 - CONFIDENCE) / 2
HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"


@dataclass(frozen=True)
class Statement:
    """What the blocks say of one statement, or of several together."""

    p_holds: float
    """Of the hypothesis that it does not hold; NaN when nothing can be said."""
    p_fails: float
    """Of the hypothesis that it holds; NaN when nothing can be said."""
    centre: float = math.nan
    low: float = math.nan
    high: float = math.nan
    """95 % interval of the number, over blocks; NaN below two blocks, and for several statements together."""
    block_count: int = 0
    needed: Forecast | None = None
    """How many blocks would decide."""

    @property
    def verdict(self) -> str:
        """Return `holds`, `does not hold` or `not decided`; each is wrong in at most 2.5 % of cases."""
        if self.p_holds < TAIL:
            return HOLDS
        return FAILS if self.p_fails < TAIL else OPEN


NOTHING = Statement(math.nan, math.nan)
TRUE, FALSE = Statement(0.0, 1.0), Statement(1.0, 0.0)
"""What was decided elsewhere, by intervals over launches."""


@dataclass(frozen=True)
class Point:
    """One statement of a claim: where on the axis, and the numbers in words."""

    place: float | None
    text: str
    statement: Statement


def inside(
    values: Sequence[float], least: float = -math.inf, most: float = math.inf, *, method: str = FIXED
) -> Statement:
    """Return whether the mean of the values, one for each block, lies between `least` and `most`."""
    spot = Mean(values, method)
    edges = [edge for edge in (least, most) if math.isfinite(edge)]
    if not spot.count or not edges:
        return NOTHING
    within = max(spot.p_above(least), spot.p_below(most))
    without = min(1.0, len(edges) * min(spot.p_below(least), spot.p_above(most)))
    return _statement(spot, within, without, min(abs(spot.centre - edge) for edge in edges))


def below(log_ratios: Sequence[float], margin: float = MARGIN, *, method: str = FIXED) -> Statement:
    """Return whether a ratio, given as its logarithm in each block, is below 1.

    A ratio that is shown to lie within the margin of 1 is equal to it, and not below.
    """
    spot = Mean(log_ratios, method)
    if not spot.count:
        return NOTHING
    edge = math.log1p(margin)
    equal = max(spot.p_above(-edge), spot.p_below(edge))
    if equal < TAIL:
        return _statement(spot, 1.0, equal, edge)
    return _statement(spot, spot.p_below(0.0), spot.p_above(0.0), abs(spot.centre))


def above(log_ratios: Sequence[float], margin: float = MARGIN, *, method: str = FIXED) -> Statement:
    """Return whether a ratio, given as its logarithm in each block, is above 1; see `below`."""
    mirrored = below([-value for value in log_ratios], margin, method=method)
    low, high = -mirrored.high, -mirrored.low
    return Statement(
        mirrored.p_holds, mirrored.p_fails, -mirrored.centre, low, high, mirrored.block_count, mirrored.needed
    )


def all_of(statements: Sequence[Statement]) -> Statement:
    """Return the statement that all of them hold; nothing can be said of none."""
    return _joined(statements, _worst([one.p_holds for one in statements]), _simes([one.p_fails for one in statements]))


def any_of(statements: Sequence[Statement]) -> Statement:
    """Return the statement that at least one of them holds; nothing can be said of none."""
    return _joined(statements, _simes([one.p_holds for one in statements]), _worst([one.p_fails for one in statements]))


def _joined(statements: Sequence[Statement], p_holds: float, p_fails: float) -> Statement:
    if len(statements) == 1:
        return statements[0]
    needed = joined(one.needed for one in statements if one.verdict == OPEN)
    counts = [one.block_count for one in statements]
    return Statement(p_holds, p_fails, block_count=min(counts, default=0), needed=needed)


def _worst(p_values: Sequence[float]) -> float:
    """Return the largest; NaN among them, or none at all, gives NaN."""
    return math.nan if not p_values or any(map(math.isnan, p_values)) else max(p_values)


def _simes(p_values: Sequence[float]) -> float:
    """Return the p-value of Simes' test that every hypothesis is true; NaN does not count as a test."""
    known = sorted(value for value in p_values if not math.isnan(value))
    if not known:
        return math.nan
    return min(1.0, *(len(known) * value / place for place, value in enumerate(known, start=1)))


def _statement(spot: Mean, p_holds: float, p_fails: float, distance: float) -> Statement:
    """Return the statement with this number's interval; `distance` is how far its centre is from an edge.

    Fewer than LEAST_BLOCKS blocks say nothing of it, as in comparisons.
    """
    needed = None
    if spot.count < LEAST_BLOCKS:
        p_holds = p_fails = math.nan
    is_open = spot.count > 1 and not min(p_holds, p_fails) < TAIL
    if is_open:
        needed = forecast(distance, spot.spread, spot.count, lambda count: half_width(count, 1.0, spot.method))
    return Statement(p_holds, p_fails, spot.centre, *spot.interval(), spot.count, needed)
