"""What the lab's switch counted in windows of streams, against sums by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.test_incast import MS, window

from fabriscope.analysis.incast import switch_windows
from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.incast.switch_windows import SwitchCounts, WindowPorts, evidence_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.manifest import Manifest
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import PortSeries

ORIGIN_NS = 1_700_000_000_000_000_000
BEGIN_NS = ORIGIN_NS + 1000
"""Of the window, which takes 40 ms."""


def port(host: str, *periods: tuple[int, int, int, int]) -> PortSeries:
    """Return a port of which each period has an end (ms after the window's begin), queue, drops and pauses (and ms)."""
    ends, queues, drops, pauses = zip(*periods, strict=True) if periods else ((), (), (), ())
    at_ns = tuple(BEGIN_NS + end * MS for end in ends)
    nothing = (0,) * len(ends)
    paused_ns = tuple(one * MS for one in pauses)
    lengths = tuple(1 * MS if end == 16 else 10 * MS for end in ends)
    return PortSeries("eth", host, at_ns, queues, nothing, drops, nothing, pauses, paused_ns, lengths)


@pytest.fixture
def seen() -> WindowPorts:
    ports = (
        port("to", (-5, 900, 100, 0), (5, 800, 1, 0), (15, 1000, 2, 0), (16, 700, 4, 0), (45, 0, 8, 0), (55, 0, 64, 0)),
        port("a", (0, 0, 0, 50), (25, 0, 0, 3), (35, 0, 0, 4)),
        port("b", (26, 0, 0, 5)),
    )
    two = replace(window({1: (1, 1, 1, 1), 2: (1, 1, 1, 1)}), origin_unix_ns=ORIGIN_NS)
    entry = Entry("tcp", "eth", "inter", ("to", "a", "a", "b"))
    by_host = {one.host: one for one in ports}
    return WindowPorts(two, BEGIN_NS, BEGIN_NS + 40 * MS, entry, by_host)


def test_what_came_before_and_long_after_the_window_is_not_its_own(seen: WindowPorts) -> None:
    assert seen.total(seen.receivers, "dropped_frames") == 1 + 2 + 4 + 8
    assert seen.senders == ("a", "b")
    assert seen.total(seen.senders, "pauses") == 3 + 4 + 5


def test_intervals_have_the_fullest_queue_and_sums_of_the_rest(seen: WindowPorts) -> None:
    assert seen.by_interval(seen.receivers, "queue_bytes", max) == [1000, 1000, 0, 0]
    assert seen.by_interval(seen.receivers, "dropped_frames", sum) == [2, 5, 0, 4]
    assert seen.by_interval(seen.senders, "paused_ns", sum) == [0, 3.5 * MS, 6.5 * MS, 2 * MS]


def test_a_long_period_is_in_every_interval_of_it_and_its_sum_is_shared_out(seen: WindowPorts) -> None:
    long = replace(port("to", (41, 600, 9, 0)), length_ns=(50 * MS,))
    told = replace(seen, ports={**seen.ports, "to": long})
    assert told.by_interval(["to"], "queue_bytes", max) == [600] * 4
    assert sum(told.by_interval(["to"], "dropped_frames", sum)) == 9 * 40 // 50
    assert told.total(["to"], "dropped_frames") == 9
    assert replace(told, begin_unix_ns=BEGIN_NS + 41 * MS, end_unix_ns=BEGIN_NS + 50 * MS).total(["to"], "pauses") == 0


def test_periods_of_an_older_switch_are_taken_to_have_its_length(seen: WindowPorts) -> None:
    old = replace(seen.ports["to"], length_ns=())
    assert old.within("dropped_frames", BEGIN_NS, BEGIN_NS + 40 * MS) == (1, 2, 4, 8)
    assert old.until(BEGIN_NS + 5 * MS).length_ns == ()


def test_a_case_has_its_own_counts_and_the_rest_of_its_launches() -> None:
    of_entry = Evidence(50, 60, 70, 800, 9, 10, 11)
    assert evidence_of(None, of_entry) is of_entry
    assert evidence_of(SwitchCounts({"a": 2, "b": 3}, 4, 6), of_entry) == Evidence(5, 6, 4, 800, 9, 10, 11)


def test_a_launch_that_ended_has_nothing_of_what_came_then(seen: WindowPorts) -> None:
    early = seen.ports["to"].until(BEGIN_NS + 16 * MS)
    assert (early.at_unix_ns[-1], early.dropped_frames) == (BEGIN_NS + 16 * MS, (100, 1, 2, 4))


def test_a_launch_of_which_the_switch_told_nothing_takes_nothing_from_the_others(
    seen: WindowPorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, other = seen.entry, replace(seen.window, launch_id=2)
    run = RunData("", Manifest(2, cases={"c": Case(entry, "many_to_one", 8)}), (), pl.LazyFrame())
    monkeypatch.setattr(switch_windows, "windows_by_launch", lambda _: {(1, "c"): [seen.window], (2, "c"): [other]})
    monkeypatch.setattr(switch_windows, "ports_in", lambda _, window: seen if window is seen.window else None)
    assert switch_windows.counts_by_case(run) == {"c": SwitchCounts({"to": 15}, 0, 12, 0.0, 40 * MS)}


def test_a_port_without_a_value_for_each_period_is_refused() -> None:
    with pytest.raises(ValueError, match="pauses of to has 0 of 1 values"):
        PortSeries("eth", "to", (1,), (1,), (1,), (1,), (1,), (), (1,))
    twice = (1, 1)
    with pytest.raises(ValueError, match="the periods of to do not follow each other"):
        PortSeries("eth", "to", twice, twice, twice, twice, twice, twice, twice)
