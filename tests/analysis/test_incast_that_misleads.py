"""Streams whose sum seems to tell of the fabric, and does not: what the state says of them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.test_incast import MS, point, window

from fabriscope.analysis.incast.curves import _carried_share
from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.incast.points import COLLAPSES, DROPPED, HOLDS, UNDECIDED, UNFAIR
from fabriscope.analysis.incast.states import knee_of, state_of
from fabriscope.analysis.incast.switch_windows import SwitchCounts, WindowPorts
from fabriscope.analysis.values.streams import AGGREGATE, FAIRNESS, StreamWindow, _Parts, series_frame
from fabriscope.model.case import Entry
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.manifest import Manifest
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import PortSeries

LOST = Evidence(20, 0, 0, 9000)


@pytest.mark.parametrize(("carried", "state"), [(0.99, UNDECIDED), (0.6, COLLAPSES), (None, COLLAPSES)])
def test_a_fall_while_the_switch_fills_the_wire_is_none_of_the_fabric(carried: float | None, state: str) -> None:
    points = [point(1, 98.0), replace(point(2, 76.0, evidence=LOST), carried_share=carried)]
    found, because = state_of(points, knee_of(points))
    assert found == state
    assert ("delivered 99% of what the wire carries in these windows" in because) is (state == UNDECIDED)


def test_one_launch_does_not_tell_that_streams_are_unfair() -> None:
    once = replace(point(4, 97.0, fairness=0.3), launch_count=1)
    found, because = state_of([once], None)
    assert (found, "0.30 with 4 streams" in because, "in one launch" in because) == (UNDECIDED, True, True)
    assert state_of([point(4, 97.0, fairness=0.3)], None)[0] == UNFAIR


def test_streams_of_one_host_share_its_own_queue() -> None:
    own = replace(point(64, 99.0, fairness=0.14), sending_host_count=1)
    assert state_of([own], None)[0] == HOLDS
    assert state_of([replace(own, sending_host_count=2)], None)[0] == UNFAIR


def test_one_number_of_streams_that_leaves_the_wire_half_empty_holds_nothing() -> None:
    found, because = state_of([point(8, 48.0, evidence=LOST)], None)
    assert (found, because.startswith("the streams have at most 48% of what the wire allows")) == (UNDECIDED, True)
    assert state_of([point(8, 93.0, evidence=LOST)], None)[0] == DROPPED


def test_what_was_on_the_wire_in_a_window_is_a_share_of_the_periods_at_its_ends() -> None:
    one = replace(window({1: (1, 1, 1, 1)}), origin_unix_ns=0)
    begin_ns, end_ns = one.span_unix_ns or (0, 0)
    ends = tuple(begin_ns + at * MS for at in (-5, 5, 15, 45))
    nothing, lengths = (0,) * 4, (10 * MS,) * 4
    wire = (64, 100, 200, 400)
    to = PortSeries("eth", "to", ends, nothing, wire, nothing, nothing, nothing, nothing, lengths)
    seen = WindowPorts(one, begin_ns, end_ns, Entry("tcp", "eth", "inter", ("to", "a")), {"to": to})
    assert seen.carried_bytes() == pytest.approx(50 + 200 + 200, abs=2)


def rounds(operation_ms: int | None) -> StreamWindow:
    """Return the window of two senders, asked until 47 ms after the first one's start, of which 40 ms were planned."""
    parts = _Parts()
    parts.start_ns, parts.starts_ns = 1000, {0: 0, 1: 2 * MS, 2: 3 * MS}
    parts.series = {1: (10, 10, 10, 0, 10), 2: (0, 20, 0, 0, 20)}
    parts.operations_ns = {} if operation_ms is None else {0: operation_ms * MS}
    return parts.whole_rounds(parts.window(1, 1, "c", 1, 40 * MS, 10 * MS))


def test_rounds_count_whole_until_the_last_is_over() -> None:
    whole = rounds(49)
    assert whole.duration_ns == 47 * MS
    assert whole.stream_bytes == {1: 40.0, 2: 40.0}
    assert whole.metric(AGGREGATE) == pytest.approx(80 / 0.047)
    assert whole.metric(FAIRNESS) == 1.0
    assert rounds(None).duration_ns == 40 * MS, "a run that did not say when"


def test_streams_are_on_the_axis_of_switch_and_hosts() -> None:
    told = replace(window({1: (5, 6)}), origin_unix_ns=10**18)
    assert series_frame([told])["at_unix_ns"].to_list() == [10**18 + 1000 + (place + 1) * 10 * MS for place in (0, 1)]
    assert series_frame([window({1: (5,)})])["at_unix_ns"].to_list() == [None]


@pytest.mark.parametrize(
    ("layer", "mpi", "is_rdma", "share"),
    [
        ("tcp", None, False, 0.8),
        ("tcp", None, True, 0.8),
        ("mpi", "openmpi", False, 0.8),
        ("mpi", "openmpi", True, None),
        ("verbs", None, True, None),
    ],
)
def test_what_the_wire_carried_tells_of_tcp_alone(
    layer: str, mpi: str | None, is_rdma: bool, share: float | None
) -> None:
    ports = {"to": RdmaPort("rxe0")} if is_rdma else {}
    fabric = Fabric("eth", {"to": "eth0"}, line_rate_bits_per_s=1000, rdma_ports=ports)
    run = RunData("", Manifest(2, fabrics={"eth": fabric}), (), pl.LazyFrame())
    entry, counts = Entry(layer, "eth", "inter", ("to", "a"), mpi=mpi), SwitchCounts({}, 0, 0, 100.0, 10**9)
    assert _carried_share(run, entry, counts) == share
