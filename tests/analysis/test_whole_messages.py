"""Streams of which whole messages alone are seen: what is counted of them is what the wire carried, not what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

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
        under_way_bytes=under_way_bytes,
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


def test_streams_that_come_evenly_have_the_same_either_way() -> None:
    for under_way_bytes in (0, STREAMS * SIZE_BYTES):
        assert _share_of_wire(_window(AT_ONCE, under_way_bytes)) == pytest.approx(1, abs=0.01)


def test_at_least_half_of_the_window_is_counted() -> None:
    window = _window(IN_TURN, 1000 * STREAMS * SIZE_BYTES)
    assert window.counted_from_ns == DURATION_MS * MS // 2
    assert sum(window.stream_bytes.values()) < sum(sum(counts) for counts in IN_TURN.values()) * 0.6


def test_counting_begins_where_as_much_has_arrived_as_may_be_under_way() -> None:
    counts: Mapping[int, tuple[int, ...]] = {1: (100,) * 200, 2: (300,) * 200}
    assert _window(counts, 1200).counted_from_ns == 30 * MS
    assert _window(counts, 1201).counted_from_ns == 40 * MS
    assert _window(counts, 0).counted_from_ns == 0
