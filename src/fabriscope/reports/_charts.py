"""Figures as Vega-Lite specifications, built with Altair; the page and the exported files draw the same ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from fabriscope.analysis.frames import series_label
from fabriscope.analysis.words import ratio_text, size_text, value_text
from fabriscope.reports._figures import RATIO_FIGURES, Figure
from fabriscope.reports._style import PALETTE, Style, config, layer_of

HEIGHT = 300
WIDTH = 720
SHOW_LAUNCHES = "show_launches"
DIGITS = 5
SIZE_LABEL = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? datum.value / 1048576 "
    "+ ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)
Row = Mapping[str, Any]


def specification(figure: Figure, style: Style, *, for_page: bool) -> dict[str, Any]:
    """Return the Vega-Lite specification; on a page it is as wide as its frame and can be asked for raw values."""
    chart = _curves(figure, style, for_page) if figure.kind == "curves" else _ratios(figure, style)
    chart = chart.properties(width="container" if for_page else WIDTH, height=HEIGHT)
    if not for_page:
        chart = chart.properties(title=figure.title)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["config"] = config(style)
    if for_page:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _curves(figure: Figure, style: Style, for_page: bool) -> Any:
    is_rate = figure.metric_id.endswith("bytes_per_s")
    factor = 8e-6 if is_rate else 1e-3
    rows = [_curve_row(row, figure, style, factor) for row in figure.rows.iter_rows(named=True)]
    values = [] if figure.values is None else list(figure.values.iter_rows(named=True))
    points = [
        {**_point(row, figure, style), "y": _rounded(row["value"] * factor)} for row in values if row["value"] > 0
    ]
    good = [row for row in rows if not row["impossible"] and row["y"] > 0]
    x = _size_axis([row["x"] for row in rows])
    y = alt.Y("y:Q", title="Mb/s" if is_rate else "µs", scale=alt.Scale(type="log", nice=False), axis=_log_axis(good))
    hue = _hue(good, style, figure.by_series)
    layer = _layers(good, style)
    pick_hue = alt.selection_point(fields=["hue"], bind="legend", name="pick_hue")
    pick_layer = alt.selection_point(fields=["layer"], bind="legend", name="pick_layer")
    faded = alt.condition(pick_hue & pick_layer, alt.value(1), alt.value(0.08))
    base = alt.Chart(_data(good)).encode(x=x, color=hue, detail="curve:N")
    tooltip = [alt.Tooltip(f"{name}:N", title=title) for name, title in _TOOLTIP]
    band = base.mark_area(opacity=0.18).encode(
        y=alt.Y("lo:Q"), y2="hi:Q", opacity=alt.condition(pick_hue & pick_layer, alt.value(0.18), alt.value(0.02))
    )
    line = base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=_dash(layer, style), opacity=faded)
    marks = base.mark_point(size=34, filled=True).encode(
        y=y, shape=_shape(layer, style), opacity=faded, tooltip=tooltip
    )
    layers: list[Any] = [*_bounds(good, x, hue, pick_hue), band, line, marks.add_params(pick_hue, pick_layer)]
    if for_page:
        show = alt.param(name=SHOW_LAUNCHES, value=False)
        raw = (
            alt.Chart(_data(points))
            .mark_tick(thickness=1, width=9)
            .encode(
                x=x,
                y=alt.Y("y:Q"),
                color=hue,
                opacity=alt.condition(f"{SHOW_LAUNCHES}", alt.value(0.9), alt.value(0)),
            )
        )
        layers.append(raw.add_params(show))
    impossible = [row for row in rows if row["impossible"]]
    if impossible:
        layers.append(
            alt.Chart(_data(impossible))
            .mark_point(shape="cross", size=80, filled=False, angle=45)
            .encode(x=x, y=alt.Y("y:Q"), color=hue, tooltip=tooltip)
        )
    return alt.layer(*layers)


_TOOLTIP = (("curve", "curve"), ("size", "message size"), ("text", "value"), ("interval", "95 % interval"),
            ("launches", "launches"), ("spread", "between launches"), ("bound", "the wire allows"))  # fmt: skip


def _point(row: Row, figure: Figure, style: Style) -> dict[str, Any]:
    hue = (row["series"] or "default") if figure.by_series else style.hue_of(row)
    return {"x": row["message_size_bytes"], "hue": hue}


def _curve_row(row: Row, figure: Figure, style: Style, factor: float) -> dict[str, Any]:
    metric_id = row["metric_id"]
    low, high, limit = (
        None if row[name] is None else _rounded(row[name] * factor) for name in ("low", "high", "limit")
    )
    interval = f"{value_text(row['low'], metric_id)} to {value_text(row['high'], metric_id)}"
    return {
        **_point(row, figure, style),
        "layer": layer_of(row),
        "curve": series_label(row),
        "y": _rounded(row["value"] * factor),
        "lo": low,
        "hi": high,
        "limit": limit,
        "impossible": row["impossible"],
        "size": size_text(row["message_size_bytes"]),
        "text": value_text(row["value"], metric_id) + (" (impossible)" if row["impossible"] else ""),
        "interval": interval if row["low"] is not None else "one launch: none",
        "launches": f"{row['launch_count']}, {row['sample_count']} samples",
        "spread": "unknown" if row["between_launch_spread"] is None else f"{row['between_launch_spread']:.1%}",
        "bound": value_text(row["limit"], metric_id),
    }


def _bounds(rows: Sequence[dict[str, Any]], x: alt.X, hue: alt.Color, pick: alt.Parameter) -> list[alt.Chart]:
    """Return the dashed line of what the wire allows, once for each colour."""
    once = {(row["hue"], row["x"]): row for row in rows if row["limit"]}
    bounds = [{"x": row["x"], "y": row["limit"], "hue": row["hue"]} for row in once.values()]
    if not bounds:
        return []
    chart = alt.Chart(_data(bounds)).mark_line(strokeDash=[2, 4], strokeWidth=1.2)
    return [chart.encode(x=x, y=alt.Y("y:Q"), color=hue, opacity=alt.condition(pick, alt.value(0.8), alt.value(0.05)))]


def _ratios(figure: Figure, style: Style) -> Any:
    rows = [_ratio_row(row, figure, style) for row in figure.rows.iter_rows(named=True)]
    hue, layer = _hue(rows, style, False), _layers(rows, style)
    x = _size_axis([row["x"] for row in rows])
    title = RATIO_FIGURES[figure.kind][1].format("so many times")
    ends = [{"y": row[name]} for row in rows for name in ("y", "lo", "hi") if row[name]]
    scale = alt.Scale(type="log", nice=False)
    y = alt.Y("y:Q", title=title, scale=scale, axis=_log_axis([*ends, {"y": 0.9}, {"y": 1.1}]))
    pick_hue = alt.selection_point(fields=["hue"], bind="legend", name="pick_hue")
    pick_layer = alt.selection_point(fields=["layer"], bind="legend", name="pick_layer")
    both = pick_hue & pick_layer
    faded, pale = (alt.condition(both, alt.value(full), alt.value(full / 10)) for full in (1, 0.18))
    base = alt.Chart(_data(rows)).encode(x=x, color=hue, detail="curve:N")
    one = alt.Chart(_data([{"y": 1}])).mark_rule(color=style.ink, opacity=0.6).encode(y=alt.Y("y:Q"))
    names = (("curve", "pair"), ("size", "message size"), ("text", "ratio"), ("interval", "95 % interval"),
             ("verdict", "verdict"), ("left", "left"), ("right", "right"))  # fmt: skip
    return alt.layer(
        one,
        base.mark_area().encode(y=alt.Y("lo:Q"), y2="hi:Q", opacity=pale),
        base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=_dash(layer, style), opacity=faded),
        base.mark_point(size=34, filled=True)
        .encode(
            y=y, shape=_shape(layer, style), opacity=faded,
            tooltip=[alt.Tooltip(f"{name}:N", title=title) for name, title in names],
        )
        .add_params(pick_hue, pick_layer),
    )  # fmt: skip


def _ratio_row(row: Row, figure: Figure, style: Style) -> dict[str, Any]:
    left = {name.removeprefix("left_"): value for name, value in row.items() if name.startswith("left_")}
    right = {name.removeprefix("right_"): value for name, value in row.items() if name.startswith("right_")}
    shown = right if figure.kind == "placement" else left
    hue = f"{row['left']} / {row['right']}" if figure.kind in ("fabric", "mpi", "instrument") else style.hue_of(shown)
    if figure.kind == "layer" and not left["fabric"]:
        hue = layer_of(left)
    interval = "one block: none" if row["low"] is None else f"{ratio_text(row['low'])} to {ratio_text(row['high'])}"
    return {
        "x": row["message_size_bytes"],
        "y": _rounded(row["ratio"]),
        "lo": row["low"] and _rounded(row["low"]),
        "hi": row["high"] and _rounded(row["high"]),
        "hue": hue,
        "layer": layer_of(left),
        "curve": f"{series_label(left)} / {series_label(right)}",
        "size": size_text(row["message_size_bytes"]),
        "text": f"{ratio_text(row['ratio'])} times as fast",
        "interval": interval,
        "verdict": row["verdict"],
        "left": value_text(row["left_value"], row["metric_id"]),
        "right": value_text(row["right_value"], row["metric_id"]),
    }


def _hue(rows: Sequence[dict[str, Any]], style: Style, by_series: bool) -> alt.Color:
    names = list(dict.fromkeys(row["hue"] for row in rows))
    domain, colours = style.scale(names)
    if by_series or not any(name in style.hues for name in names):
        colours = [PALETTE[index % len(PALETTE)] for index in range(len(names))]
    is_layer = not by_series and all(row["hue"] == row["layer"] for row in rows)
    legend = None if is_layer or (len(names) == 1 and by_series) else alt.Legend(title=None, symbolType="stroke")
    return alt.Color("hue:N", scale=alt.Scale(domain=domain, range=colours), legend=legend)


def _layers(rows: Sequence[dict[str, Any]], style: Style) -> list[str]:
    seen = {row["layer"] for row in rows}
    return [layer for layer in style.layers if layer in seen]


def _dash(layers: list[str], style: Style) -> alt.StrokeDash:
    scale = alt.Scale(domain=layers, range=[style.dash(layer) for layer in layers])
    return alt.StrokeDash("layer:N", scale=scale, legend=alt.Legend(title=None))


def _shape(layers: list[str], style: Style) -> alt.Shape:
    scale = alt.Scale(domain=layers, range=[style.shape(layer) for layer in layers])
    return alt.Shape("layer:N", scale=scale, legend=alt.Legend(title=None))


def _size_axis(sizes: Sequence[int]) -> alt.X:
    least, most = max(1, min(sizes, default=1)), max(sizes, default=1)
    first, last = math.floor(math.log2(least)), math.ceil(math.log2(max(most, 2)))
    step = 2 if last - first > 8 else 1
    ticks = [2**power for power in range(first, last + 1, step)]
    axis = alt.Axis(values=ticks, labelExpr=SIZE_LABEL, grid=False, labelOverlap="greedy", labelSeparation=8)
    scale = alt.Scale(type="log", base=2, nice=False, domain=[least, max(most, least * 2)])
    return alt.X("x:Q", title="message size", scale=scale, axis=axis)


def _log_axis(rows: Sequence[Mapping[str, Any]]) -> alt.Axis:
    """Return an axis with ticks at 1, 10, 100, and at 2 and 5 as well where few decades are shown."""
    values = [row["y"] for row in rows if row["y"] and row["y"] > 0]
    if not values:
        return alt.Axis()
    low, high = math.log10(min(values)), math.log10(max(values))
    steps: tuple[float, ...] = (1,) if high - low > 3.2 else (1, 2, 5)
    if high - low < 0.5:
        steps = (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 9.5)
    ticks = [
        float(f"{step * 10**power:.3g}") for power in range(math.floor(low) - 1, math.ceil(high) + 1) for step in steps
    ]
    return alt.Axis(values=ticks, format=",~r", labelOverlap=False)


def _data(rows: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=list(rows))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
