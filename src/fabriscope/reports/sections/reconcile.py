"""What several programs state of one thing, each beside ours by its own definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fabriscope.analysis.comparing.reconciled import Reconciled, Statement
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.known_traps import KnownTrap, known_traps, sentences
from fabriscope.analysis.words import UNKNOWN, interval_text, size_text, value_text
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counting import listed
from fabriscope.model.metrics import metric_of
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_NOTE = (
    "Printed over ours: what a program prints, over what our samples of the same blocks come to by that program’s "
    "definition, with its 95 % interval. Where three blocks or more show that it is not 1, all sizes tested together, "
    "definitions do not explain the difference: what is left is the programs’ own (their system calls, buffers, "
    "wake-ups)."
)
_NOTHING_OF_OURS = (
    "What was printed stands side by side: our engine measured nothing here by these definitions, so that nothing is "
    "brought to one, and a difference may be one of definitions (a median against a mean, a stream against windows). A "
    "plan that names `instruments: [engine, ...]` measures ours on the same link."
)
_OF_LOGS = " Logs stand together by their labels: that they are of one link is what these say, and nobody else."


def _build(results: Results) -> list[Section]:
    links = parts(results.reconciled, lambda one: (one.curve, one.what))
    if not links:
        return []
    blocks: list[Block] = []
    brief: list[Block] = []
    for sizes in links:
        blocks += [_lead(sizes), _table(sizes)]
        brief += [Heading(_where(sizes[0])), _short(sizes), _lead(sizes)]
    if traps := sentences(_traps(results)):
        told = Bullets([f"Known trap {sentence}." for sentence in traps])
        blocks, brief = [*blocks, told], [*brief, told]
    has_ours = any(_has_ours(sizes) for sizes in links)
    of_logs = _OF_LOGS if results.run.manifest.plan.imported is not None else ""
    note = Paragraph(f"{_NOTE if has_ours else _NOTHING_OF_OURS}{of_logs}", is_note=True)
    title, short = ("Programs by one definition", "By one definition") if has_ours else ("Programs side by side",) * 2
    return [Section("reconcile", title, [*blocks, note], short, [*brief, note])]


def _has_ours(sizes: Sequence[Reconciled]) -> bool:
    """Return whether anything of ours stands beside what was printed."""
    return any(said.ours is not None for one in sizes for said in one.statements)


def _traps(results: Results) -> list[KnownTrap]:
    """Return the known traps of what is stated here."""
    stated = {
        (replace(one.curve, instrument=said.instrument), said.metric_id)
        for one in results.reconciled
        for said in one.statements
    }
    return [trap for trap in known_traps(results.run, results.graded) if (trap.curve, trap.metric_id) in stated]


def _lead(sizes: list[Reconciled]) -> Paragraph:
    """Return in one sentence how far the programs are apart, before and after."""
    before = max(one.spread_before for one in sizes)
    after = max((one.spread_after for one in sizes if one.spread_after is not None), default=None)
    text = f"{_where(sizes[0])}: as printed, the programs differ by up to {before:.2f} times"
    if after is not None:
        text += f"; each over ours by its own definition, by up to {after:.2f} times"
    if several := listed(list(dict.fromkeys(name for one in sizes for name in one.of_several))):
        text += f" (percentiles beyond the median, and single ranks, among their like alone: {several} printed several)"
    left = dict.fromkeys(said.instrument for one in sizes for said in one.left_over)
    return Paragraph(f"{text}. Not explained by definitions: {', '.join(left)}." if left else f"{text}.")


def _where(one: Reconciled) -> str:
    what = one.what.replace("_", " ")
    if one.what == "collective_latency":
        what = f"{kind_of(one.curve.benchmark).title}: {what}"
    return f"{what[:1].upper()}{what[1:]}, {one.curve.label()}"


def _table(sizes: list[Reconciled]) -> Table:
    told = [(one.message_size_bytes, said) for one in sizes for said in one.statements]
    has_ours = _has_ours(sizes)
    numbers = ("size", "printed", *(("ours, alike", "printed over ours") if has_ours else ()))
    size, *rest = (Column(name, "number") for name in numbers)
    columns = [size, Column("program", "name"), *rest, *([Column("how ours was taken")] if has_ours else [])]
    rows = [_row(*row)[: len(columns)] for row in told]  # without ours, what was printed stands side by side
    return Table(columns, rows, [size_bytes for size_bytes, _ in told])


def _row(size_bytes: int, said: Statement) -> Row:
    printed, text = said.printed, partial(value_text, metric_id=said.metric_id)
    return [
        size_text(size_bytes),
        Cell(said.instrument, metric_of(said.metric_id).title),
        Cell(text(printed.value), interval_text(printed.low, printed.high, text)),
        UNKNOWN if said.ours is None else text(said.ours),
        _excess(said),
        said.how,
    ]


def _excess(said: Statement) -> Cell:
    excess = said.excess
    if excess is None or excess.value is None:
        return Cell(UNKNOWN)
    return Cell(f"{excess.value:.3f}", interval_text(excess.low, excess.high, "{:.3f}".format))


def _short(sizes: list[Reconciled]) -> Table:
    """Return what fits into a terminal."""
    numbers = ("printed", *(("over ours",) if _has_ours(sizes) else ()))
    columns = [Column("size", "number"), Column("program"), *(Column(name, "number") for name in numbers)]
    rows: list[list[str | Cell]] = [
        [
            size_text(one.message_size_bytes),
            f"{said.instrument}, {metric_of(said.metric_id).title.lower()}",
            value_text(said.printed.value, said.metric_id),
            _excess(said),
        ]
        for one in sizes
        for said in one.statements
    ]
    return Table(columns, [row[: len(columns)] for row in rows])


SECTION = Sections("reconcile", 55, _build)
