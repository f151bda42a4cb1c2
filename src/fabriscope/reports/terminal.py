"""The essentials of a run in the terminal, or as JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table as RichTable

from fabriscope.analysis.frames import OPEN
from fabriscope.analysis.results import results_of
from fabriscope.analysis.tuning.rows import tuning_frame
from fabriscope.analysis.tuning.tuned import tuning_of
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.model.terminals import UNWRAPPED
from fabriscope.reports._facts import run_table
from fabriscope.reports.section import Block, Bullets, Heading, Paragraph, Section, Table, blocks_in, plain, tables_in
from fabriscope.reports.sections import sections_of


def console() -> Console:
    """Return standard output: as wide as its terminal, or as COLUMNS says; what is piped is not wrapped."""
    found = Console(highlight=False, emoji=False)
    return (
        found
        if found.is_terminal or "COLUMNS" in os.environ
        else Console(highlight=False, emoji=False, width=UNWRAPPED)
    )


def escape(text: str) -> str:
    """Return a text of the run as the terminal is to show it: no markup in it, and nothing that a terminal obeys."""
    return escape_markup(printable(text))


def as_json(run: RunData) -> dict[str, object]:
    """Return the essentials in the stored units."""
    results = results_of(run)
    launches = results.all_launches
    return {
        "name": results.run.manifest.name,
        "run_id": results.run.manifest.run_id,
        "path": results.run.path,
        "launches": {"planned": len(launches), "ended": sum(launch.status != OPEN for launch in launches)},
        "left_out": results.run.notes,
        "answer": results.answer,
        "control": None if results.control is None else {"failed": results.control.is_failed, **vars(results.control)},
        "summary": results.summary.to_dicts(),
        "groups": results.groups.to_dicts(),
        "incast": results.incast.to_dicts(),
        "destinations": results.destinations.to_dicts(),
        "tails": results.tail_frame.to_dicts(),
        "findings": [finding.columns() for finding in results.findings],
        "transport": results.transport.to_dicts(),
        "fits": results.fits.to_dicts(),
        "tuning": tuning_frame(run.once(tuning_of)).to_dicts(),
        "trust": results.estimates.select(
            "case_id", "metric_id", "grade", "reasons", "effective_sample_count", "drifting_launch_count", "clock_share"
        ).to_dicts(),
        "failures": results.failures.to_dicts(),
        "sections": {section.anchor: _section(section) for section in sections_of(results)},
    }


def _section(section: Section) -> dict[str, object]:
    """Return a section as people read it: its words, and its tables row by row."""
    texts: list[str] = []
    for block in blocks_in(section.blocks):
        if isinstance(block, Paragraph):
            texts.append(plain(block.text))
        elif isinstance(block, Bullets):
            texts += [plain(item) for item in block.items]
    tables = [
        {"columns": table.titles, "rows": [table.texts(row) for row in table.rows]}
        for table in tables_in(section.blocks)
    ]
    return {"title": section.title, "text": texts, "tables": tables}


def show(run: RunData) -> None:
    """Print the essentials."""
    results = results_of(run)
    output = console()
    output.print(f"[bold]{escape(str(results.run.manifest.name))}[/bold]  {escape(results.run.path)}")
    for note in results.run.notes:
        output.print(f"[bold]left out:[/bold] {escape(note)}")
    for sentence in results.answer:
        output.print(f"- {escape(sentence)}")
    output.print()
    for name, value in run_table(results):
        output.print(f"  [dim]{escape(name)}:[/dim] {escape(value)}")
    for section in sections_of(results):
        for block in section.brief:
            _print(output, block)


def show_section(run: RunData, anchor: str) -> None:
    """Print the essentials of one section."""
    output = console()
    for section in sections_of(results_of(run)):
        for block in section.brief if section.anchor == anchor else ():
            _print(output, block)


def show_blocks(blocks: Sequence[Block]) -> None:
    """Print what is told beside a program that runs: on standard error, as wide as it is."""
    found = Console(stderr=True, highlight=False, emoji=False)
    if not (found.is_terminal or "COLUMNS" in os.environ):
        found = Console(stderr=True, highlight=False, emoji=False, width=UNWRAPPED)
    for block in blocks:
        _print(found, block)


def _print(output: Console, block: Block) -> None:
    match block:
        case Heading():
            output.print(f"\n[bold]{escape(block.title)}[/bold]")
        case Paragraph():
            output.print(escape(plain(block.text)))
        case Bullets():
            for item in block.items:
                output.print(f"- {escape(plain(item))}")
        case Table():
            output.print(_table(block))
        case _:
            pass


def _table(table: Table) -> RichTable:
    shown = RichTable(box=None, pad_edge=False, header_style="dim")
    for title, column in zip(table.titles, table.columns, strict=True):
        is_number = column.align == "number"
        shown.add_column(escape(title), justify="right" if is_number else "left", no_wrap=is_number)
    for row in table.rows:
        shown.add_row(*(escape(text) for text in table.texts(row)))
    return shown
