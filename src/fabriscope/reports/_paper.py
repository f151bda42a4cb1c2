"""A paper and what came of it as rows of text, shared by the page and the Markdown file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.papers.claims import Finding
from fabriscope.analysis.papers.paper import Cell, Paper, PaperFigure, PaperTable
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import UNKNOWN, interval_text, significant
from fabriscope.model.host import HostFacts
from fabriscope.model.manifest import LabFacts
from fabriscope.model.run_data import RunData
from fabriscope.reports._paper_figures import figure_id_of, place_name

MARKS = {HOLDS: "holds", FAILS: "fails", OPEN: "undecided"}
"""Verdict to its class in the page's style."""
WHOLE_UNITS = ("bit", "B")
UNIT_NAMES = {"us": "µs"}


@dataclass(frozen=True)
class ClaimLine:
    """One claim, and what came of it."""

    figure: str
    """Where the paper says it."""
    is_first: bool
    """Of its figure."""
    say: str
    verdict: str
    mark: str
    """The verdict's class in the page's style."""
    evidence: str
    paper: str


@dataclass(frozen=True)
class FigureView:
    """One figure of the paper; its drawing has the same id."""

    id: str
    title: str
    note: str
    claims: list[ClaimLine]
    missing: list[str]
    """Why curves are not drawn."""


@dataclass(frozen=True)
class ColumnHead:
    """What stands over a column of a table."""

    title: str
    unit: str


@dataclass(frozen=True)
class CellView:
    """One number of the paper's, and ours."""

    paper: str
    here: str
    interval: str
    problem: str


@dataclass(frozen=True)
class RowView:
    """One row of a table."""

    names: tuple[str, ...]
    cells: list[CellView]


@dataclass(frozen=True)
class TableView:
    """One table of the paper."""

    title: str
    note: str
    keys: tuple[str, ...]
    columns: list[ColumnHead]
    rows: list[RowView]


@dataclass(frozen=True)
class PaperView:
    """Everything that a report tells of a paper."""

    title: str
    citation: str
    question: str
    names: list[tuple[str, str, str]]
    """Name, what it is in the paper, what stands for it."""
    setup: list[tuple[str, str, str]]
    """Name, the paper's, ours."""
    claims: list[ClaimLine]
    figures: list[FigureView]
    tables: list[TableView]


def paper_view(results: Results) -> PaperView | None:
    """Return everything that a report tells of the run's paper; None where the run has none."""
    paper = results.paper
    if paper is None:
        return None
    return PaperView(
        title=paper.about.title,
        citation=paper.about.citation or "",
        question=paper.about.question or "",
        names=_names(paper),
        setup=_setup(paper, results.run),
        claims=_claims(paper),
        figures=[_figure(one) for one in paper.figures],
        tables=[_table(one) for one in paper.tables],
    )


def _claims(paper: Paper) -> list[ClaimLine]:
    rows: list[ClaimLine] = []
    for figure_id, finding in paper.all_findings():
        place = place_name(figure_id)
        rows.append(_finding(finding, place, is_first=not rows or rows[-1].figure != place))
    return rows


def _finding(finding: Finding, figure: str, *, is_first: bool) -> ClaimLine:
    return ClaimLine(
        figure=figure,
        is_first=is_first,
        say=finding.claim.say,
        verdict=finding.verdict,
        mark=MARKS[finding.verdict],
        evidence=finding.evidence,
        paper=finding.claim.paper or UNKNOWN,
    )


def _figure(one: PaperFigure) -> FigureView:
    problems = dict.fromkeys(f"{label}: {curve.problem}" for label, curve in one.curves if curve.problem)
    place = place_name(one.figure_id)
    return FigureView(
        id=figure_id_of(one),
        title=f"{place}. {one.caption}",
        note=one.note,
        claims=[_finding(finding, place, is_first=index == 0) for index, finding in enumerate(one.findings)],
        missing=[problem.removeprefix("nothing here") for problem in problems],
    )


def _names(paper: Paper) -> list[tuple[str, str, str]]:
    """Return name, what it is in the paper, what stands for it; names whose meaning is the same everywhere are not."""
    return [
        (one.name, one.means or "these names together", one.here or "nothing")
        for one in paper.about.names
        if one.here or not one.stands
    ]


def _setup(paper: Paper, run: RunData) -> list[tuple[str, str, str]]:
    """Return what was used: name, the paper's, ours."""
    ours = _our_setup(run) | {name: str(text) for name, text in paper.about.here.items()}
    theirs = paper.about.setup
    return [(name, theirs.get(name, UNKNOWN), ours.get(name, UNKNOWN)) for name in dict.fromkeys([*theirs, *ours])]


def _our_setup(run: RunData) -> dict[str, str]:
    manifest = run.manifest
    hosts = manifest.hosts
    in_lab = ", made by the lab out of one machine" if manifest.lab else ""
    facts = list(hosts.values())
    stacks = {f"{_library(stack.kind)} {stack.version}" for stack in manifest.mpi.values()}
    instruments = {entry.instrument for entry in manifest.entries.values()}
    instruments_text = ", ".join(sorted(instruments)).replace("engine", "fabriscope's own engine")
    blocks = {line.block for line in manifest.schedule}
    ours = {
        "hosts": f"{len(hosts)}{in_lab}{_shares(manifest.lab) if manifest.lab else ''}" if hosts else "",
        "CPU": _distinct(facts, "cpu.model"),
        "system": _distinct(facts, "kernel.distribution", "kernel.release"),
        "MPI": ", ".join(sorted(stacks)),
        "instrument": f"{instruments_text} {manifest.fabriscope_version}".strip(),
        "repeats": f"{len(blocks)} launches of everything, in random order",
    }
    return {name: text for name, text in ours.items() if text}


def _shares(lab: LabFacts) -> str:
    """Return which guests are slower machines on purpose."""
    return "".join(f"; {name} has {share:.0%} of a processor" for name, share in lab.cpu_shares.items())


def _library(kind: str) -> str:
    return {"openmpi": "Open MPI", "mpich": "MPICH", "intelmpi": "Intel MPI"}.get(kind.rstrip("45"), kind)


def _distinct(facts: Sequence[HostFacts], *names: str) -> str:
    texts = [", ".join(str(one.values[name]) for name in names if one.values.get(name)) for one in facts]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _table(one: PaperTable) -> TableView:
    return TableView(
        title=f"{place_name(one.table_id)}. {one.caption}",
        note=one.note,
        keys=one.keys,
        columns=[ColumnHead(column.title, UNIT_NAMES.get(column.unit, column.unit)) for column in one.columns],
        rows=[
            RowView(names, [_cell(cell, column.unit) for cell, column in zip(cells, one.columns, strict=True)])
            for names, cells in one.rows
        ],
    )


def _cell(cell: Cell, unit: str) -> CellView:
    interval = interval_text(cell.low, cell.high, lambda value: _number(value, unit))
    return CellView(_paper_number(cell.paper), _number(cell.value, unit), interval, cell.problem or "")


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}".replace(",", "\N{THIN SPACE}") if unit in WHOLE_UNITS else significant(value)


def _paper_number(value: float | str | None) -> str:
    """Return the number as the paper prints it: whole numbers whole, others with two decimals."""
    if value is None or isinstance(value, str):
        return value or UNKNOWN
    return f"{value:,}".replace(",", "\N{THIN SPACE}") if isinstance(value, int) else f"{value:.2f}"
