"""Streams of which whole messages alone are seen: what is counted of them is what the wire carried, not what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from fabriscope.analysis.incast.incast_words import refused_sentence
from fabriscope.analysis.values.streams import AGGREGATE, StreamWindow

MS = 1_000_000
STREAMS, SIZE_BYTES, WIRE_BYTES_PER_MS = 10, 96_000, 2_300
DURATION_MS, INTERVAL_MS = 2_000, 10


def _seen(ends_ms: Iterable[float]) -> tuple[int, ...]:
    """Return what is written down of a stream whose messages are whole at these times: each since the one before."""
    counts, before = [0.0] * (DURATION_MS // INTERVAL_MS), 0.0
    for end in ends_ms:
        for place in range(len(counts)):
            from_ms, to_ms = max(before, place * INTERVAL_MS), min(end, (place + 1) * INTERVAL_MS)
            counts[place] += SIZE_BYTES * max(0.0, to_ms - from_ms) / (end - before)
        before = end
    return tuple(round(count) for count in counts)


def _window(series: Mapping[int, tuple[int, ...]], under_way_bytes: int) -> StreamWindow:
    return StreamWindow(
        launch_id=1, block=1, case_id="c", burst=1, duration_ns=DURATION_MS * MS, interval_ns=INTERVAL_MS * MS,
        first_start_ns=0, receiver_starts_ns=(0,), skew_ns=0, series=series, after_bytes=dict.fromkeys(series, 0),
        under_way_bytes=under_way_bytes, least_bytes=STREAMS * SIZE_BYTES,
    )  # fmt: skip


def _share_of_wire(window: StreamWindow) -> float:
    return window.metric(AGGREGATE) / (WIRE_BYTES_PER_MS * 1000)


MESSAGE_MS = SIZE_BYTES / WIRE_BYTES_PER_MS
IN_TURN = {rank: _seen((rank + STREAMS * turn) * MESSAGE_MS for turn in range(8)) for rank in range(1, STREAMS + 1)}
"""The wire is full, and carries one whole message after the other, of each stream in turn."""
AT_ONCE = {rank: _seen(STREAMS * MESSAGE_MS * turn for turn in range(1, 9)) for rank in range(1, STREAMS + 1)}
"""The wire is full, and carries a frame of each stream in turn."""


def test_messages_that_wait_for_their_turn_are_not_counted_as_if_they_came() -> None:
    assert _share_of_wire(_window(IN_TURN, 0)) > 1.05
    assert _share_of_wire(_window(IN_TURN, STREAMS * SIZE_BYTES)) == pytest.approx(1, abs=0.01)


def test_streams_that_come_evenly_are_counted_from_the_start() -> None:
    window = _window(AT_ONCE, STREAMS * SIZE_BYTES)
    assert window.counted_from_ns == 0
    assert _share_of_wire(window) == pytest.approx(1, abs=0.01)


def test_at_least_half_of_the_window_is_counted() -> None:
    window = _window(IN_TURN, 1000 * STREAMS * SIZE_BYTES)
    assert window.counted_from_ns == DURATION_MS * MS // 2
    assert sum(window.stream_bytes.values()) < sum(sum(counts) for counts in IN_TURN.values()) * 0.6


def test_fewer_messages_than_streams_are_no_aggregate() -> None:
    few = replace(_window({1: (600,) * 200, 2: (300,) * 200}, 2 * SIZE_BYTES), least_bytes=2 * SIZE_BYTES)
    assert not few.is_comparable
    told = refused_sentence({(1, "c"): [few]})
    assert told == (
        "1 of 1 window is refused, and launch 1 lacks an aggregate: fewer messages came than streams were sent, which "
        "says little of what came when; a longer `duration` or shorter messages help."
    )
    assert replace(few, series=AT_ONCE).is_comparable
    assert replace(few, under_way_bytes=0).is_comparable, "parts of messages were seen"
    assert replace(few, has_whole_rounds=True).is_comparable, "a round that takes longer than the window is waited for"


def test_counting_begins_where_as_much_has_arrived_as_may_be_under_way() -> None:
    counts: Mapping[int, tuple[int, ...]] = {1: (100, 100, 700, 700, *(100,) * 196), 2: (300,) * 200}
    for under_way_bytes, from_ms in ((1600, 30), (1800, 30), (1801, 40), (0, 0)):
        window = replace(_window(counts, under_way_bytes), least_bytes=2)
        assert window.counted_from_ns == from_ms * MS


def test_an_aggregate_is_never_more_for_it() -> None:
    late = _window({1: (100,) * 100 + (300,) * 100, 2: (300,) * 200}, 40_000)
    assert late.counted_from_ns == 0
