"""Axes that people can read: sizes in B, KiB and MiB, ticks of a logarithmic scale at round numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabriscope.analysis.papers.selections import SIZE
from fabriscope.analysis.words import size_text
from fabriscope.reports._style import Spec
from fabriscope.reports._vega import channel

MOST_TICKS = 5
"""Of sizes: up to so many have one each."""
DECADES = (1,)
HALF_DECADES = (1, 2, 5)
MOST_WIDENING = 2
ALONE = 1.1
"""How far a scale goes beyond the only value that is drawn."""
FINE = (1, 1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 8.5, 9, 9.5)


@dataclass(frozen=True)
class Scale:
    """The scale of values, from `low` at the bottom of a plot to `high` at its top."""

    low: float
    high: float
    is_log: bool

    @property
    def spec(self) -> Spec:
        """Return it as a specification has it."""
        return {**({"type": "log"} if self.is_log else {}), "nice": False, "domain": [self.low, self.high]}

    def part(self, value: float) -> float:
        """Return where between its ends a value stands, 0 to 1."""
        low, high = self.low, self.high
        if self.is_log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def value(self, part: float) -> float:
        """Return the value that stands at a part of the way from its low end to its high end."""
        return self.low * (self.high / self.low) ** part if self.is_log else self.low + (self.high - self.low) * part


def ends_of(sizes: Sequence[int]) -> tuple[float, float]:
    """Return the ends of the axis of the message size, or of another attribute of cases; one alone is at its end."""
    least, most = max(1, min(sizes, default=1)), max(1, max(sizes, default=1))
    return (least, most) if least < most else (most / 2, most)


def size_axis(sizes: Sequence[int], along: str = SIZE) -> Spec:
    """Return the channel of the message size, or of another attribute of cases; it has room on half a page."""
    ticks = _size_ticks(sizes)
    axis: Spec = {"values": ticks, "grid": False, "labelOverlap": "parity"}
    if along.endswith("_bytes"):
        texts = {str(size): size_text(size) for size in ticks}
        axis["labelExpr"] = f"{json.dumps(texts, separators=(',', ':'))}[datum.value]"
    scale = {"type": "log", "base": 2, "nice": False, "domain": [*ends_of(sizes)]}
    return channel("x:Q", title=axis_title(along), scale=scale, axis=axis)


def _size_ticks(sizes: Sequence[int]) -> list[int]:
    """Return all of few sizes; of more the first, the last, and powers of 2 at quarters of the way.

    Where there is no room for all labels Vega drops every second or fourth: those of both ends stay.
    """
    known = sorted({max(1, size) for size in sizes}) or [1]
    if len(known) <= MOST_TICKS:
        return known
    low, high = math.log2(known[0]), math.log2(known[-1])
    return sorted({known[0], known[-1], *(2 ** round(low + (high - low) * part / 4) for part in (1, 2, 3))})


def axis_title(along: str) -> str:
    """Return how an axis is called: `message size`, `send buffer`."""
    name = along.removesuffix("_bytes").removesuffix("_count").replace("_", " ")
    return f"{name}s" if along.endswith("_count") else name


def log_scale(values: Iterable[float | None], ends: Iterable[float | None]) -> tuple[Scale | None, Spec]:
    """Return the scale and axis of the values; no scale where there are none.

    `ends` of intervals widen it, but only so far: one that says nothing must not press all curves flat, and bands are
    clipped at MOST_WIDENING. Ticks stand at 1, 10, 100, and between them where few decades are shown.
    """
    known = [value for value in values if value is not None and value > 0]
    if not known:
        return None, {}
    limits = [value for value in ends if value is not None]
    low = min([*known, *(max(value, min(known) / MOST_WIDENING) for value in limits)])
    high = max([*known, *(min(value, max(known) * MOST_WIDENING) for value in limits)])
    decades = math.log10(high / low)
    steps: tuple[float, ...] = DECADES if decades > 3.2 else HALF_DECADES if decades > 0.5 else FINE
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step * 10**power:.3g}") for power in powers for step in steps]
    margin = (high / low) ** 0.03 if high > low else ALONE
    return Scale(low / margin, high * margin, is_log=True), {"values": ticks, "format": ",~r"}


def from_zero(values: Iterable[float], ends: Iterable[float | None]) -> Scale:
    """Return a linear scale that has zero, the values and the ends of their intervals."""
    known = [0.0, *values, *(end for end in ends if end is not None)]
    low, high = min(known), max(known)
    margin = 0.04 * (high - low)
    return Scale(low - margin * (low < 0), high + margin or 1.0, is_log=False)
