"""Names at the ends of lines: what tells each curve of a figure from the others, and where it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fabriscope.reports._axes import Scale, ends_of
from fabriscope.reports._channels import Channels, Told
from fabriscope.reports._style import Spec
from fabriscope.reports._vega import channel, layer

GAP_PIXELS = 14
"""From name to name: the height of a line of their text."""
LEADER_PIXELS, TEXT_PIXELS = 9, 12
"""Right of the plot: where leader lines end, and where names begin."""
LIBRARY = re.compile(r"^(\S+) \((?!in truth)[^()]*\)")
"""A layer's name with its library, as in `MPI (openmpi)`."""


class Drawn(Told, Protocol):
    """A mark of a curve, as far as the curve's name needs it."""

    @property
    def x(self) -> int:
        """Return where it stands."""

    @property
    def y(self) -> float:
        """Return its value, in the unit of the axis."""

    @property
    def curve(self) -> str:
        """Return what the whole report calls its curve."""


@dataclass(frozen=True)
class LabelMark:
    """The name of one curve."""

    x: int
    y: float
    """Where the curve ends."""
    edge: float
    to: float
    """Where its name stands: right of the plot, pushed away from its neighbours."""
    hue: str
    layer: str
    name: str


def label_marks(marks: Sequence[Drawn], scale: Scale | None, height: int) -> list[LabelMark]:
    """Return a mark for each curve; none where there is no scale of its values, or the names do not fit.

    `height` is that of the plot, in pixels.
    """
    ends: dict[str, Drawn] = {}
    for mark in marks:
        if mark.curve not in ends or mark.x >= ends[mark.curve].x:
            ends[mark.curve] = mark
    if scale is None or len(ends) * GAP_PIXELS > height:
        return []
    places = apart([height * scale.part(mark.y) for mark in ends.values()], GAP_PIXELS, height)
    _, edge = ends_of([mark.x for mark in marks])
    return [
        LabelMark(mark.x, mark.y, edge, float(f"{scale.value(place / height):.5g}"), mark.hue, mark.layer, name)
        for mark, place, name in zip(ends.values(), places, names_of(list(ends.values())), strict=True)
    ]


def names_of(ends: Sequence[Drawn]) -> list[str]:
    """Return what tells each of several curves from the others, in few words: `gige · MPI`."""
    layers = list(dict.fromkeys(mark.layer for mark in ends))
    short = [LIBRARY.sub(r"\1", one) for one in layers]
    called = dict(zip(layers, short if len({*short}) == len(layers) else layers, strict=True))
    is_hue_told = len({mark.hue for mark in ends}) > 1 or len(layers) == 1
    names = []
    for mark in ends:
        hue, of_layer = mark.hue if is_hue_told else "", called[mark.layer] if len(layers) > 1 else ""
        names.append(of_layer if mark.hue == mark.layer and of_layer else " · ".join(filter(None, (hue, of_layer))))
    count = Counter(names)
    return [name if count[name] == 1 else mark.curve for mark, name in zip(ends, names, strict=True)]


def apart(places: Sequence[float], gap: float, most: float) -> list[float]:
    """Return places from 0 to `most` that are at least `gap` apart, moved as little as can be (least squares).

    They keep their order. The means of neighbours that would overlap are taken together (pool adjacent violators).
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    pools: list[tuple[float, int]] = []
    for rank, number in enumerate(order):
        mean, count = places[number] - rank * gap, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    room = max(0.0, most - (len(places) - 1) * gap)
    found = [0.0] * len(places)
    for rank, number in enumerate(order):
        found[number] = min(max(means[rank], 0.0), room) + rank * gap
    return found


def label_layers(x: Spec, y: Spec, channels: Channels, opacity: Spec) -> list[Spec]:
    """Return the names of the dataset `labels`, and lines that lead to them from where the curves end."""
    color = channels.color()
    leader = {"x": x, "y": y, "x2": channel("edge"), "y2": channel("to"), "color": color, "opacity": opacity}
    text = {"x": x | {"field": "edge"}, "y": y | {"field": "to"}, "text": channel("name:N"), "color": color}
    look = {"align": "left", "baseline": "middle", "dx": TEXT_PIXELS, "fontSize": 12, "fontWeight": 600}
    return [
        layer({"name": "labels"}, "rule", {"x2Offset": LEADER_PIXELS, "strokeWidth": 0.8}, leader),
        layer({"name": "labels"}, "text", look, text | {"opacity": opacity}),
    ]
