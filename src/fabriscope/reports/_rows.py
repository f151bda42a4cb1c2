"""What figures are drawn of: one dictionary a mark, numbers in the unit of the axis, exact text for tooltips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriscope.analysis.frames import series_label
from fabriscope.analysis.papers.claim_words import place_text
from fabriscope.analysis.proof.transport import BADGES, NOT_WATCHED
from fabriscope.analysis.words import interval_text, ratio_text, size_text, value_text
from fabriscope.model.metrics import unit_of
from fabriscope.reports._figure import Figure
from fabriscope.reports._group_figures import COUNTS
from fabriscope.reports._style import Style, layer_of

DIGITS = 5
PAIRS_BY_COLOUR = ("fabric", "mpi", "instrument", "ranks", "series")
"""Kinds of comparison whose colours stand for pairs."""
Row = Mapping[str, Any]


def curve_rows(figure: Figure, style: Style) -> list[dict[str, Any]]:
    """Return one row for each estimate of a figure of curves."""
    return [_curve_row(row, figure, style) for row in figure.rows.iter_rows(named=True) if _is_drawn(row)]


def launch_rows(figure: Figure, style: Style) -> list[dict[str, Any]]:
    """Return one row for each launch value of a figure of curves."""
    if figure.values is None:
        return []
    factor = unit_of(figure.metric_id).axis_factor
    return [
        {**_point(row, figure, style), "y": rounded(row["value"] * factor)}
        for row in figure.values.iter_rows(named=True)
        if _is_drawn(row)
    ]


def _is_drawn(row: Row) -> bool:
    """Return whether the scale has a place for the value: a logarithmic one has none for zero."""
    return bool(row["value"] > 0 or unit_of(row["metric_id"]).can_be_zero)


def bound_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the wire allows, once for each colour and size."""
    once = {(row["hue"], row["x"]): row for row in rows if row["limit"]}
    return [{"x": row["x"], "y": row["limit"], "hue": row["hue"], "layer": ""} for row in once.values()]


def ratio_rows(figure: Figure, style: Style) -> list[dict[str, Any]]:
    """Return one row for each size of each pair of a figure of ratios."""
    return [_ratio_row(row, figure, style) for row in figure.rows.iter_rows(named=True)]


def rounded(value: float) -> float:
    """Return the value with as many digits as a plot can show."""
    return float(f"{value:.{DIGITS}g}")


def _point(row: Row, figure: Figure, style: Style) -> dict[str, Any]:
    hue = row.get("hue") or ((row["series"] or "default") if figure.by_series else style.hue_of(row))
    return {"x": row["message_size_bytes"], "hue": hue, "layer": layer_of(row)}


def _curve_label(row: Row, figure: Figure) -> str:
    """Return the curve that a point is of: along the number of ranks, that number does not tell curves apart."""
    if figure.axis not in COUNTS:
        return series_label(row)
    label = series_label({**row, "ranks": ""})
    return f"{label}, {row['hue']}" if row.get("hue") else label


def _curve_row(row: Row, figure: Figure, style: Style) -> dict[str, Any]:
    metric_id, factor = row["metric_id"], unit_of(row["metric_id"]).axis_factor
    ends = ("low", "high", "limit")
    low, high, limit = (None if row[name] is None else rounded(row[name] * factor) for name in ends)
    interval = interval_text(row["low"], row["high"], lambda value: value_text(value, metric_id))
    spread = row["between_launch_spread"]
    return {
        **_point(row, figure, style),
        "curve": _curve_label(row, figure),
        "y": rounded(row["value"] * factor),
        "lo": low,
        "hi": high,
        "limit": limit,
        "impossible": row["impossible"],
        "size": place_text(figure.axis, row["message_size_bytes"]),
        "text": value_text(row["value"], metric_id) + (" (impossible)" if row["impossible"] else ""),
        "interval": interval if row["low"] is not None else "none from one launch",
        "launches": f"{row['launch_count']}, {row['sample_count']} samples",
        "spread": "unknown" if spread is None else f"{spread:.1%}",
        "bound": value_text(row["limit"], metric_id),
        "transport": BADGES.get(row.get("transport") or "", NOT_WATCHED),
        "trust": f"{row['grade']}: {row['reasons']}" if row.get("grade") else "",
    }


def _ratio_row(row: Row, figure: Figure, style: Style) -> dict[str, Any]:
    left, right = (
        {name.removeprefix(side): value for name, value in row.items() if name.startswith(side)}
        for side in ("left_", "right_")
    )
    if figure.kind in PAIRS_BY_COLOUR:
        hue = f"{row['left']} / {row['right']}"
    elif figure.kind == "placement":
        hue = style.hue_of(right)
    else:
        hue = style.hue_of(left)
    interval = interval_text(row["low"], row["high"], ratio_text) or "none from one block"
    return {
        "x": row["message_size_bytes"],
        "y": rounded(row["ratio"]),
        "lo": None if row["low"] is None else rounded(row["low"]),
        "hi": None if row["high"] is None else rounded(row["high"]),
        "hue": hue,
        "layer": layer_of(left),
        "curve": f"{series_label(left)} / {series_label(right)}",
        "size": size_text(row["message_size_bytes"]),
        "text": ratio_text(row["ratio"]),
        "interval": interval,
        "verdict": row["verdict"],
        "left": value_text(row["left_value"], row["metric_id"]),
        "right": value_text(row["right_value"], row["metric_id"]),
    }
