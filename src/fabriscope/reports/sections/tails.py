"""How slow the slow operations are: percentiles, jitter, stalls, and the distribution as a picture."""

from __future__ import annotations

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.levels import entry_levels
from fabriscope.analysis.values.tails import STALL, Tail, distributions
from fabriscope.analysis.words import UNKNOWN, interval_text, share_text, size_text, time_text
from fabriscope.model.metrics import metric_of
from fabriscope.reports._level_picture import level_picture
from fabriscope.reports._style import style_of
from fabriscope.reports._tail_picture import Line, tail_picture
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Row,
    Section,
    Sections,
    Table,
)

_MOST_ROWS = 24
_MOST_LINES = 8
_LEAST_STALLS = 1e-4
"""A smaller share of operations is not named."""
_NOTE = (
    "Of each launch the percentile of its own operations, whichever burst they were in (a latency elsewhere is the "
    "median over bursts); shown is the median launch, with its 95 % interval where it is narrow enough to be read. A "
    "percentile beyond the median stands where every launch has ten operations beyond it. Jitter is the mean "
    "difference of an operation and the one before it. Operations follow each other: while one is slow the next one "
    "waits, so that a share is one of operations and not of time."
)


def _build(results: Results) -> list[Section]:
    every = results.tails
    if not every:
        return []
    stalls = _stalls(every)
    blocks: list[Block] = [Bullets(stalls)] if stalls else []
    blocks += [Grid([*_pictures(results), *_levels(results)]), _table(every), Paragraph(_NOTE, is_note=True)]
    brief: list[Block] = [Heading("The slowest operations, at each curve's smallest message"), _brief(every)]
    brief += [Bullets(stalls)] if stalls else []
    return [Section("tails", "Tails: how slow the slow operations are", blocks, "Tails", brief=brief)]


def _stalls(every: list[Tail]) -> list[str]:
    """Return what stalled, in sentences, a curve's worst size each."""
    said = []
    for sizes in parts(every, lambda one: (one.curve, one.metric_id)):
        worst = max(sizes, key=lambda one: one.stall_share)
        if worst.stall_ns is not None and worst.stall_share >= _LEAST_STALLS:
            launches = f"{worst.stalled_launch_count} of {worst.launch_count} launches"
            said.append(
                f"{worst.label()} at {size_text(worst.message_size_bytes)}: {share_text(worst.stall_share)} of the "
                f"operations stalled, in {launches}: they took more than {STALL} times the median; in the median "
                f"launch {time_text(worst.stall_ns)} was usual for them."
            )
    return said


def _pictures(results: Results) -> list[list[Block]]:
    """Return a distribution for each benchmark and placement, of each curve's smallest message."""
    style = style_of(results.looks(), for_page=True)
    first = [sizes[0] for sizes in parts(results.tails, lambda one: (one.curve, one.metric_id))]
    known = distributions(results.run, first)
    found: list[list[Block]] = []
    for curves in parts(first, lambda one: (one.placement, one.benchmark, one.metric_id, one.message_size_bytes)):
        lines = [
            Line(one.label(), style.hues.get(style.hue_of(one), "currentColor"), style.dash(one.layer_label), points)
            for one in curves[:_MOST_LINES]
            if len(points := known.get(one.case_id, [])) > 1
        ]
        if lines:
            found.append(
                [Picture(f"{_what(curves[0])}: the share of operations that take longer", tail_picture(lines))]
            )
    return found


def _levels(results: Results) -> list[list[Block]]:
    """Return what the machine was like over the run, of the entries whose launches differ most."""
    entries = sorted(entry_levels(results.run), key=lambda one: -one.spread)[:_MOST_LINES]
    if not entries:
        return []
    caption = "Over the run: how much slower (above) or faster than usual each launch was, burst by burst"
    return [[Picture(caption, level_picture(entries))]]


def _what(one: Tail) -> str:
    size = size_text(one.message_size_bytes)
    return f"{metric_of(one.metric_id).title} at {size}, {PLACEMENT_NAMES[one.placement]}"


def _table(every: list[Tail]) -> Table:
    numbers = ("size", "p50", "p90", "p99", "p99.9", "worst", "jitter", "stalls")
    columns = [Column("what"), *(Column(name, "number") for name in numbers)]
    groups = [(one.label(), one.placement, one.metric_id) for one in every]
    return Table(columns, [_row(one) for one in every], groups, most=_MOST_ROWS, rest="more sizes")


def _row(one: Tail) -> Row:
    batch = f", of {one.operations_per_sample} operations each" if one.operations_per_sample > 1 else ""
    where = f"{metric_of(one.metric_id).title}, {PLACEMENT_NAMES[one.placement]}{batch}"
    centres = (one.p50, one.p90, one.p99, one.p99_9, one.worst, one.jitter)
    stalls = share_text(one.stall_share) if one.stall_share else "none"
    return [Cell(one.label(), where), size_text(one.message_size_bytes), *map(_cell, centres), stalls]


def _cell(centre: Centre) -> Cell:
    if centre.value is None:
        return Cell(UNKNOWN)
    return Cell(time_text(centre.value), interval_text(centre.low, centre.high, time_text))


def _brief(every: list[Tail]) -> Table:
    """Return what fits into a terminal."""
    names = ("size", "p50", "p99", "p99.9", "worst", "jitter")
    columns = [Column("what"), *(Column(name, "number") for name in names)]
    first = [sizes[0] for sizes in parts(every, lambda one: (one.curve, one.metric_id))]
    rows: list[Row] = [
        [
            one.label(),
            size_text(one.message_size_bytes),
            *(time_text(centre.value) for centre in (one.p50, one.p99, one.p99_9, one.worst, one.jitter)),
        ]
        for one in first
    ]
    return Table(columns, rows)


SECTION = Sections("tails", 57, _build)
