"""Figures as Vega-Lite specifications; the page and the exported files draw the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriscope.analysis.comparing.compared import UNDECIDED
from fabriscope.model.metrics import metric_of
from fabriscope.reports import _rows
from fabriscope.reports._axes import Scale, axis_title, from_zero, log_scale, size_axis
from fabriscope.reports._channels import PARAMETERS, PICKED, Channels, LegendEntry, channels_of
from fabriscope.reports._figure import CURVES, Figure
from fabriscope.reports._figures import RATIO_FIGURES
from fabriscope.reports._labels import LabelMark, label_layers, label_marks
from fabriscope.reports._rows import BoundMark, CurveMark, LaunchMark, RatioMark
from fabriscope.reports._style import Spec, Style, config
from fabriscope.reports._vega import SCHEMA, channel, layer, layered

HEIGHT = 290
WIDTH = 720
MOST_BANDS = 3
"""Of more curves the bands of their intervals would lie over each other: whiskers take their place."""
SHOW_LAUNCHES = "show_launches"
CURVE_TOOLTIP = {
    "curve": "curve",
    "size": "message size",
    "text": "value",
    "interval": "95 % interval",
    "launches": "launches",
    "spread": "between launches",
    "bound": "the wire allows",
    "transport": "transport",
    "trust": "trust",
}
RATIO_TOOLTIP = {
    "curve": "pair",
    "size": "message size",
    "text": "ratio",
    "interval": "95 % interval",
    "verdict": "verdict",
    "left": "first",
    "right": "second",
}


@dataclass(frozen=True)
class Drawing:
    """A figure's specification, and its legend for a page."""

    spec: Spec
    legend: list[LegendEntry]
    is_labelled: bool
    """Each line carries its name: the legend is for those who want to see one alone, and for a narrow page."""


@dataclass(frozen=True)
class _CurveData:
    """What a figure of curves is drawn of."""

    marks: Sequence[CurveMark]
    impossible: Sequence[CurveMark]
    bounds: Sequence[BoundMark]
    launches: Sequence[LaunchMark]
    labels: Sequence[LabelMark]


@dataclass(frozen=True)
class _One:
    """The line at which two are alike."""

    y: int = 1


@dataclass(frozen=True)
class _RatioData:
    """What a figure of ratios is drawn of."""

    marks: Sequence[RatioMark]
    labels: Sequence[LabelMark]
    one: Sequence[_One] = field(default=(_One(),))


def draw(figure: Figure, style: Style, *, for_page: bool) -> Drawing:
    """Return the drawing; on a page it is as wide as its frame, and reacts to the page's legend and switch."""
    make = _curves if figure.kind == CURVES else _ratios
    channels, layers, data = make(figure, style, for_page=for_page)
    spec = _spec(layers, data, style, for_page=for_page)
    if not for_page:
        spec["title"] = figure.title
    return Drawing(spec, channels.legend(), is_labelled=bool(data.labels))


def _curves(figure: Figure, style: Style, *, for_page: bool) -> tuple[Channels, list[Spec], _CurveData]:
    marks = _rows.curve_marks(figure, style)
    bounds, launches = _rows.bound_marks(marks), _rows.launch_marks(figure, style) if for_page else []
    x = size_axis([mark.x for mark in marks], figure.axis)
    drawn = [*(mark.y for mark in marks), *(mark.y for mark in bounds), *(mark.y for mark in launches)]
    scale, y = _curve_axis(figure, marks, drawn)
    labels = label_marks(marks, scale, HEIGHT)
    sure, impossible = ([mark for mark in marks if mark.impossible == is_so] for is_so in (False, True))
    data = _CurveData(sure, impossible, bounds, launches, labels)
    channels = channels_of(marks, style, by_series=figure.by_series, has_legend=not for_page and not labels)
    return channels, _curve_layers(figure, x, y, channels, data), data


def _ratios(figure: Figure, style: Style, *, for_page: bool) -> tuple[Channels, list[Spec], _RatioData]:
    marks = _rows.ratio_marks(figure, style)
    x = size_axis([mark.x for mark in marks])
    ends = [end for mark in marks for end in (mark.lo, mark.hi)]
    scale, axis = log_scale([*(mark.y for mark in marks), 0.9, 1.1], ends)
    y = _values(RATIO_FIGURES[figure.kind][1], scale, axis)
    data = _RatioData(marks, label_marks(marks, scale, HEIGHT))
    channels = channels_of(marks, style, by_series=figure.by_series, has_legend=not for_page and not data.labels)
    return channels, _ratio_layers(x, y, channels, style, data), data


def _spec(layers: list[Spec], data: _CurveData | _RatioData, style: Style, *, for_page: bool) -> Spec:
    spec: Spec = {"$schema": SCHEMA, **layered(layers, "container" if for_page else WIDTH, HEIGHT)}
    spec["params"] = [*({"name": name, "value": ""} for name in PARAMETERS), {"name": SHOW_LAUNCHES, "value": False}]
    spec["datasets"] = {name: [vars(mark) for mark in marks] for name, marks in vars(data).items() if marks}
    spec["config"] = config(style)
    if for_page:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _curve_axis(figure: Figure, marks: Sequence[CurveMark], drawn: Sequence[float]) -> tuple[Scale | None, Spec]:
    """Return the scale of the values, and their channel."""
    metric = metric_of(figure.metric_id)
    unit = metric.unit
    ends = [end for mark in marks for end in (mark.lo, mark.hi)]
    scale: Scale | None
    axis: Spec
    if metric.most:
        scale, axis = Scale(0, metric.most, is_log=False), {"values": [metric.most * part / 5 for part in range(6)]}
    elif unit.can_be_zero:
        scale, axis = from_zero(drawn, ends), {}
    else:
        scale, axis = log_scale(drawn, ends)
    better = "\N{RIGHTWARDS ARROW} more" if metric.larger_is_better else "\N{LEFTWARDS ARROW} less"
    return scale, _values(f"{metric.axis_title}   {better} is better", scale, axis)  # read from below


def _values(title: str, scale: Scale | None, axis: Spec) -> Spec:
    """Return the channel of values; without any the scale stays logarithmic, as nothing is drawn."""
    return channel("y:Q", title=title, scale={"type": "log"} if scale is None else scale.spec, axis=axis)


def _curve_layers(figure: Figure, x: Spec, y: Spec, channels: Channels, data: _CurveData) -> list[Spec]:
    base: Spec = {"x": x, "y": y}
    layers = []
    if data.bounds:
        encoding = base | {"color": channels.color(of_hue=True), "opacity": _seen(0.8)}
        layers.append(_layer("bounds", "line", {"strokeDash": [2, 4], "strokeWidth": 1.2}, encoding))
    if data.labels:
        layers += label_layers(x, y, channels, _seen(1))
    tooltip = CURVE_TOOLTIP | {"size": axis_title(figure.axis)}
    has_rules = has_whiskers([*data.marks, *data.impossible])
    layers += [*_lines(x, y, channels, has_rules), _points(x, y, channels, tooltip)]
    if data.launches:
        encoding = base | {"color": channels.color(), "opacity": _where(f"{SHOW_LAUNCHES} && {PICKED}", 0.9, 0)}
        layers.append(_layer("launches", "tick", {"orient": "horizontal", "size": 17, "thickness": 1.2}, encoding))
    if data.impossible:
        look = {"shape": "cross", "size": 90, "filled": False, "angle": 45}
        encoding = base | {"color": channels.color(), "tooltip": _tooltip(tooltip)}
        layers.append(_layer("impossible", "point", look, encoding))
    return layers


def _ratio_layers(x: Spec, y: Spec, channels: Channels, style: Style, data: _RatioData) -> list[Spec]:
    one = _layer("one", "rule", {"color": style.ink, "opacity": 0.6}, {"y": y})
    names = label_layers(x, y, channels, _seen(1)) if data.labels else []
    points = [
        _points(x, y, channels, RATIO_TOOLTIP, only=f"datum.verdict != '{UNDECIDED}'"),
        _points(x, y, channels, RATIO_TOOLTIP, only=f"datum.verdict == '{UNDECIDED}'", filled=False),
    ]
    return [one, *names, *_lines(x, y, channels, has_whiskers(data.marks)), *points]


def has_whiskers(marks: Sequence[_rows.CurveMark] | Sequence[_rows.RatioMark]) -> bool:
    """Return whether intervals are whiskers: bands of many curves overlap, one of one size is no area."""
    counts = Counter(mark.curve for mark in marks)
    return len(counts) > MOST_BANDS or min(counts.values(), default=0) == 1


def _lines(x: Spec, y: Spec, channels: Channels, has_rules: bool) -> list[Spec]:
    """Return the intervals, as bands or whiskers, and the lines."""
    base = _of_curves(x, channels)
    look: Spec = {"clip": True}
    mark, opacity = "area", 0.18
    if has_rules:
        mark, look["strokeWidth"], opacity = "rule", 1.4, 0.55
    ends = {"y": channel("lo:Q"), "y2": channel("hi"), "opacity": _seen(opacity)}
    line = {"y": y, "strokeDash": channels.dash(), "opacity": _seen(1)}
    return [_layer("marks", mark, look, base | ends), _layer("marks", "line", {"strokeWidth": 1.8}, base | line)]


def _points(
    x: Spec, y: Spec, channels: Channels, tooltip: dict[str, str], *, only: str = "", filled: bool = True
) -> Spec:
    encoding = {"y": y, "shape": channels.shape(), "opacity": _seen(1), "tooltip": _tooltip(tooltip)}
    return _layer("marks", "point", {"size": 40, "filled": filled}, _of_curves(x, channels) | encoding, only)


def _of_curves(x: Spec, channels: Channels) -> Spec:
    return {"x": x, "color": channels.color(), "detail": channel("curve:N")}


def _layer(data_name: str, mark: str, look: Spec, encoding: Spec, only: str = "") -> Spec:
    return layer({"name": data_name}, mark, look, encoding, only)


def _seen(opacity: float) -> Spec:
    """Return full opacity for what is picked in the legend, and next to nothing for the rest."""
    return _where(PICKED, opacity, opacity / 15)


def _where(test: str, value: float, otherwise: float) -> Spec:
    return {"condition": {"test": test, "value": value}, "value": otherwise}


def _tooltip(names: dict[str, str]) -> list[Spec]:
    return [channel(f"{name}:N", title=title) for name, title in names.items()]
