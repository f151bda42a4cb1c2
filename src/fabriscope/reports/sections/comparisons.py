"""Who leads where: a section for each kind of comparison."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.comparing.findings import Finding
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.reports._figure import Figure
from fabriscope.reports._figures import ratio_figures
from fabriscope.reports._ranges import RangeGroup, range_groups
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Figures,
    Folded,
    Row,
    Section,
    Sections,
    Styled,
    Table,
)

_PLACES = {
    "layer": ("mpi", "MPI against TCP"),
    "transport": ("layers", ""),
    "placement": ("placement", "Inside one host"),
    "fabric": ("ranges", "Who leads where"),
    "mpi": ("libraries", ""),
    "instrument": ("instruments", ""),
    "ranks": ("arrangements", ""),
    "series": ("settings", ""),
    "control": ("control", ""),
}
"""Kind of comparison, in a report's order: its anchor, and what leads to it, if not its title."""
_TITLES = {"fabric": "Which fabric leads at which sizes"}
_MOST_VERDICTS = 10


def _build(results: Results) -> list[Section]:
    groups = {group.kind: group for group in range_groups(results)}
    drawn = {part[0].kind: part for part in parts(list(ratio_figures(results)), lambda figure: figure.kind)}
    return [
        _section(groups[kind], anchor, link, drawn.get(kind, []))
        for kind, (anchor, link) in _PLACES.items()
        if kind in groups
    ]


def _section(group: RangeGroup, anchor: str, link: str, figures: Sequence[Figure]) -> Section:
    table = _ranges(group)
    is_open = group.kind == "fabric" and not group.verdicts
    words = [_verdicts(group)] if group.verdicts else _sentences(group)
    ranges = table if is_open else Folded("All ranges of sizes as a table", [table])
    blocks: list[Block] = [*words, *([Figures(figures)] if figures else []), ranges]
    return Section(anchor, _TITLES.get(group.kind, group.title), blocks, link)


def _sentences(group: RangeGroup) -> list[Block]:
    blocks: list[Block] = [_list(group.findings)]
    if group.more_findings:
        summary = f"The same for other benchmarks, {len(group.more_findings)} findings"
        blocks.append(Folded(summary, [_list(group.more_findings)]))
    return blocks


def _list(findings: Sequence[Finding]) -> Bullets:
    return Bullets([(Styled(f"{finding.where}:", "where"), f" {finding.text}.") for finding in findings])


def _verdicts(group: RangeGroup) -> Table:
    rows: list[Row] = []
    for row in group.verdicts:
        text: list[str | Styled] = []
        for item in row.said:
            text += ["; "] if text else []
            text += [Styled(item.name, item.verdict), f" {item.text}"]
        rows.append([row.where, row.pair, Cell(text)])
    columns = [Column("where"), Column("pair"), Column("who leads")]
    return Table(columns, rows, style="verdicts", most=_MOST_VERDICTS, is_rest_printed=True)


def _ranges(group: RangeGroup) -> Table:
    rows: list[Row] = [
        [row.where, row.pair, row.sizes, Cell(row.leader, style=row.verdict), row.by, row.interval, row.needed]
        for row in group.rows
    ]
    columns = [
        Column("where"), Column("pair"), Column("sizes"), Column("leads"), Column("by"),
        Column("95\N{NO-BREAK SPACE}% interval", "number"), Column("blocks to decide", "number"),
    ]  # fmt: skip
    return Table(columns, rows, [(row.where, row.pair) for row in group.rows])


SECTION = Sections("comparisons", 60, _build)
