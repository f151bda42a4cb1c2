"""What a fabric is worth at every level, from the wire to the application: its ratio to the plan's first fabric."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.comparing.ladder import Ladder, Step, ladder_of
from fabriscope.analysis.group_words import ranks_text
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import UNKNOWN, ratio_text, series_text, size_text
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.metrics import metric_of
from fabriscope.reports._ladder_picture import PictureCell, PictureRow, ladder_picture
from fabriscope.reports.section import Block, Cell, Column, Folded, Paragraph, Picture, Row, Section, Sections, Table

_NOTE = (
    "Each cell says how many times as fast a fabric is as {baseline}, the plan’s first: a rate over its rate, or its "
    "time over a time, inside blocks of launches, with the 95\N{NO-BREAK SPACE}% interval. Times are those of the "
    "smallest message that both have, rates those of the largest. The verdict is that of all sizes’ table: faster, "
    "slower, equal within the margin, or undecided, where nothing is claimed."
)


def _build(results: Results) -> list[Section]:
    ladder = ladder_of(results.compared, list(results.run.manifest.fabrics))
    if ladder is None:
        return []
    rows = [_picture_row(step, ladder) for step in ladder.steps]
    caption = f"How many times as fast as {ladder.baseline}, at each level"
    blocks: list[Block] = [
        Picture(caption, ladder_picture(ladder.fabrics, rows)),
        Folded("The same as a table", [_table(ladder)]),
        Paragraph(_NOTE.format(baseline=ladder.baseline), is_note=True),
    ]
    return [Section("ladder", "From the wire to the application", blocks, "Levels")]


def _picture_row(step: Step, ladder: Ladder) -> PictureRow:
    cells = [_picture_cell(step.against, fabric) for fabric in ladder.fabrics]
    return PictureRow(_name(step), _where(step), cells)


def _picture_cell(against: Mapping[str, Compared], fabric: str) -> PictureCell | None:
    row = against.get(fabric)
    return PictureCell(row.verdict, row.ratio, f"{ratio_text(row.ratio)} times", _interval(row)) if row else None


def _name(step: Step) -> str:
    title = kind_of(step.curve.benchmark).title
    title = f"{title[:1].upper()}{title[1:]}"
    return f"{title}, {size_text(step.message_size_bytes)}" if step.has_size else title


def _where(step: Step) -> str:
    layout = ranks_text(step.curve.benchmark, step.curve.ranks) if step.curve.ranks else ""
    parts = (
        step.curve.layer_label,
        layout,
        series_text(step.curve.series),
        PLACEMENT_NAMES.get(step.curve.placement, ""),
    )
    return ", ".join(part for part in parts if part)


def _interval(row: Compared) -> str:
    if row.low is None or row.high is None:
        return "no interval"
    return f"{ratio_text(row.low)} to {ratio_text(row.high)}"


def _table(ladder: Ladder) -> Table:
    columns = [Column("level", "head"), Column("over"), Column("what is compared")]
    columns += [Column(f"{fabric} against {ladder.baseline}", "number") for fabric in ladder.fabrics]
    rows: list[Row] = []
    for step in ladder.steps:
        cells = [_cell(step.against.get(fabric)) for fabric in ladder.fabrics]
        rows.append([_name(step), _where(step), metric_of(step.metric_id).title, *cells])
    return Table(columns, rows)


def _cell(row: Compared | None) -> Cell:
    if row is None:
        return Cell(UNKNOWN)
    return Cell(f"{ratio_text(row.ratio)}, {row.verdict}", _interval(row), style=row.verdict)


SECTION = Sections("ladder", 20, _build)
