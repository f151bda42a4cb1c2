"""Parts of Vega-Lite specifications: a channel of an encoding, a layer of a chart."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.reports._style import Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_TYPES = {"Q": "quantitative", "N": "nominal"}


def channel(words: str, **more: object) -> Spec:
    """Return a channel: `x:Q` is the quantitative field x, `curve:N` a nominal one, `hi` one without a type."""
    field, _, kind = words.partition(":")
    return {"field": field, **({"type": _TYPES[kind]} if kind else {}), **more}


def layer(data: Spec | None, mark: str, look: Spec, encoding: Spec, only: str = "") -> Spec:
    """Return a layer that draws marks of its data, None for that of the chart around it; `only` where that holds."""
    drawn: Spec = {"mark": {"type": mark, **look}, "encoding": encoding}
    if data is not None:
        drawn["data"] = data
    if only:
        drawn["transform"] = [{"filter": only}]
    return drawn


def layered(layers: Sequence[Spec], width: int | str, height: int) -> Spec:
    """Return a chart of layers, the first at the bottom; pixels, or `container` as wide as what it is in."""
    return {"layer": list(layers), "width": width, "height": height}
