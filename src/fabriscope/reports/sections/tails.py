"""How slow the slow operations are: percentiles, jitter, stalls, and the distribution as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.levels import entry_levels
from fabriscope.analysis.values.tails import STALL, Tail, distributions
from fabriscope.analysis.words import (
    TOO_WIDE,
    UNKNOWN,
    interval_text,
    message_text,
    share_text,
    size_text,
    tells_size,
    time_text,
)
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.metrics import metric_of
from fabriscope.reports._group_figures import is_of_group
from fabriscope.reports._level_picture import level_picture
from fabriscope.reports._style import Style, style_of
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
    "median over bursts); shown is the median launch with its 95 % interval (too wide: launches differ too much). A "
    "percentile beyond the median stands where every launch has ten operations beyond it. Jitter is the mean "
    "difference of an operation and the one before it. Operations follow each other: while one is slow the next one "
    "waits, so that a share is one of operations and not of time."
)
_BRIEF_NOTE = (
    "p50 is the median over all operations of a launch, at this one size; latencies elsewhere are medians over bursts, "
    "those of small messages over several sizes: where some bursts are faster than others the two differ."
)
_STALL_NOTE = f"A stalled operation took more than {STALL} times the median of its launch."


def _build(results: Results) -> list[Section]:
    every = results.tails
    if not every:
        return []
    stalls = _stalls(every)
    said: list[Block] = [Bullets(stalls), Paragraph(_STALL_NOTE, is_note=True)] if stalls else []
    blocks = [*said]
    blocks += [Grid([*_pictures(results), *_levels(results)]), _table(every), Paragraph(_NOTE, is_note=True)]
    brief: list[Block] = [Heading("The slowest operations, at each curve's smallest message"), _brief(every)]
    brief += [Paragraph(_BRIEF_NOTE, is_note=True), *said]
    return [Section("tails", "Tails: how slow the slow operations are", blocks, "Tails", brief=brief)]


def _stalls(every: list[Tail]) -> list[str]:
    """Return what stalled, in sentences, a curve's worst size each."""
    said = []
    for sizes in parts(every, lambda one: (one.curve, one.metric_id)):
        worst = max(sizes, key=lambda one: one.stall_share)
        if worst.stall_ns is not None and worst.stall_share >= _LEAST_STALLS:
            launches = f"{worst.stalled_launch_count} of {worst.launch_count} launches"
            said.append(
                f"{_subject(worst)}{_at(worst)}: {share_text(worst.stall_share)} of the operations stalled, in "
                f"{launches}, usually for {time_text(worst.stall_ns)}."
            )
    return said


def _subject(one: Tail) -> str:
    """Return a curve's name, with the benchmark where that is of many ranks: one run has several."""
    return f"{one.label()}, {kind_of(one.benchmark).title.lower()}" if is_of_group(one.benchmark) else one.label()


def _at(one: Tail) -> str:
    return f" at {size_text(one.message_size_bytes)}" if tells_size(one.benchmark, one.message_size_bytes) else ""


def _size(one: Tail) -> str:
    return message_text(one.benchmark, one.message_size_bytes)


def _pictures(results: Results) -> list[list[Block]]:
    """Return a distribution for each benchmark and placement, of each curve's smallest message."""
    style = style_of(results.looks(), for_page=True)
    first = _firsts(results.tails)
    known = distributions(results.run, first)
    found: list[list[Block]] = []
    for curves in parts(first, lambda one: (one.placement, one.benchmark, one.metric_id, one.message_size_bytes)):
        drawn = [one for one in curves if len(known.get(one.case_id, [])) > 1][:_MOST_LINES]
        if drawn:
            lines = [
                Line(
                    one.label(), style.hues.get(style.hue_of(one), "currentColor"), style.dash(one.layer_label), points
                )
                for one in drawn
                if (points := known[one.case_id])
            ]
            picture = Picture(f"{_what(curves[0])}: the share of operations that take longer", tail_picture(lines))
            few = [one.label() for one in curves if len(known.get(one.case_id, [])) <= 1]
            more = [one.label() for one in curves if one not in drawn and one.label() not in few]
            words = [*_not_drawn("too few operations in a launch", few), *_not_drawn("no room", more)]
            found.append([picture, *words])
    return found


def _line(one: Tail, style: Style, points: Sequence[tuple[float, float]]) -> Line:
    colour = style.hues.get(style.hue_of(one), "currentColor")
    return Line(one.label(), colour, style.dash(one.layer_label), points)


def _not_drawn(why: str, labels: Sequence[str]) -> list[Block]:
    """Return which curves a picture lacks, and why."""
    return [Paragraph(f"Not drawn ({why}): {', '.join(labels)}.", is_note=True)] if labels else []


def _levels(results: Results) -> list[list[Block]]:
    """Return what the machine was like over the run, of the entries whose launches differ most."""
    entries = sorted(entry_levels(results.run), key=lambda one: -one.spread)[:_MOST_LINES]
    if not entries:
        return []
    caption = "Over the run: how much slower (above) or faster than usual each launch was, burst by burst"
    return [[Picture(caption, level_picture(entries))]]


def _what(one: Tail) -> str:
    return f"{metric_of(one.metric_id).title}{_at(one)}, {PLACEMENT_NAMES[one.placement]}"


def _table(every: list[Tail]) -> Table:
    """Return each curve's smallest message, and then all other sizes."""
    numbers = ("size", "p50", "p90", "p99", "p99.9", "worst", "jitter", "stalls")
    columns = [Column("what"), *(Column(name, "number") for name in numbers)]
    firsts = _firsts(every)
    shown = [*firsts, *(one for one in every if one not in firsts)]
    groups = [(one.label(), one.placement, one.metric_id) if number >= len(firsts) else one.placement
              for number, one in enumerate(shown)]  # fmt: skip
    return Table(columns, [_row(one) for one in shown], groups, "tails", min(len(firsts), _MOST_ROWS), "more sizes")


def _firsts(every: list[Tail]) -> list[Tail]:
    """Return the smallest message of each curve."""
    return [sizes[0] for sizes in parts(every, lambda one: (one.curve, one.metric_id))]


def _row(one: Tail) -> Row:
    batch = f", of {one.operations_per_sample} operations each" if one.operations_per_sample > 1 else ""
    where = f"{metric_of(one.metric_id).title}, {PLACEMENT_NAMES[one.placement]}{batch}"
    centres = (one.p50, one.p90, one.p99, one.p99_9, one.worst, one.jitter)
    stalls = share_text(one.stall_share) if one.stall_share else "none"
    return [Cell(_subject(one), where), _size(one), *map(_cell, centres), stalls]


def _cell(centre: Centre) -> Cell:
    if centre.value is None:
        return Cell(UNKNOWN)
    interval = interval_text(centre.low, centre.high, time_text)
    return Cell(time_text(centre.value), "too wide" if interval == TOO_WIDE else interval)


def _brief(every: list[Tail]) -> Table:
    """Return what fits into a terminal."""
    names = ("size", "p50", "p99", "p99.9", "worst", "jitter")
    columns = [Column("what"), *(Column(name, "number") for name in names)]
    rows: list[Row] = [
        [
            _subject(one),
            _size(one),
            *(time_text(centre.value) for centre in (one.p50, one.p99, one.p99_9, one.worst, one.jitter)),
        ]
        for one in _firsts(every)
    ]
    return Table(columns, rows)


SECTION = Sections("tails", 57, _build)
