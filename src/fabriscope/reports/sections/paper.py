"""The paper that a plan re-runs: claims, set-up beside set-up, figures in the paper's order, tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from fabriscope.analysis.papers import paper as papers
from fabriscope.analysis.papers.claims import Finding
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import DIGITS, UNKNOWN, interval_text, significant
from fabriscope.model.host import HostFacts
from fabriscope.model.manifest import LabFacts
from fabriscope.model.run_data import RunData
from fabriscope.reports._figure import Figure
from fabriscope.reports._paper_figures import figure_id_of, paper_figures, place_name
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Figures,
    Grid,
    Heading,
    Paragraph,
    Row,
    Section,
    Sections,
    Styled,
    Table,
)

_MARKS = {HOLDS: "holds", FAILS: "fails", OPEN: "undecided"}
"""Verdict to its style."""
_WHOLE_UNITS = ("bit", "B")
_UNIT_NAMES = {"us": "µs"}
_FOR_THESE_FABRICS = (
    "What follows holds for the fabrics of this run and for no others. The paper’s own numbers stand beside ours so "
    "that claims can be read; they were measured on other machines."
)
_WHEN_A_CLAIM_HOLDS = (
    "A claim holds when the 95\N{NO-BREAK SPACE}% interval over launches lies inside what it says, at every size that "
    "it speaks of; it does not hold when the interval lies outside; otherwise it is not decided. Ratios are taken "
    "inside blocks of launches."
)


def _build(results: Results) -> list[Section]:
    paper = results.paper
    if paper is None:
        return []
    about = paper.about
    drawn = {figure.figure_id: figure for figure in paper_figures(results)}
    citation = f", {about.citation}" if about.citation else ""
    question = f" It asks: {about.question}" if about.question else ""
    blocks: list[Block] = [
        Paragraph((Styled(about.title, "cite"), f"{citation}.{question}")),
        Paragraph(_FOR_THESE_FABRICS, is_note=True),
        Heading("Claim by claim", "paper-claims"),
        *_claims(paper),
        Heading("What stands for what", "paper-setup"),
        Table([Column("name", "head"), Column("in the paper"), Column("here")], _names(paper)),
        Table([Column("set-up", "head"), Column("the paper’s"), Column("here")], _setup(paper, results.run)),
        Heading("Its figures, measured here", "paper-figures"),
        Grid([_figure(figure, drawn.get(figure_id_of(figure))) for figure in paper.figures], "paper-figure"),
        *(block for table in paper.tables for block in _table(table)),
    ]
    return [
        Section("paper", "The paper, re-run", blocks),
        Section("besides", "What the run says besides", [Bullets(results.answer[1:])]),
    ]


def _claims(paper: papers.Paper) -> Iterator[Block]:
    """Yield what was judged, with the numbers, and then what was not measured, with the reason."""
    judged = [one for one in paper.all_findings() if one[1].points]
    absent = [one for one in paper.all_findings() if not one[1].points]
    if judged:
        rows: list[Row] = [
            [
                finding.claim.say,
                Cell(finding.verdict, style=_MARKS[finding.verdict]),
                finding.evidence,
                finding.claim.paper or UNKNOWN,
            ]
            for _, finding in judged
        ]
        heads = (Column("here", "name"), Column("what was measured here"), Column("the paper’s numbers"))
        yield _by_figure(judged, heads, rows)
        yield Paragraph(_WHEN_A_CLAIM_HOLDS, is_note=True)
    if absent:
        yield Paragraph("Not decided, since they speak of what was not measured here:", is_note=True)
        whys: list[Row] = [[finding.claim.say, finding.evidence] for _, finding in absent]
        yield _by_figure(absent, [Column("why")], whys)


def _by_figure(findings: Sequence[tuple[str, Finding]], heads: Sequence[Column], rows: Sequence[Row]) -> Table:
    """Return a table of claims: the figure where it begins, the paper's words, and what belongs to each."""
    places = [place_name(figure_id) for figure_id, _ in findings]
    shown = ["" if place == before else place for before, place in pairwise(["", *places])]
    columns = [Column("in", "name"), Column("the paper says"), *heads]
    whole: list[Row] = [[place, *row] for place, row in zip(shown, rows, strict=True)]
    return Table(columns, whole, places, "claim-table")


def _figure(figure: papers.PaperFigure, drawing: Figure | None) -> list[Block]:
    """Return a figure of the paper: its drawing, its claims, and what was not drawn."""
    title = f"{place_name(figure.figure_id)}. {figure.caption}"
    has_values = any(curve.points for _, curve in figure.curves)
    why = "not drawn, as it is one value over several sizes" if has_values else "nothing of it was measured here"
    blocks: list[Block] = [Figures([drawing]) if drawing else Paragraph(f"{title}: {why}.", is_note=True)]
    if figure.findings:
        blocks.append(Bullets([_judged(finding) for finding in figure.findings], "claims"))
    problems = dict.fromkeys(f"{label}: {curve.problem}" for label, curve in figure.curves if curve.problem)
    notes = [figure.note] if figure.note else []
    notes += [f"Not drawn: {problem.removeprefix('nothing here')}." for problem in problems]
    return [*blocks, *(Paragraph(note, is_note=True) for note in notes)]


def _judged(finding: Finding) -> tuple[Styled, str]:
    return Styled(finding.verdict, _MARKS[finding.verdict]), f" {finding.claim.say}"


def _names(paper: papers.Paper) -> list[tuple[str, str, str]]:
    """Return name, what it is in the paper, what stands for it; names whose meaning is the same everywhere are not."""
    return [
        (one.name.name, one.name.means or "these names together", one.says or "nothing")
        for one in paper.standing
        if one.says or not one.name.stands
    ]


def _setup(paper: papers.Paper, run: RunData) -> list[tuple[str, str, str]]:
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
    measured = {record.entry_id for record in run.journal if record.ok_count}
    instruments = {entry.instrument for name, entry in manifest.entries.items() if name in measured}
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


def _table(table: papers.PaperTable) -> Iterator[Block]:
    columns = [Column(key, "name") for key in table.keys]
    for column in table.columns:
        over = f"{column.title}, {_UNIT_NAMES.get(column.unit, column.unit)}"
        columns += [Column("the paper", "theirs", over), Column("here", "number", over)]
    rows: list[Row] = []
    for names, numbers in table.rows:
        row: list[str | Cell] = [*names]
        for number, column in zip(numbers, table.columns, strict=True):
            row += [_paper_number(number.paper), _here(number, column.unit)]
        rows.append(row)
    yield Heading(f"{place_name(table.table_id)}. {table.caption}")
    yield Table(columns, rows, [names[:-1] for names, _ in table.rows])
    if table.note:
        yield Paragraph(table.note, is_note=True)


def _here(number: papers.Cell, unit: str) -> Cell:
    interval = interval_text(number.low, number.high, partial(_number, unit=unit))
    return Cell(_number(number.value, unit), interval or number.problem or "")


def _number(value: float | None, unit: str, digits: int = DIGITS) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}".replace(",", "\N{THIN SPACE}") if unit in _WHOLE_UNITS else significant(value, digits)


def _paper_number(value: float | str | None) -> str:
    """Return the number as the paper prints it: whole numbers whole, others with two decimals."""
    if value is None or isinstance(value, str):
        return value or UNKNOWN
    return f"{value:,}".replace(",", "\N{THIN SPACE}") if isinstance(value, int) else f"{value:.2f}"


SECTION = Sections("paper", 10, _build)
