"""The essentials of a run in the terminal, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table

from fabriscope.analysis.frames import OPEN
from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.fits import fit_words
from fabriscope.analysis.values.trust import MEANINGS
from fabriscope.model.counters import PROVED
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.reports import _facts, _tables
from fabriscope.reports._lines import FailureLine, GroupLine, SummaryLine, TransportLine, TrustLine

COLUMNS = {
    "network": "network", "layer": "layer", "bandwidth": "Mb/s", "size": "at size", "share": "of wire",
    "latency": "µs", "latency_interval": "95 % interval",
}  # fmt: skip
GROUP_COLUMNS = {
    "what": "what", "ranks": "ranks", "network": "network", "layer": "layer", "first": "smallest", "last": "largest",
    "slowest": "finished last", "late": "late",
}  # fmt: skip
LEFT_COLUMNS = 2


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
        "findings": [finding.columns() for finding in results.findings],
        "transport": results.transport.to_dicts(),
        "fits": results.fits.to_dicts(),
        "trust": results.estimates.select(
            "case_id", "metric_id", "grade", "reasons", "effective_sample_count", "drifting_launch_count", "clock_share"
        ).to_dicts(),
        "failures": results.failures.to_dicts(),
    }


def show(run: RunData) -> None:
    """Print the essentials."""
    results = results_of(run)
    console = Console(highlight=False)
    console.print(f"[bold]{escape(str(results.run.manifest.name))}[/bold]  {escape(results.run.path)}")
    for name, value in _facts.run_table(results):
        console.print(f"  [dim]{escape(name)}:[/dim] {escape(value)}")
    console.print()
    for note in results.run.notes:
        console.print(f"[bold]left out:[/bold] {escape(note)}")
    for sentence in results.answer:
        console.print(f"- {escape(sentence)}")
    for part in parts(_tables.summary_lines(results), lambda row: row.placement):
        console.print(_summary_table(part))
    for group in parts(_tables.group_lines(results), lambda row: row.placement):
        console.print(_group_table(group))
    _print_fits(console, results)
    _print_transport(console, _tables.transport_lines(results))
    _print_trust(console, _tables.trust_lines(results))
    _print_failures(console, _tables.failure_lines(results))


def _summary_table(rows: Sequence[SummaryLine]) -> Table:
    title = f"\n{rows[0].placement}"
    table = Table(box=None, pad_edge=False, header_style="dim", title=title, title_justify="left")
    for index, head in enumerate(COLUMNS.values()):
        table.add_column(head, justify="left" if index < LEFT_COLUMNS else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(escape(vars(row)[name]) for name in COLUMNS))
    return table


def _group_table(rows: Sequence[GroupLine]) -> Table:
    title = f"\nmany ranks, {rows[0].placement}"
    table = Table(box=None, pad_edge=False, header_style="dim", title=title, title_justify="left")
    for head in GROUP_COLUMNS.values():
        table.add_column(head)
    for row in rows:
        table.add_row(*(escape(vars(row)[name]) for name in GROUP_COLUMNS))
    return table


def _print_failures(console: Console, rows: Sequence[FailureLine]) -> None:
    if rows:
        console.print("\n[bold]Failures[/bold]")
    for row in rows:
        what = f"launch {row.launch}, {row.what}, {row.benchmark}, {row.sizes}"
        console.print(f"- {escape(what)}: {escape(row.status)}: {escape(row.reason)}")


def _print_fits(console: Console, results: Results) -> None:
    """Print time over size of each curve between hosts, in words."""
    curves = parts((piece for piece in results.fitted if piece.placement == "inter"), lambda piece: piece.curve)
    if curves:
        console.print("\n[bold]Half a round trip over the message size, in pieces[/bold]")
    for pieces in curves:
        console.print(f"- {escape(fit_words(pieces))}")


def _print_transport(console: Console, rows: Sequence[TransportLine]) -> None:
    """Print what carried the bytes of each entry, the refuted and undecided ones with the reason."""
    if rows:
        console.print("\n[bold]What carried the bytes[/bold]")
    for row in rows:
        why = "" if row.verdict == PROVED else f": {row.because}"
        carried = f"{row.asked} asked, {row.carried} found"
        console.print(f"- {escape(row.badge)}: {escape(row.what)}, {row.placement}, {escape(carried + why)}")


def _print_trust(console: Console, rows: Sequence[TrustLine]) -> None:
    """Print how far the numbers can be trusted: all grades, and the worst curves with their reasons."""
    if not rows:
        return
    console.print("\n[bold]Trust[/bold]")
    for grade in sorted({row.grade for row in rows}, reverse=True)[:2]:
        some = [row for row in rows if row.grade == grade]
        console.print(f"- {grade} ({MEANINGS[grade]}): the worst points of {len(some)} of {len(rows)} curves")
        first = some[0]
        where = f"{first.what}, {first.placement}, {first.metric}, at {first.size}"
        console.print(f"  {escape(where)}: {escape(first.reasons)}")
