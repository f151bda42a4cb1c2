"""What many ranks do at once: collectives, all pairs, many to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.group_words import name_of, ranks_text
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.groups import End, Group
from fabriscope.analysis.words import UNKNOWN, interval_text, size_text, tells_size, time_text, value_text
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of
from fabriscope.reports._badges import badge_cells, badge_columns, points_of_curves
from fabriscope.reports.section import Block, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_NOTE = (
    "Collectives are timed from the first rank’s start to the last rank’s end on a common clock, which is right to the "
    "error that is stated; what says “after a barrier” or “back to back” is another number, not to be compared with "
    "it. Late rounds, in which a rank missed the agreed start, are left out. “Most often last” counts the operations "
    "that a rank finished last, over all sizes and launches."
)


def _build(results: Results) -> list[Section]:
    shared = [row for row in results.grouped if kind_of(row.benchmark).pattern != APPLICATION]
    if not shared:
        return []
    has_badge = bool(results.transport.height)
    points = points_of_curves(results.graded)
    rows = [_row(row, badge_cells(points.get((row.curve, row.metric_id), []), has_badge=has_badge)) for row in shared]
    columns = [
        Column("what"), Column("ranks"), Column("network, layer"), Column("smallest message", "number"),
        Column("largest message", "number"), Column("most often last"), Column("late rounds", "number"),
        Column("clock’s error", "number"), Column("launches", "number"), *badge_columns(has_badge=has_badge),
    ]  # fmt: skip
    table = Table(columns, rows, [_what(row) for row in shared])
    brief = [block for part in parts(shared, lambda row: row.placement) for block in _brief(part)]
    return [Section("ranks", "Many ranks at once", [table, Paragraph(_NOTE, is_note=True)], "Many ranks", brief=brief)]


def _row(row: Group, badge: Sequence[Cell]) -> Row:
    network = f"{row.fabric} · " if row.fabric else ""
    return [
        _what(row),
        Cell(ranks_text(row.benchmark, row.ranks), PLACEMENT_NAMES[row.placement]),
        f"{network}{_layer(row)}",
        _end(row, row.first),
        _end(row, row.last) if row.size_count > 1 else "",
        _slowest(row),
        _late(row),
        time_text(row.clock_error_ns),
        str(row.launch_count),
        *badge,
    ]


def _brief(groups: Sequence[Group]) -> list[Block]:
    """Return the table of one placement, as wide as a terminal."""
    rows = [
        [
            _what(row),
            ranks_text(row.benchmark, row.ranks),
            row.fabric or UNKNOWN,
            _layer(row),
            value_text(row.first.centre.value, row.metric_id),
            value_text(row.last.centre.value, row.metric_id) if row.size_count > 1 else "",
            _slowest(row),
            _late(row),
        ]
        for row in groups
    ]
    heads = ("what", "ranks", "network", "layer", "smallest", "largest", "finished last", "late")
    title = f"many ranks, {PLACEMENT_NAMES[groups[0].placement]}"
    return [Heading(title), Table([Column(head) for head in heads], rows)]


def _what(row: Group) -> str:
    return name_of(row.benchmark, row.metric_id)


def _layer(row: Group) -> str:
    return f"{row.layer_label}, {row.series}" if row.series else row.layer_label


def _end(row: Group, end: End) -> Cell:
    """Return the value of one end of a curve, with its size and its interval."""
    size = f" at {size_text(end.size_bytes)}" if tells_size(row.benchmark, end.size_bytes) else ""
    centre = end.centre
    interval = interval_text(centre.low, centre.high, partial(value_text, metric_id=row.metric_id))
    return Cell(f"{value_text(centre.value, row.metric_id)}{size}", interval)


def _slowest(row: Group) -> str:
    """Return which rank finished last most often, and in which share of the operations."""
    if row.slowest_rank is None:
        return UNKNOWN
    return f"rank {row.slowest_rank} ({row.slowest_host or 'host unknown'}), {row.slowest_share:.0%}"


def _late(row: Group) -> str:
    """Return the share of the rounds that were left out; where every rank times itself there is no late."""
    total = row.late_operation_count + row.operation_count
    return f"{row.late_operation_count / total:.1%}" if row.clock_error_ns is not None and total else UNKNOWN


SECTION = Sections("ranks", 50, _build)
