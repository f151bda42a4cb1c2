"""What figures are drawn of: one noun a mark, numbers in the unit of the axis, exact text for tooltips.

A mark's fields are the names of its data in the specification of a figure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.papers.claim_words import place_text
from fabriscope.analysis.proof.transport import BADGES, NOT_WATCHED
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import interval_text, ratio_interval_text, ratio_text, series_name, size_text, value_text
from fabriscope.model.metrics import unit_of
from fabriscope.reports._figure import Figure
from fabriscope.reports._group_figures import COUNTS
from fabriscope.reports._style import Style

DIGITS = 5
PAIRS_BY_COLOUR = ("fabric", "mpi", "instrument", "ranks", "series")
"""Kinds of comparison whose colours stand for pairs."""


@dataclass(frozen=True)
class LaunchMark:
    """The value of one launch."""

    x: int
    hue: str
    layer: str
    y: float


@dataclass(frozen=True)
class CurveMark:
    """One estimate."""

    x: int
    hue: str
    layer: str
    curve: str
    y: float
    lo: float | None
    hi: float | None
    limit: float | None
    impossible: bool
    size: str
    text: str
    interval: str
    launches: str
    spread: str
    bound: str
    transport: str
    trust: str


@dataclass(frozen=True)
class BoundMark:
    """What the wire allows at one size."""

    x: int
    y: float
    hue: str
    layer: str = ""
    """Bounds belong to no layer."""


@dataclass(frozen=True)
class RatioMark:
    """One pair of curves at one size."""

    x: int
    y: float
    lo: float | None
    hi: float | None
    hue: str
    layer: str
    curve: str
    size: str
    text: str
    interval: str
    verdict: str
    left: str
    right: str


def curve_marks(figure: Figure, style: Style) -> list[CurveMark]:
    """Return a mark for each estimate of a figure of curves."""
    return [_curve_mark(row, figure, style) for row in figure.rows if _is_drawn(row.value, row.metric_id)]


def launch_marks(figure: Figure, style: Style) -> list[LaunchMark]:
    """Return a mark for each launch value of a figure of curves."""
    factor = unit_of(figure.metric_id).axis_factor
    return [
        LaunchMark(row.message_size_bytes, _hue(row, figure, style), row.layer_label, rounded(row.value * factor))
        for row in figure.values
        if _is_drawn(row.value, row.metric_id)
    ]


def _is_drawn(value: float, metric_id: str) -> bool:
    """Return whether the scale has a place for the value: a logarithmic one has none for zero."""
    return value > 0 or unit_of(metric_id).can_be_zero


def bound_marks(marks: Iterable[CurveMark]) -> list[BoundMark]:
    """Return what the wire allows, once for each colour and size."""
    once = {(mark.hue, mark.x): BoundMark(mark.x, mark.limit, mark.hue) for mark in marks if mark.limit}
    return list(once.values())


def ratio_marks(figure: Figure, style: Style) -> list[RatioMark]:
    """Return a mark for each size of each pair of a figure of ratios."""
    return [_ratio_mark(row, figure, style) for row in figure.ratios]


def rounded(value: float) -> float:
    """Return the value with as many digits as a plot can show."""
    return float(f"{value:.{DIGITS}g}")


def _hue(row: PlannedCase, figure: Figure, style: Style) -> str:
    return figure.hue_of(row) or (series_name(row.series) if figure.by_series else style.hue_of(row))


def _curve_label(row: PlannedCase, figure: Figure) -> str:
    """Return the curve that a point is of: along the number of ranks, that number does not tell curves apart."""
    if figure.axis not in COUNTS:
        return row.label()
    label, hue = row.label(ranks=False), figure.hue_of(row)
    return f"{label}, {hue}" if hue else label


def _curve_mark(row: GradedEstimate, figure: Figure, style: Style) -> CurveMark:
    metric_id, factor = row.metric_id, unit_of(row.metric_id).axis_factor
    low, high, limit = (None if end is None else rounded(end * factor) for end in (row.low, row.high, row.limit))
    interval = interval_text(row.low, row.high, partial(value_text, metric_id=metric_id))
    spread = row.between_launch_spread
    return CurveMark(
        x=row.message_size_bytes,
        hue=_hue(row, figure, style),
        layer=row.layer_label,
        curve=_curve_label(row, figure),
        y=rounded(row.value * factor),
        lo=low,
        hi=high,
        limit=limit,
        impossible=row.impossible,
        size=place_text(figure.axis, row.message_size_bytes),
        text=value_text(row.value, metric_id) + (" (impossible)" if row.impossible else ""),
        interval=interval if row.low is not None else "none from one launch",
        launches=f"{row.launch_count}, {row.sample_count} samples",
        spread="unknown" if spread is None else f"{spread:.1%}",
        bound=value_text(row.limit, metric_id),
        transport=BADGES.get(row.transport or "", NOT_WATCHED),
        trust=_trust(row),
    )


def _trust(row: GradedEstimate) -> str:
    """Return the grade with what speaks most against it; estimates.csv has all reasons."""
    return f"{row.grade}: {(row.reasons or '').partition('; ')[0]}" if row.grade else ""


def _ratio_mark(row: Compared, figure: Figure, style: Style) -> RatioMark:
    pair, left, right = row.pair, row.pair.left_curve, row.pair.right_curve
    if figure.kind in PAIRS_BY_COLOUR:
        hue = f"{pair.left} / {pair.right}"
    else:
        hue = style.hue_of(right if figure.kind == "placement" else left)
    return RatioMark(
        x=row.message_size_bytes,
        y=rounded(row.ratio),
        lo=None if row.low is None else rounded(row.low),
        hi=None if row.high is None else rounded(row.high),
        hue=hue,
        layer=left.layer_label,
        curve=f"{left.label()} / {right.label()}",
        size=size_text(row.message_size_bytes),
        text=ratio_text(row.ratio),
        interval=ratio_interval_text(row.low, row.high) or "none from one block",
        verdict=row.verdict,
        left=value_text(row.left_value, pair.metric_id),
        right=value_text(row.right_value, pair.metric_id),
    )
