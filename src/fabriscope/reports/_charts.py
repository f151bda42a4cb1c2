"""Figures as Vega-Lite specifications, built with Altair; the page and the exported files draw the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import altair as alt

from fabriscope.analysis.comparing.compared import UNDECIDED
from fabriscope.model.metrics import metric_of
from fabriscope.reports import _rows
from fabriscope.reports._axes import axis_title, log_scale, size_axis
from fabriscope.reports._channels import PARAMETERS, PICKED, Channels, LegendEntry, channels_of
from fabriscope.reports._figure import CURVES, Figure
from fabriscope.reports._figures import RATIO_FIGURES
from fabriscope.reports._rows import BoundMark, CurveMark, LaunchMark, RatioMark
from fabriscope.reports._style import Spec, Style, config

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


Layer = alt.Chart


@dataclass(frozen=True)
class Drawing:
    """A figure's specification, and its legend for a page."""

    spec: Spec
    legend: list[LegendEntry]


@dataclass(frozen=True)
class _CurveData:
    """What a figure of curves is drawn of."""

    marks: Sequence[CurveMark]
    impossible: Sequence[CurveMark]
    bounds: Sequence[BoundMark]
    launches: Sequence[LaunchMark]


@dataclass(frozen=True)
class _One:
    """The line at which two are alike."""

    y: int = 1


@dataclass(frozen=True)
class _RatioData:
    """What a figure of ratios is drawn of."""

    marks: Sequence[RatioMark]
    one: Sequence[_One] = field(default=(_One(),))


def draw(figure: Figure, style: Style, *, for_page: bool) -> Drawing:
    """Return the drawing; on a page it is as wide as its frame, and reacts to the page's legend and switch."""
    if figure.kind == CURVES:
        marks = _rows.curve_marks(figure, style)
        channels = channels_of(marks, style, by_series=figure.by_series, has_legend=not for_page)
        curves = _CurveData(
            [mark for mark in marks if not mark.impossible],
            [mark for mark in marks if mark.impossible],
            _rows.bound_marks(marks),
            _rows.launch_marks(figure, style) if for_page else [],
        )
        spec = _spec(_curve_layers(figure, channels, curves), curves, style, for_page=for_page)
    else:
        ratios = _RatioData(_rows.ratio_marks(figure, style))
        channels = channels_of(ratios.marks, style, by_series=figure.by_series, has_legend=not for_page)
        spec = _spec(_ratio_layers(figure, channels, style, ratios.marks), ratios, style, for_page=for_page)
    if not for_page:
        spec["title"] = figure.title
    return Drawing(spec, channels.legend())


def _spec(layers: list[Layer], data: _CurveData | _RatioData, style: Style, *, for_page: bool) -> Spec:
    chart = alt.layer(*layers).properties(width="container" if for_page else WIDTH, height=HEIGHT)
    spec: Spec = chart.to_dict(validate=False)
    # Added here and not to the chart, which Altair would copy and check again for each.
    spec["params"] = [*({"name": name, "value": ""} for name in PARAMETERS), {"name": SHOW_LAUNCHES, "value": False}]
    spec["datasets"] = {name: [vars(mark) for mark in marks] for name, marks in vars(data).items() if marks}
    spec["config"] = config(style)
    if for_page:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _curve_layers(figure: Figure, channels: Channels, data: _CurveData) -> list[Layer]:
    marks = [*data.marks, *data.impossible]
    x = size_axis([mark.x for mark in marks], figure.axis)
    drawn = [
        *(mark.y for mark in marks),
        *(mark.y for mark in data.bounds),
        *(mark.y for mark in data.launches),
    ]
    metric = metric_of(figure.metric_id)
    unit = metric.unit
    if unit.most:
        scale, axis = alt.Scale(domain=[0, unit.most]), alt.Axis(values=list(range(0, unit.most + 1, unit.most // 5)))
    elif unit.can_be_zero:
        scale, axis = alt.Scale(zero=True), alt.Axis()
    else:
        scale, axis = log_scale(drawn, [end for mark in marks for end in (mark.lo, mark.hi)])
    better = "\N{RIGHTWARDS ARROW} more" if metric.larger_is_better else "\N{LEFTWARDS ARROW} less"
    y = alt.Y("y:Q", title=f"{metric.axis_title}   {better} is better", scale=scale, axis=axis)  # read from below
    layers = []
    if data.bounds:
        line = _chart("bounds").mark_line(strokeDash=[2, 4], strokeWidth=1.2)
        layers.append(line.encode(x=x, y=y, color=channels.color(of_hue=True), opacity=_seen(0.8)))
    tooltip = CURVE_TOOLTIP | {"size": axis_title(figure.axis)}
    layers += [*_lines(x, y, channels, len({mark.curve for mark in marks})), _points(x, y, channels, tooltip)]
    if data.launches:
        ticks = _chart("launches").mark_tick(orient="horizontal", size=17, thickness=1.2)
        opacity = alt.condition(f"{SHOW_LAUNCHES} && {PICKED}", alt.value(0.9), alt.value(0))
        layers.append(ticks.encode(x=x, y=y, color=channels.color(), opacity=opacity))
    if data.impossible:
        crosses = _chart("impossible").mark_point(shape="cross", size=90, filled=False, angle=45)
        layers.append(crosses.encode(x=x, y=y, color=channels.color(), tooltip=_tooltip(tooltip)))
    return layers


def _ratio_layers(figure: Figure, channels: Channels, style: Style, marks: Sequence[RatioMark]) -> list[Layer]:
    x = size_axis([mark.x for mark in marks])
    drawn = [*(mark.y for mark in marks), 0.9, 1.1]
    scale, axis = log_scale(drawn, [end for mark in marks for end in (mark.lo, mark.hi)])
    y = alt.Y("y:Q", title=RATIO_FIGURES[figure.kind][1], scale=scale, axis=axis)
    one = _chart("one").mark_rule(color=style.ink, opacity=0.6).encode(y=y)
    points = [
        _points(x, y, channels, RATIO_TOOLTIP).transform_filter(f"datum.verdict != '{UNDECIDED}'"),
        _points(x, y, channels, RATIO_TOOLTIP, filled=False).transform_filter(f"datum.verdict == '{UNDECIDED}'"),
    ]
    return [one, *_lines(x, y, channels, len({mark.curve for mark in marks})), *points]


def _lines(x: alt.X, y: alt.Y, channels: Channels, curve_count: int) -> list[Layer]:
    """Return the intervals, as bands of few curves and whiskers of many, and the lines."""
    base = _chart("marks").encode(x=x, color=channels.color(), detail="curve:N")
    ends, opacity = base.mark_area(clip=True), 0.18
    if curve_count > MOST_BANDS:
        ends, opacity = base.mark_rule(clip=True, strokeWidth=1.4), 0.55
    return [
        ends.encode(y=alt.Y("lo:Q"), y2="hi:Q", opacity=_seen(opacity)),
        base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=channels.dash(), opacity=_seen(1)),
    ]


def _points(x: alt.X, y: alt.Y, channels: Channels, tooltip: dict[str, str], *, filled: bool = True) -> Layer:
    base = _chart("marks").encode(x=x, color=channels.color(), detail="curve:N")
    points: Layer = base.mark_point(size=40, filled=filled)
    return points.encode(y=y, shape=channels.shape(), opacity=_seen(1), tooltip=_tooltip(tooltip))


def _chart(data_name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name=data_name))


def _seen(opacity: float) -> alt.typing.ChannelOpacity:
    """Return full opacity for what is picked in the legend, and next to nothing for the rest."""
    return alt.condition(PICKED, alt.value(opacity), alt.value(opacity / 15))


def _tooltip(names: dict[str, str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in names.items()]
