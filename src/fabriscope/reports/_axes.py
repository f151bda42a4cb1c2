"""Axes that people can read: sizes in B, KiB and MiB, ticks of a logarithmic scale at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fabriscope.analysis.papers.selections import SIZE
from fabriscope.reports._style import Spec
from fabriscope.reports._vega import channel

SIZE_LABEL = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? datum.value / 1048576 "
    "+ ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)
DECADES = (1,)
HALF_DECADES = (1, 2, 5)
MOST_WIDENING = 2
FINE = (1, 1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 8.5, 9, 9.5)


def size_axis(sizes: Sequence[int], along: str = SIZE) -> Spec:
    """Return the channel of the message size, or of another attribute of cases; it has room on half a page."""
    least, most = max(1, min(sizes, default=1)), max(sizes, default=1)
    first, last = math.floor(math.log2(least)), math.ceil(math.log2(max(most, 2)))
    step = 4 if last - first > 12 else 2 if last - first > 6 else 1
    ticks = [2**power for power in range(first, last + 1, step)]
    axis: Spec = {"values": ticks, "grid": False}
    if along.endswith("_bytes"):
        axis["labelExpr"] = SIZE_LABEL
    scale = {"type": "log", "base": 2, "nice": False, "domain": [least, max(most, least * 2)]}
    return channel("x:Q", title=axis_title(along), scale=scale, axis=axis)


def axis_title(along: str) -> str:
    """Return how an axis is called: `message size`, `send buffer`."""
    name = along.removesuffix("_bytes").removesuffix("_count").replace("_", " ")
    return f"{name}s" if along.endswith("_count") else name


def log_scale(values: Iterable[float | None], ends: Iterable[float | None]) -> tuple[Spec, Spec]:
    """Return the scale and axis of the values; `ends` of intervals widen it, but only so far.

    One interval that says nothing must not press all curves flat: bands are clipped at MOST_WIDENING. Ticks stand at
    1, 10, 100, and between them where few decades are shown.
    """
    known = [value for value in values if value is not None and value > 0]
    if not known:
        return {"type": "log"}, {}
    limits = [value for value in ends if value is not None]
    low = min([*known, *(max(value, min(known) / MOST_WIDENING) for value in limits)])
    high = max([*known, *(min(value, max(known) * MOST_WIDENING) for value in limits)])
    decades = math.log10(high / low)
    steps: tuple[float, ...] = DECADES if decades > 3.2 else HALF_DECADES if decades > 0.5 else FINE
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step * 10**power:.3g}") for power in powers for step in steps]
    margin = (high / low) ** 0.03
    scale = {"type": "log", "nice": False, "domain": [low / margin, high * margin]}
    return scale, {"values": ticks, "format": ",~r"}
