"""A number as a program prints it stands for a span: what it was rounded to, or cut off at, lies somewhere within.

Two numbers of one output contradict each other where no values within their spans agree:

    (span("64") / span("3.51")).meets(span("18.25"))  # bytes in microseconds, and megabytes per second
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Span:
    """From the least to the most that a number may stand for; neither is negative.

    Not frozen: logs have hundreds of thousands, and a frozen one takes three times as long to make.
    """

    least: float
    most: float

    def __mul__(self, other: Span | float) -> Span:
        """Return what the product of the two may be."""
        other = other if isinstance(other, Span) else Span(other, other)
        return Span(self.least * other.least, self.most * other.most)

    def __truediv__(self, other: Span) -> Span:
        """Return what the quotient of the two may be."""
        least = self.least / other.most if other.most > 0 else 0.0
        return Span(least, self.most / other.least if other.least > 0 else math.inf)

    def widened(self, by: float) -> Span:
        """Return a span that reaches further by an amount to both sides."""
        return Span(max(self.least - by, 0.0), self.most + by)

    def exceeds(self, other: Span, tolerance: float = 0.0) -> bool:
        """Return whether it is more than the other, whatever both stand for and by more than a share of it."""
        return self.least > other.most * (1 + tolerance)

    def meets(self, other: Span, tolerance: float = 0.0) -> bool:
        """Return whether both may stand for one value, give or take a share of it."""
        return not self.exceeds(other, tolerance) and not other.exceeds(self, tolerance)


def exactly(value: float) -> Span:
    """Return the span of a number that nobody rounded."""
    return Span(value, value)


def span(word: str) -> Span:
    """Return the span of a printed number that is not negative: the last digit may be one more, or one less.

    Programs print a large exponent behind a point and several digits (`1.000e+03`). `1e3` and `0.5e3` are somebody's
    own writing of a number: 1000, not anything up to 2000.
    """
    digits, _, exponent = word.lower().partition("e")
    decimals = digits.partition(".")[2]
    power = int(exponent or 0) if len(decimals) > 1 else min(int(exponent or 0), 0)
    step = float(f"1e{power - len(decimals)}")
    value = float(word)
    return Span(max(value - step, 0.0), value + step)
