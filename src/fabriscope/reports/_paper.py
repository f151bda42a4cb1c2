"""A paper and what came of it as rows of text, shared by the page and the Markdown file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabriscope.analysis.papers.claims import Finding
from fabriscope.analysis.papers.paper import Cell, Paper, PaperFigure, PaperTable
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import UNKNOWN, interval_text, significant
from fabriscope.model.manifest import LabFacts
from fabriscope.model.run_data import RunData
from fabriscope.reports._paper_figures import figure_id_of, place_name

MARKS = {HOLDS: "holds", FAILS: "fails", OPEN: "undecided"}
"""Verdict to its class in the page's style."""
WHOLE_UNITS = ("bit", "B")
UNIT_NAMES = {"us": "µs"}
View = dict[str, Any]


def paper_view(results: Results) -> View | None:
    """Return everything that a report tells of the run's paper; None where the run has none."""
    paper = results.paper
    if paper is None:
        return None
    return {
        "title": paper.about["title"],
        "citation": paper.about.get("citation") or "",
        "question": paper.about.get("question") or "",
        "names": _names(paper),
        "setup": _setup(paper, results.run),
        "claims": _claims(paper),
        "figures": [_figure(one) for one in paper.figures],
        "tables": [_table(one) for one in paper.tables],
    }


def _claims(paper: Paper) -> list[View]:
    rows: list[View] = []
    for figure_id, finding in paper.all_findings():
        place = place_name(figure_id)
        is_first = not rows or rows[-1]["figure"] != place
        rows.append({"figure": place, "is_first": is_first, **_finding(finding)})
    return rows


def _finding(finding: Finding) -> View:
    return {
        "say": finding.claim["say"],
        "verdict": finding.verdict,
        "mark": MARKS[finding.verdict],
        "evidence": finding.evidence,
        "paper": finding.claim.get("paper") or UNKNOWN,
    }


def _figure(one: PaperFigure) -> View:
    problems = dict.fromkeys(f"{label}: {curve.problem}" for label, curve in one.curves if curve.problem)
    return {
        "id": figure_id_of(one),
        "title": f"{place_name(one.figure_id)}. {one.caption}",
        "note": one.note,
        "claims": [_finding(finding) for finding in one.findings],
        "missing": [problem.removeprefix("nothing here") for problem in problems],
    }


def _names(paper: Paper) -> list[tuple[str, str, str]]:
    """Return name, what it is in the paper, what stands for it; names whose meaning is the same everywhere are not."""
    rows = []
    for one in paper.about.get("names") or ():
        if one["here"] or not one["stands"]:
            rows.append((one["name"], one["means"] or "these names together", one["here"] or "nothing"))
    return rows


def _setup(paper: Paper, run: RunData) -> list[tuple[str, str, str]]:
    """Return what was used: name, the paper's, ours."""
    ours = _our_setup(run) | {name: str(text) for name, text in (paper.about.get("here") or {}).items()}
    theirs = paper.about.get("setup") or {}
    return [(name, theirs.get(name, UNKNOWN), ours.get(name, UNKNOWN)) for name in dict.fromkeys([*theirs, *ours])]


def _our_setup(run: RunData) -> dict[str, str]:
    manifest = run.manifest
    hosts = manifest.hosts
    in_lab = ", made by the lab out of one machine" if manifest.lab else ""
    facts = [about.values for about in hosts.values()]
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


def _distinct(facts: Sequence[Mapping[str, Any]], *names: str) -> str:
    texts = [", ".join(str(one[name]) for name in names if one.get(name)) for one in facts]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _table(one: PaperTable) -> View:
    return {
        "title": f"{place_name(one.table_id)}. {one.caption}",
        "note": one.note,
        "keys": one.keys,
        "columns": [
            {"title": column["title"], "unit": UNIT_NAMES.get(column["unit"], column["unit"])} for column in one.columns
        ],
        "rows": [
            {
                "names": names,
                "cells": [_cell(cell, column["unit"]) for cell, column in zip(cells, one.columns, strict=True)],
            }
            for names, cells in one.rows
        ],
    }


def _cell(cell: Cell, unit: str) -> View:
    interval = interval_text(cell.low, cell.high, lambda value: _number(value, unit))
    paper = _paper_number(cell.paper)
    return {"paper": paper, "here": _number(cell.value, unit), "interval": interval, "problem": cell.problem or ""}


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}".replace(",", "\N{THIN SPACE}") if unit in WHOLE_UNITS else significant(value)


def _paper_number(value: float | str | None) -> str:
    """Return the number as the paper prints it: whole numbers whole, others with two decimals."""
    if value is None or isinstance(value, str):
        return value or UNKNOWN
    return f"{value:,}".replace(",", "\N{THIN SPACE}") if isinstance(value, int) else f"{value:.2f}"
