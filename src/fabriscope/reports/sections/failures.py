"""Every measurement that did not succeed, with what it was and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriscope.analysis.comparing.findings import BENCHMARK_NAMES, PLACEMENT_NAMES
from fabriscope.analysis.frames import Failure
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.restated import ENGINE
from fabriscope.analysis.words import size_text
from fabriscope.model.counting import counted
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_MOST_SIZES = 3
_HEADS = ("launch", "what", "placement", "benchmark", "sizes", "status", "reason")
_Words = tuple[str, str, str, str, str, str, str]


def _build(results: Results) -> list[Section]:
    absent = _absent(results)
    told = {id(failure) for failures in absent for failure in failures}
    rows = [_row(part) for part in parts((one for one in results.failed if id(one) not in told), _alike)]
    if not rows and not absent:
        none = Paragraph("None: every case of every launch that has ended succeeded.")
        return [Section("failures", "Failures", [none])]
    all_rows = [*map(_absent_row, absent), *rows]
    cells: list[Row] = [[*row[:5], Cell(row[5], style="failed"), row[6]] for row in all_rows]
    table = Table([Column(head) for head in _HEADS], cells)
    words = [f"{what}, {launch}: {status}: {reason}" for launch, what, *_, status, reason in map(_absent_row, absent)]
    words += [
        f"launch {launch}, {what}, {benchmark}, {sizes}: {status}: {reason}"
        for launch, what, _, benchmark, sizes, status, reason in rows
    ]
    brief: list[Block] = [Heading("Failures"), Bullets(words)]
    return [Section("failures", "Failures", [table], brief=brief)]


def _absent(results: Results) -> list[list[Failure]]:
    """Return the failures of each program of others of which nothing was measured, all of them for one reason."""
    measured = {row.instrument for row in results.graded} | {ENGINE}
    of_programs = parts(results.failed, lambda failure: failure.case.instrument if failure.case else ENGINE)
    return [
        failures
        for failures in of_programs
        if failures[0].case is not None
        and failures[0].case.instrument not in measured
        and len({(one.status, one.reason) for one in failures}) == 1
        and len(parts(failures, _alike)) > 1
    ]


def _absent_row(failures: Sequence[Failure]) -> _Words:
    first = failures[0]
    instrument = first.case.instrument if first.case else ""
    launches = f"all {counted(len({failure.launch_id for failure in failures}), 'launch')}"
    return launches, f"everything by {instrument}", "", "", "", first.status, first.reason or "no reason was recorded"


def _alike(failure: Failure) -> tuple[object, ...]:
    """Return what failures that share a row have in common: all but the size and the control."""
    curve = None if failure.case is None else replace(failure.case.curve, twin="")
    return failure.launch_id, failure.block, curve, failure.status, failure.reason


def _row(failures: Sequence[Failure]) -> _Words:
    first, case = failures[0], failures[0].case
    return (
        f"{first.launch_id} (block {first.block})",
        case.label() if case else "a case that the plan does not know",
        PLACEMENT_NAMES.get(case.placement, "") if case else "",
        BENCHMARK_NAMES.get(case.benchmark, case.benchmark) if case else "",
        _sizes(sorted(failure.case.message_size_bytes for failure in failures if failure.case)),
        first.status,
        first.reason or "no reason was recorded",
    )


def _sizes(sizes: list[int]) -> str:
    if len(sizes) > _MOST_SIZES:
        return f"{size_text(sizes[0])} to {size_text(sizes[-1])} ({len(sizes)} sizes)"
    return ", ".join(size_text(size) for size in sizes)


SECTION = Sections("failures", 120, _build)
