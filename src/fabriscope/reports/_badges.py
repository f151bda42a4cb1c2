"""The column of a table that says whether what carried the bytes was proved."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.proof.transport import BADGES
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.reports.section import Cell, Column


def badge_columns(*, has_badge: bool) -> list[Column]:
    """Return the column of a run that was watched; none of another."""
    return [Column("transport", "name")] if has_badge else []


def points_of_curves(rows: Sequence[GradedEstimate]) -> dict[tuple[Curve, str], list[GradedEstimate]]:
    """Return curve and metric to the estimates of its sizes."""
    return {(part[0].curve, part[0].metric_id): part for part in parts(rows, lambda row: (row.curve, row.metric_id))}


def badge_cells(points: Sequence[GradedEstimate], *, has_badge: bool) -> list[Cell]:
    """Return the worst verdict on a curve, in a cell of that column."""
    seen = {row.transport for row in points}
    worst = next(((verdict, badge) for verdict, badge in reversed(BADGES.items()) if verdict in seen), ("", ""))
    return [Cell(worst[1], style=worst[0])] if has_badge else []
