"""What the instrument itself costs."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.reports._facts import floor_table
from fabriscope.reports.section import Block, Column, Paragraph, Section, Sections, Table

_NOTE = "No result can mean anything finer than this. It is shown beside the results and not subtracted from them."


def _build(results: Results) -> list[Section]:
    rows = floor_table(results)
    columns = [Column("what"), Column("cost", "number"), Column("how it was found")]
    blocks: list[Block] = [Paragraph("It was not measured in this run.")]
    if rows:
        blocks = [Table(columns, rows), Paragraph(_NOTE, is_note=True)]
    return [Section("floor", "The instrument’s floor", blocks)]


SECTION = Sections("floor", 70, _build)
