"""A paper held against a run: its claims judged, its tables with our numbers beside its own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from fabriscope.analysis.numbers.evidence import Mean
from fabriscope.analysis.papers.claims import Finding, judge
from fabriscope.analysis.papers.selections import Curve, Pool, State
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.counting import counted
from fabriscope.model.paper import Choice, Column, Draw, FigureFacts, Name, PaperCell, PaperFacts, TableFacts
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class PaperFigure:
    """One figure of the paper: the curves that stand for its own, and what came of its claims."""

    figure_id: str
    caption: str
    note: str
    draw: Draw | None
    curves: tuple[tuple[str, Curve], ...]
    """Label and curve; the curve's `problem` says why there is none."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Cell:
    """One number of a table: the paper's, and ours in the same unit with its 95 % interval."""

    paper: float | str | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    problem: str | None = None


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper."""

    table_id: str
    caption: str
    note: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Cell, ...]], ...]
    """The names of each row, and its cells."""


@dataclass(frozen=True)
class Standing:
    """What stands for one of the paper's names here."""

    name: Name
    says: str
    """In words: of several choices which was taken, and why; empty where the plan says nothing."""


@dataclass(frozen=True)
class Paper:
    """What came of a paper."""

    about: PaperFacts
    """What the manifest says of it."""
    figures: tuple[PaperFigure, ...]
    tables: tuple[PaperTable, ...]
    findings: tuple[Finding, ...]
    """Of claims that belong to no figure."""
    standing: tuple[Standing, ...] = ()
    """What stands for each of its names."""

    def all_findings(self) -> Iterator[tuple[str, Finding]]:
        """Yield every finding with the figure that it belongs to, in the paper's order."""
        for figure in self.figures:
            yield from ((figure.figure_id, finding) for finding in figure.findings)
        yield from (("text", finding) for finding in self.findings)

    def sentence(self) -> str:
        """Return how many claims hold, how many do not, how many were not decided, and how many were not measured."""
        findings = [finding for _, finding in self.all_findings()]
        verdicts = [finding.verdict for finding in findings if finding.points]
        hold, fail, left = (verdicts.count(name) for name in (HOLDS, FAILS, OPEN))
        absent = len(findings) - len(verdicts)
        parts = [f"{hold} {'holds' if hold == 1 else 'hold'} here", f"{fail} {'does' if fail == 1 else 'do'} not"]
        if left or not absent:
            parts.append(f"{left} {'was' if left == 1 else 'were'} not decided")
        if absent:
            parts.append(f"{absent} {'speaks' if absent == 1 else 'speak'} of what was not measured")
        return (
            f"Of {counted(len(findings), 'claim')} of “{self.about.title}”, {', '.join(parts[:-1])}, and {parts[-1]}."
        )


def paper_of(run: RunData, values: pl.DataFrame, states: Mapping[str, State]) -> Paper | None:
    """Return the paper that a run's plan re-ran, judged by its launch values; None where the plan names none.

    `states` are of the cases of many to one, by their ids.
    """
    about = run.manifest.paper
    if not about:
        return None
    pool = Pool(values, run.manifest.cases, run.manifest.fabrics, rules_of(run).method, states)
    standing = tuple(_standing(one, pool, run) for one in about.names)
    return Paper(
        about,
        tuple(_figure(one, pool) for one in about.figures),
        tuple(_table(one, pool) for one in about.tables),
        tuple(judge(claim, pool) for claim in about.claims),
        standing,
    )


def _standing(name: Name, pool: Pool, run: RunData) -> Standing:
    """Return what stands for a name: of several choices the first of which anything was measured, for all figures."""
    if not name.choices:
        return Standing(name, name.here)
    place = next((place for place, one in enumerate(name.choices) if pool.has_value(one.select)), None)
    passed = "; ".join(f"{one.says}: {_why_nothing(one, pool, run)}" for one in name.choices[:place])
    if place is None:
        return Standing(name, f"{name.here} (nothing was measured of any choice: {passed})")
    chosen = name.choices[place]
    if place == 0:
        return Standing(name, f"{chosen.says} (the first choice, of which there are values)")
    pool.taken[name.name] = chosen.select
    return Standing(name, f"{chosen.says} (taken as nothing was measured of what comes before it: {passed})")


def _why_nothing(choice: Choice, pool: Pool, run: RunData) -> str:
    """Return why a choice has no value: what most of its cases failed of."""
    cases = set(pool.of(choice.select))
    if not cases:
        return "no case of the plan"
    results = [of for record in run.journal for case_id, of in record.results.items() if case_id in cases]
    reasons = Counter(of.reason for of in results if of.status != "ok" and of.reason)
    if reasons:
        return reasons.most_common(1)[0][0]
    return "none of its numbers can be used" if results else "no launch of it has ended"


def _figure(one: FigureFacts, pool: Pool) -> PaperFigure:
    draw = one.draw
    curves = tuple((curve.label, pool.pick(curve, draw)) for curve in draw.curves) if draw else ()
    findings = tuple(judge(claim, pool) for claim in one.claims)
    return PaperFigure(one.id, one.caption, one.note, draw, curves, findings)


def _table(one: TableFacts, pool: Pool) -> PaperTable:
    rows = tuple(
        (
            row.names,
            tuple(_cell(cell, column, pool) for cell, column in zip(row.cells, one.columns, strict=True)),
        )
        for row in one.rows
    )
    return PaperTable(one.id, one.caption, one.note, one.keys, one.columns, rows)


UNITS: Mapping[str, float] = {
    "Mb/s": 8e-6, "Gb/s": 8e-9, "ns": 1, "us": 1e-3, "ms": 1e-6, "s": 1e-9, "bit": 8, "B": 1,
}  # fmt: skip
"""What turns a stored value (bytes per second, ns, bytes) into a table's unit."""


def _cell(cell: PaperCell, column: Column, pool: Pool) -> Cell:
    curve = pool.pick(cell, column)
    if curve.problem or len(curve.points) != 1:
        return Cell(cell.paper, problem=curve.problem or "several points fit")
    ((place, blocks),) = curve.points.items()
    factor = UNITS.get(column.unit, 1.0)
    if column.show == "size":
        size = curve.sizes.get(place)
        return Cell(cell.paper, None if size is None else size * factor)
    mean = Mean(np.log(list(blocks.values())), pool.method)
    value, low, high = (math.exp(end) * factor for end in (mean.centre, *mean.interval()))
    if math.isnan(low):
        return Cell(cell.paper, value)
    return Cell(cell.paper, value, low, high)
