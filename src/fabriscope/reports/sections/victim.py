"""Bystanders of many to one: what a flow suffers beside an incast that it has no part in."""

from __future__ import annotations

from functools import partial

from fabriscope.analysis.incast.victims import SLOWED, UNDECIDED, Victim, victims_of
from fabriscope.analysis.results import Results
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.words import UNKNOWN, NumberText, interval_text, significant, size_text, value_text
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_NOTE = (
    "Each launch measures the flow in turns with and without the incast; the slowdown is the ratio of its two values, "
    "and the interval goes over launches. A launch's latency is the mean of all its operations, because a pause holds "
    "up few of them for long; latencies of other benchmarks are medians. The incast is under way before the "
    "first operation of a burst and ends after the last. The 99th percentile is told where a launch timed a thousand "
    "operations. Drops and pauses are of whole launches: on the switch's port to the incast's receiver, of its "
    "senders, and of the flow's own hosts."
)
_STYLES = {SLOWED: "slower", UNDECIDED: "undecided"}


def found(results: Results) -> list[Victim]:
    """Return the victims of a run."""
    return victims_of(results.run, results.launch_values, results.launch_tails, results.rules)


def _build(results: Results) -> list[Section]:
    victims = found(results)
    if not victims:
        return []
    numbers = ("streams", "size", "alone", "beside", "slowdown", "99th percentile", "dropped", "pauses", "launches")
    columns = [Column("what"), *(Column(name, "number") for name in numbers), Column("state")]
    sentences = [one.sentence() for one in victims]
    table = Table(columns, [_row(one) for one in victims])
    blocks: list[Block] = [Bullets(sentences), table, Paragraph(_NOTE, is_note=True)]
    brief: list[Block] = [Heading("bystanders"), Bullets(sentences)]
    return [Section("victim", "Bystanders of many to one", blocks, "Bystanders", brief=brief)]


def _row(one: Victim) -> Row:
    pauses = [count for count in (one.evidence.pauses, one.evidence.victim_pauses) if count is not None]
    return [
        f"{one.curve.label(ranks=False)}, shares {one.shares}",
        str(one.stream_count),
        size_text(one.message_size_bytes),
        _of_metric(one.alone, one.metric_id),
        _of_metric(one.beside, one.metric_id),
        _times(one.slowdown),
        _times(one.p99_slowdown),
        UNKNOWN if one.evidence.dropped_frames is None else str(one.evidence.dropped_frames),
        " + ".join(map(str, pauses)) or UNKNOWN,
        str(one.pair_count),
        Cell(one.state, style=_STYLES.get(one.state, "equivalent")),
    ]


def _of_metric(centre: Centre, metric_id: str) -> Cell:
    return _cell(centre, partial(value_text, metric_id=metric_id))


def _times(centre: Centre) -> Cell:
    return _cell(centre, significant)


def _cell(centre: Centre, text: NumberText) -> Cell:
    return Cell(UNKNOWN if centre.value is None else text(centre.value), interval_text(centre.low, centre.high, text))


SECTION = Sections("victim", 56, _build)
