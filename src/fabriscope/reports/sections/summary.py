"""The summary table: of every curve of a ping-pong the largest bandwidth, where it is reached, and the latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.definitions import shown_definition
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.summary import RATE, SMALL_MESSAGE_BYTES, TIME, Summary
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import DIGITS, UNKNOWN, interval_text, significant, size_text
from fabriscope.model.metrics import metric_of
from fabriscope.reports._badges import badge_cells, badge_columns
from fabriscope.reports.section import (
    Block,
    Cell,
    Column,
    Heading,
    Link,
    Paragraph,
    Row,
    Section,
    Sections,
    Table,
    Text,
)

_TO_MEGABITS, _TO_MICROSECONDS = 8e-6, 1e-3
_NOTE = (
    "Bandwidth is that of a ping-pong, message size over half a round trip, at the size where it is largest. Latency "
    "is half a round trip of messages under 64\N{NO-BREAK SPACE}B. Separate buffers: sent from a second one that is "
    "never written (OSU, IMB); same: what was received is sent again (NetPIPE, qperf). Beside each value stands its "
    "95\N{NO-BREAK SPACE}% interval over launches. Trust is a grade for each of the two, explained "
)


def _build(results: Results) -> list[Section]:
    summaries = [row for row in results.summaries if (row.bandwidth.value, row.latency.value) != (None, None)]
    if not summaries:
        return []
    points = {part[0].curve: part for part in parts(results.graded, lambda row: row.curve)}
    of_looks = {_subject(part[0]): part for part in parts(results.graded, _subject)}
    has_badge = bool(results.transport.height)
    rows: list[Row] = [
        [
            PLACEMENT_NAMES[row.placement],
            row.fabric or UNKNOWN,
            f"{row.layer_label}, {row.series}" if row.series else row.layer_label,
            _buffers(points.get(row.curve, [])),
            _value(row.bandwidth, _TO_MEGABITS),
            f"{row.share_of_limit:.0%}" if row.share_of_limit else UNKNOWN,
            size_text(row.bandwidth_message_size_bytes),
            _value(row.latency, _TO_MICROSECONDS),
            str(row.launch_count or 0),
            *badge_cells(of_looks.get(_subject(row), []), has_badge=has_badge),
            _grades(points.get(row.curve, []), row.bandwidth_message_size_bytes),
        ]
        for row in summaries
    ]
    columns = [
        Column("placement", "name"), Column("network", "name"), Column("layer"), Column("buffers"),
        Column("largest bandwidth, Mb/s", "number"), Column("of the wire’s", "number"),
        Column("at message size", "number"), Column("latency, µs", "number"),
        Column("launches", "number"), *badge_columns(has_badge=has_badge), Column("trust"),
    ]  # fmt: skip
    table = Table(columns, rows, [(row.placement, row.fabric) for row in summaries], "summary")
    note: Text = (_NOTE, Link("below", "trust"), "." + (_BADGE_NOTE if has_badge else ""))
    used = dict.fromkeys(_buffers(points.get(row.curve, [])) for row in summaries)
    brief = [block for part in parts(summaries, lambda row: row.placement) for block in _brief(part)]
    brief.append(Paragraph(f"{_BRIEF_NOTE} Buffers: {', '.join(used)}.", is_note=True))
    blocks: list[Block] = [table, Paragraph(note, is_note=True)]
    return [Section("summary", "Summary table", blocks, brief=brief)]


_BRIEF_NOTE = (
    "Mb/s: the largest ping-pong bandwidth. µs: the latency of messages under 64\N{NO-BREAK SPACE}B, the mean over "
    "their sizes (geometric); of each size in a launch the median over bursts."
)
_BADGE_NOTE = " Transport is the verdict on what carried the bytes; refuted launches are left out here."


def _brief(summaries: Sequence[Summary]) -> list[Block]:
    """Return the table of one placement, as wide as a terminal."""
    rows = [
        [
            row.fabric or UNKNOWN,
            f"{row.layer_label}, {row.series}" if row.series else row.layer_label,
            _number(row.bandwidth, _TO_MEGABITS),
            size_text(row.bandwidth_message_size_bytes),
            f"{row.share_of_limit:.0%}" if row.share_of_limit else UNKNOWN,
            _number(row.latency, _TO_MICROSECONDS),
            _interval(row.latency, _TO_MICROSECONDS),
        ]
        for row in summaries
    ]
    heads = ("Mb/s", "at size", "of wire", "µs", "95 % interval")
    columns = [Column("network"), Column("layer"), *(Column(head, "number") for head in heads)]
    return [Heading(PLACEMENT_NAMES[summaries[0].placement]), Table(columns, rows)]


def _subject(curve: Curve) -> Curve:
    """Return the curve whatever the benchmark."""
    return replace(curve.curve, benchmark="")


def _value(centre: Centre, factor: float) -> Cell:
    return Cell(_number(centre, factor), _interval(centre, factor))


def _number(centre: Centre, factor: float) -> str:
    return UNKNOWN if centre.value is None else _scaled(centre.value, factor)


def _interval(centre: Centre, factor: float) -> str:
    return interval_text(centre.low, centre.high, partial(_scaled, factor=factor))


def _scaled(value: float, factor: float, digits: int = DIGITS) -> str:
    return significant(value * factor, digits)


def _buffers(points: Sequence[GradedEstimate]) -> str:
    """Return from which buffers the messages of a row came."""
    known = shown_definition(points, RATE) or shown_definition(points, TIME)
    return metric_of(known).quantity.buffers.value if known else UNKNOWN


def _grades(points: Sequence[GradedEstimate], size_bytes: int | None) -> str:
    """Return the grades of the two numbers of a row: of the bandwidth, and the worst of the latency."""
    rate_id, time_id = shown_definition(points, RATE), shown_definition(points, TIME)
    rate = [row.grade for row in points if row.metric_id == rate_id and row.message_size_bytes == size_bytes]
    small = [
        row.grade for row in points if row.metric_id == time_id and 1 <= row.message_size_bytes < SMALL_MESSAGE_BYTES
    ]
    return ", ".join(max((grade for grade in part if grade), default=UNKNOWN) for part in (rate, small))


SECTION = Sections("summary", 40, _build)
