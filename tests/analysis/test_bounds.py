"""What a wire allows, checked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.values.bounds import (
    CARRIERS,
    bound_bytes_per_s,
    carrier_of,
    is_impossible,
    least_latency_ns,
    metric_limit,
    wire_bytes,
)
from fabriscope.analysis.values.launch_values import limits_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.manifest import Manifest
from fabriscope.model.ranks import Layout, to_one


def test_wire_bytes_by_hand() -> None:
    assert wire_bytes(1, 1500) == 1 + 90
    assert wire_bytes(1448, 1500) == 1538
    assert wire_bytes(1449, 1500) == 1449 + 180
    with pytest.raises(ValueError, match="no room"):
        wire_bytes(1, 50)


def test_a_full_gigabit_carries_941_megabit() -> None:
    bound = bound_bytes_per_s(10**9, 1500, 1448, "tcp")
    assert bound is not None
    assert bound * 8 == pytest.approx(941.48e6, rel=1e-4)
    jumbo = bound_bytes_per_s(10**9, 9000, 8948 * 100, "tcp")
    assert jumbo is not None
    assert jumbo * 8 == pytest.approx(990.04e6, rel=1e-4)


def test_roce_has_its_own_headers_and_packets() -> None:
    ports = {"a": RdmaPort("rxe0", mtu_bytes=1024), "b": RdmaPort("rxe0", mtu_bytes=4096)}
    fabric = Fabric("rdma", {}, "roce", mtu_bytes=1500, rdma_ports=ports)
    assert carrier_of("tcp", fabric) == ("tcp", 1500)
    assert carrier_of("mpi", fabric) == ("tcp", 1500)
    assert carrier_of("verbs", fabric) == ("roce", 1024)
    assert carrier_of("verbs", replace(fabric, transport="iwarp")) == ("tcp", 1500)
    assert carrier_of("verbs", replace(fabric, rdma_ports={})) == ("roce", None)
    assert carrier_of("libfabric-tcp", fabric) == ("tcp", 1500)
    assert carrier_of("libfabric-verbs", fabric) == ("roce", 1024)
    assert carrier_of("libfabric-efa", fabric)[0] not in CARRIERS, "its headers are not known"
    assert wire_bytes(1025, 1024, "roce") == 1025 + 2 * 82
    full = metric_limit("bandwidth_bytes_per_s", 10**9, 1024, 65536, 16, "roce")
    small = metric_limit("bandwidth_bytes_per_s", 10**9, 1024, 64, 16, "roce")
    assert full is not None
    assert full * 8 == pytest.approx(1e9 * 1024 / 1106)
    assert small is not None
    assert small * 8 == pytest.approx(1e9 * 64 / 146)
    assert (
        metric_limit("bandwidth_bytes_per_s", 10**9, 1500, 64, 16, *carrier_of("verbs", Fabric("ib", {}, "ib"))[:1])
        is None
    )


@pytest.mark.parametrize("arrangement", ["block", "cyclic"])
def test_senders_on_the_receiver_s_own_host_need_no_wire(arrangement: str) -> None:
    size_bytes, window_size = 65536, 4
    ranks = Layout(8, 2, arrangement)
    limit = metric_limit("goodput_bytes_per_s", 10**9, 1500, size_bytes, window_size, "tcp", ranks=ranks)
    wire = bound_bytes_per_s(10**9, 1500, 6 * size_bytes * window_size, "tcp")
    assert limit is not None
    assert wire is not None
    assert limit == pytest.approx(wire * 7 / 6), "six of seven senders share the wire"
    assert not is_impossible(1.1 * wire, limit, larger_is_better=True)
    assert is_impossible(1.2 * wire, limit, larger_is_better=True)
    assert metric_limit("goodput_bytes_per_s", 10**9, 1500, size_bytes, window_size, "tcp", ranks=Layout(4, 4)) is None


def test_the_limit_of_a_case_knows_where_its_ranks_stand() -> None:
    limits = limits_of(Manifest(2, fabrics={"gige": Fabric("gige", {}, "tcp", 10**9, 1500)}))
    curve = Curve("inter", "gige", "tcp", None, "engine", "incast", "", "", "")
    alone = PlannedCase(
        **vars(curve), case_id="", entry_id="", rank_count=2, window_size=1, socket="", message_size_bytes=1 << 20
    )
    cases = [replace(alone, case_id=ranks, ranks=ranks) for ranks in ("", "4x1", "4x2", "8x4")]
    one, spread, of_two, of_four = (limits.of("goodput_bytes_per_s", case) for case in cases)
    assert one is not None
    assert spread == pytest.approx(one, rel=1e-3)
    assert of_two == pytest.approx(one * 3 / 2, rel=1e-3)
    assert of_four == pytest.approx(one * 7 / 4, rel=1e-3)


@pytest.mark.parametrize(("mode", "fills_segments"), [("streams", True), (None, True), ("rounds", False)])
def test_small_messages_of_free_streams_may_fill_segments(mode: str | None, fills_segments: bool) -> None:
    parameters = () if mode is None else (("mode", mode),)
    case = Case(Entry("tcp", "gige", "inter", ("a", "b", "c")), "many_to_one", 100, 1, parameters=parameters)
    manifest = Manifest(2, fabrics={"gige": Fabric("gige", {}, "tcp", 10**9, 1500)}, cases={case.case_id: case})
    curve = Curve("inter", "gige", "tcp", None, "engine", "many_to_one", "3x1", "", "")
    row = PlannedCase(
        **vars(curve), case_id=case.case_id, entry_id="", rank_count=3, window_size=1, socket="", message_size_bytes=100
    )
    payload_bytes = 1448 if fills_segments else 2 * 100
    assert limits_of(manifest).of("aggregate_bytes_per_s", row) == bound_bytes_per_s(10**9, 1500, payload_bytes, "tcp")


@pytest.mark.parametrize(
    ("rate", "mtu", "size", "layer"),
    [(None, 1500, 8, "tcp"), (10**9, None, 8, "tcp"), (10**9, 1500, 0, "tcp"), (10**9, 1500, 8, "shm")],
)
def test_no_bound_where_none_is_known(rate: int | None, mtu: int | None, size: int, layer: str) -> None:
    assert bound_bytes_per_s(rate, mtu, size, layer) is None
    assert least_latency_ns(rate, mtu, size, layer) is None


def test_least_latency_is_bits_and_propagation() -> None:
    assert least_latency_ns(10**8, 1500, 1, "tcp", delay_ns=5000) == pytest.approx(91 * 80 + 5000)


def test_limits_of_metrics() -> None:
    one_way = metric_limit("bandwidth_bytes_per_s", 10**9, 1500, 64, 64, "tcp")
    both_ways = metric_limit("bidirectional_bandwidth_bytes_per_s", 10**9, 1500, 64, 64, "tcp")
    single = metric_limit("ping_pong_bandwidth_bytes_per_s", 10**9, 1500, 64, 1, "tcp", 0)
    assert one_way is not None
    assert single is not None
    assert both_ways == pytest.approx(2 * one_way)
    assert single < one_way, "small messages of a window may share a segment"
    assert metric_limit("floor_ns", 10**9, 1500, 64, 1, "tcp") is None
    four_to_one = metric_limit("goodput_bytes_per_s", 10**9, 1500, 64, 16, "tcp", ranks=Layout(5, 1))
    assert four_to_one == one_way, "all of them share the one link"


def test_what_is_fetched_has_twice_the_way_to_go_and_what_nobody_saw_arrive_none() -> None:
    there, back, untold = (
        metric_limit(metric_id, 10**9, 1500, 8, 1, "tcp", 5000)
        for metric_id in ("put_latency_ns", "get_latency_ns", "put_local_completion_ns")
    )
    assert there == metric_limit("latency_ns", 10**9, 1500, 8, 1, "tcp", 5000)
    assert there is not None
    assert back == there + 5000
    assert untold is None


def test_one_percent_is_tolerated() -> None:
    assert not is_impossible(100.9, 100, larger_is_better=True)
    assert is_impossible(101.1, 100, larger_is_better=True)
    assert is_impossible(98.9, 100, larger_is_better=False)
    assert not is_impossible(1e9, None, larger_is_better=True)


def test_many_to_many_has_the_ports_of_those_that_receive_or_send_whichever_are_fewer() -> None:
    one = metric_limit("aggregate_bytes_per_s", 10**9, 1500, 65536, None, "tcp", ranks=to_one(4, 5))
    assert one is not None
    for receivers, hosts, ports in ((2, 6, 2), (3, 9, 3), (3, 5, 2)):
        layout = to_one(12, hosts, receivers)
        limit = metric_limit("aggregate_bytes_per_s", 10**9, 1500, 65536, None, "tcp", ranks=layout)
        assert limit == pytest.approx(ports * one)
