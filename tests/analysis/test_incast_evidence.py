"""What hosts' counters say of a many-to-one launch: ports and cards by the names of their drivers."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest
from tests.analysis.test_incast import point

from fabriscope.analysis.incast.evidence import (
    NOT_READY,
    PAUSES,
    RETRIES,
    Evidence,
    evidence_by_entry,
    pause_frames,
    ports_grew,
)
from fabriscope.analysis.incast.points import DROPPED, HOLDS, UNDECIDED
from fabriscope.analysis.incast.states import state_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.counters import Reading, Watch
from fabriscope.model.fabric import Fabric
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import LaunchRecord, Result
from fabriscope.model.run_data import RunData


def watch(*ports: Mapping[str, int]) -> Watch:
    readings = tuple(Reading(place, place, 0, {}, {"dev0/1": port}) for place, port in enumerate(ports))
    return Watch("host", "boot", {}, {}, readings)


def test_retries_are_those_of_the_senders() -> None:
    nak, timer, not_ready = "hw.packet_seq_err", "hw.local_ack_timeout_err", "hw.rcvd_rnr_err"
    began = "hw.completer_retry_err"
    watches = {
        "to": watch({began: 0}, {began: 900}),
        "rxe": watch({began: 5, not_ready: 1}, {began: 9, not_ready: 3}),
        "mlx5": watch({nak: 0, timer: 2}, {nak: 7, timer: 3}),
    }
    hosts = ("rxe", "mlx5", "rxe")
    assert ports_grew(watches, hosts, RETRIES) == 4 + 7 + 1
    assert ports_grew(watches, hosts, NOT_READY) == 2


def test_a_counter_that_was_made_anew_or_is_not_there_is_unknown() -> None:
    assert ports_grew({"a": watch({"hw.packet_seq_err": 9}, {"hw.packet_seq_err": 1})}, ("a",), RETRIES) is None
    assert ports_grew({"a": watch({}, {"hw.packet_seq_err": 1})}, ("a",), RETRIES) is None
    assert ports_grew({"a": watch({"hw.packet_seq_err": 9})}, ("a",), RETRIES) is None
    assert ports_grew({}, ("a",), RETRIES) is None


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("driver.rx_prio3_pause", True),
        ("driver.rx_global_pause", True),
        ("driver.rx_flow_control_xoff", True),
        ("driver.rx_prio3_pause_duration", False),
        ("driver.tx_prio3_pause", False),
        ("driver.rx_prio3_packets", False),
    ],
)
def test_pause_frames_that_were_obeyed(name: str, counts: bool) -> None:
    assert (PAUSES.fullmatch(name) is not None) is counts


def test_pause_frames_are_those_of_the_senders_cards_on_the_fabric() -> None:
    obeyed, sent = "driver.rx_prio3_pause", "driver.tx_prio3_pause"
    first = {"eth0": {obeyed: 5, sent: 1}, "eth1": {obeyed: 0}}
    last = {"eth0": {obeyed: 9, sent: 7}, "eth1": {obeyed: 70}}
    readings = tuple(Reading(place, place, 0, cards, {}) for place, cards in enumerate((first, last)))
    watches = {host: Watch(host, "boot", {}, {}, readings) for host in ("to", "a", "b")}
    fabric = Fabric("wire", dict.fromkeys(("to", "a", "b"), "eth0"))
    assert pause_frames(watches, ("a", "b", "a"), fabric) == 4 + 4
    assert pause_frames(watches, ("a",), None) is None


def test_what_is_sent_again_is_a_loss_only_where_no_switch_counts_drops() -> None:
    assert not Evidence(dropped_frames=0, retransmitted_bytes=1016, rdma_retries=3).has_losses
    assert Evidence(dropped_frames=None, retransmitted_bytes=1016).has_losses
    assert Evidence(dropped_frames=None, rdma_retries=3).has_losses
    assert not Evidence(retransmitted_bytes=999, tcp_sent_bytes=1_000_000).has_losses, "a timer's packet or two"
    assert Evidence(retransmitted_bytes=1001, tcp_sent_bytes=1_000_000).has_losses
    assert Evidence(dropped_frames=2).has_losses
    assert not Evidence().has_losses


def test_an_attempt_that_was_made_again_moves_the_switchs_counters_only() -> None:
    case = Case(Entry("tcp", "wire", "inter", ("to", "a")), "many_to_one", 8)
    attempts = [
        LaunchRecord(
            1, 1, case.entry.entry_id, attempt, results={case.case_id: Result("ok")}, started_unix_ns=attempt,
            fabric_counters={"ports": [{"fabric": "wire", "host": "to", "dropped_frames": dropped}]},
        )
        for attempt, dropped in ((1, 70), (2, 75))
    ]  # fmt: skip
    manifest = Manifest(2, cases={case.case_id: case})
    run = RunData("", manifest, (attempts[1],), pl.LazyFrame(), lines=tuple(attempts))
    assert evidence_by_entry(run)[case.entry.entry_id].dropped_frames == 5


@pytest.mark.parametrize(
    ("evidence", "value", "state", "said"),
    [
        (Evidence(0, 0, 0, 1016), 98.0, HOLDS, "1.02 kB sent again"),
        (Evidence(rdma_retries=12, notifications=4), 98.0, DROPPED, "12 retries of RDMA, 4 notifications"),
        (Evidence(), 98.0, HOLDS, "no counter tells of drops"),
        (Evidence(), 50.0, UNDECIDED, "the machine is the limit"),
        (Evidence(rdma_retries=12), 50.0, UNDECIDED, "whether hosts or the fabric limit them is not told; 12 r"),
    ],
)
def test_the_state_goes_by_whoever_counts(evidence: Evidence, value: float, state: str, said: str) -> None:
    found, because = state_of([point(1, value, evidence=evidence)], None)
    assert (found, said in because) == (state, True), because
