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


def _window(series: Mapping[int, tuple[int, ...]], *, sees_whole: bool = True) -> StreamWindow:
    return StreamWindow(
        launch_id=1, block=1, case_id="c", burst=1, duration_ns=DURATION_MS * MS, interval_ns=INTERVAL_MS * MS,
        first_start_ns=0, receiver_starts_ns=(0,), skew_ns=0, series=series, after_bytes=dict.fromkeys(series, 0),
        sees_whole=sees_whole, least_bytes=STREAMS * SIZE_BYTES,
    )  # fmt: skip


def _share_of_wire(window: StreamWindow) -> float:
    return window.metric(AGGREGATE) / (WIRE_BYTES_PER_MS * 1000)


MESSAGE_MS = SIZE_BYTES / WIRE_BYTES_PER_MS
IN_TURN = {rank: _seen((rank + STREAMS * turn) * MESSAGE_MS for turn in range(8)) for rank in range(1, STREAMS + 1)}
"""The wire is full, and carries one whole message after the other, of each stream in turn."""
AT_ONCE = {rank: _seen(STREAMS * MESSAGE_MS * turn for turn in range(1, 9)) for rank in range(1, STREAMS + 1)}
"""The wire is full, and carries a frame of each stream in turn."""


def test_messages_that_wait_for_their_turn_are_not_counted_as_if_they_came() -> None:
    assert _share_of_wire(_window(IN_TURN, sees_whole=False)) > 1.05
    assert _share_of_wire(_window(IN_TURN)) == pytest.approx(1, abs=0.01)


def test_of_streams_that_come_evenly_all_counts() -> None:
    window = _window(AT_ONCE)
    assert window.too_early_bytes < 0.1 * STREAMS * SIZE_BYTES
    assert _share_of_wire(window) == pytest.approx(1, abs=0.01)


def test_each_stream_loses_the_same_share() -> None:
    as_told, mended = _window(IN_TURN, sees_whole=False).stream_bytes, _window(IN_TURN).stream_bytes
    shares = [mended[rank] / count for rank, count in as_told.items()]
    assert max(shares) == pytest.approx(min(shares))


def test_a_moment_at_which_whoever_looks_was_late_changes_nothing() -> None:
    late = {rank: (*counts[:60], 0, 0, sum(counts[60:63]), *counts[63:]) for rank, counts in IN_TURN.items()}
    seen = _window(late).too_early_bytes
    assert seen == pytest.approx(_window(IN_TURN).too_early_bytes, rel=0.05)


def test_streams_that_stand_still_lose_half_a_message_each_at_most() -> None:
    stalls = {rank: (*counts[:50], *(0,) * 150) for rank, counts in AT_ONCE.items()}
    window = _window(stalls)
    assert window.too_early_bytes == 0.5 * STREAMS * SIZE_BYTES


def test_fewer_messages_than_streams_are_no_aggregate() -> None:
    few = replace(_window({1: (600,) * 200, 2: (300,) * 200}), least_bytes=2 * SIZE_BYTES)
    assert not few.is_comparable
    told = refused_sentence({(1, "c"): [few]})
    assert told == (
        "1 of 1 window is refused, and launch 1 lacks an aggregate: fewer messages came than streams were sent, which "
        "says little of what came when; a longer `duration` or shorter messages help."
    )
    assert replace(few, series=AT_ONCE).is_comparable
    assert replace(few, sees_whole=False).is_comparable, "parts of messages were seen"
    assert replace(few, has_whole_rounds=True).is_comparable, "a round that takes longer than the window is waited for"


def test_where_the_wire_fills_late_nothing_is_taken_away() -> None:
    assert _window({1: (100,) * 100 + (300,) * 100, 2: (300,) * 200}).too_early_bytes == 0


def test_a_short_window_says_little_of_what_came_too_early() -> None:
    early = {1: (2_000, *(1_000,) * 39)}
    for size_bytes, expected in ((8_000, 0), (3_000, 1_000)):
        short = replace(_window(early), duration_ns=400 * MS, least_bytes=size_bytes)
        assert short.too_early_bytes == pytest.approx(expected)
    long = replace(_window({1: (2_000, *(1_000,) * 199)}), least_bytes=8_000)
    assert long.too_early_bytes == pytest.approx(1_000)
