"""Every measurement that did not succeed, with what it was and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriscope.analysis.comparing.findings import BENCHMARK_NAMES, PLACEMENT_NAMES
from fabriscope.analysis.frames import Failure
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.words import size_text
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Section, Sections, Table

_MOST_SIZES = 3
_HEADS = ("launch", "what", "placement", "benchmark", "sizes", "status", "reason")


def _build(results: Results) -> list[Section]:
    rows = [_row(part) for part in parts(results.failed, _alike)]
    if not rows:
        none = Paragraph("None: every case of every launch that has ended succeeded.")
        return [Section("failures", "Failures", [none])]
    table = Table([Column(head) for head in _HEADS], [[*row[:5], Cell(row[5], style="failed"), row[6]] for row in rows])
    words = [
        f"launch {launch}, {what}, {benchmark}, {sizes}: {status}: {reason}"
        for launch, what, _, benchmark, sizes, status, reason in rows
    ]
    brief: list[Block] = [Heading("Failures"), Bullets(words)]
    return [Section("failures", "Failures", [table], brief=brief)]


def _alike(failure: Failure) -> tuple[object, ...]:
    """Return what failures that share a row have in common: all but the size and the control."""
    curve = None if failure.case is None else replace(failure.case.curve, twin="")
    return failure.launch_id, failure.block, curve, failure.status, failure.reason


def _row(failures: Sequence[Failure]) -> tuple[str, str, str, str, str, str, str]:
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
