"""Many to one between guests: what a switch that drops and one that pauses do to Soft RoCE and TCP, as counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from campaigns.congestion import __main__ as congestion
from campaigns.congestion import figure
from tests import needs

SAID = """Ip: Forwarding DefaultTTL
Ip: 2 64
Tcp: RtoAlgorithm RetransSegs InErrs
Tcp: 1 17 0
TcpExt: TCPTimeouts TCPLossProbes
TcpExt: 3 4
/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts:4421
/sys/class/infiniband/rxe1/ports/1/hw_counters/out_of_seq_request:6
"""


def test_counters_are_told_by_device_and_protocol() -> None:
    assert congestion.counters_in(SAID) == {
        "rxe0.sent_pkts": 4421,
        "rxe1.out_of_seq_request": 6,
        "Tcp.RtoAlgorithm": 1,
        "Tcp.RetransSegs": 17,
        "Tcp.InErrs": 0,
        "TcpExt.TCPTimeouts": 3,
        "TcpExt.TCPLossProbes": 4,
    }


def reading(mode: str, layer: str, count: int, goodput: float | None, number: int = 1) -> dict[str, Any]:
    switch = {"dropped_frames": 25 * count, "delivered_frames": 1000 * number}
    return {
        "round": number, "mode": mode, "layer": layer, "sender_count": count, "round_ns": [5e6, 9e6 * count],
        "goodput_bytes_per_s": goodput, "receiver": {"out_of_seq_request": count}, "senders": {}, "switch": switch,
        "reason": None if goodput else "it died",
    }  # fmt: skip


def made_up() -> dict[str, Any]:
    arguments = {"rate": 10**8, "buffer": 32 << 10, "block": 64 << 10, "rounds": 2}
    points = [(mode, layer, count) for mode in ("drop", "pause") for layer in ("verbs", "tcp") for count in (1, 2)]
    readings = [reading(*point, 1e6 * number * point[2], number) for number in (1, 2) for point in points]
    return {"arguments": arguments, "load_before": 0.1, "readings": [*readings, reading("drop", "verbs", 2, None)]}


def test_a_picture_is_drawn_of_what_was_kept(tmp_path: Path) -> None:
    said = made_up()
    assert figure.median_of([said["readings"][1], said["readings"][9]], "switch", "dropped_frames") == 37.5
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(said))
    assert congestion.main(["--read", str(kept), "--picture", str(tmp_path / "drawn")]) == 0
    drawn = (tmp_path / "drawn.svg").read_text()
    assert "Soft RoCE, the switch pauses" in drawn
    assert "shapes only" not in drawn
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    kept.write_text(json.dumps({**said, "load_before": 9.0}))
    status = congestion.main(["--read", str(kept), "--picture", str(tmp_path / "drawn")])
    assert status == congestion.BUSY_STATUS
    assert "shapes only" in (tmp_path / "drawn.svg").read_text()


@pytest.mark.timeout(900)
def test_a_small_buffer_drops_what_pause_frames_keep(tmp_path: Path) -> None:
    needs.soft_roce()
    kept = tmp_path / "kept.json"
    words = ["--senders", "2", "--rounds", "1", "--seconds", "0.3", "--block", "256KiB", "-o", str(kept)]
    assert congestion.main(words) in (0, congestion.BUSY_STATUS)
    readings = json.loads(kept.read_text())["readings"]
    assert len(readings) == 8
    assert all(one["goodput_bytes_per_s"] for one in readings), [one["reason"] for one in readings]
    for one in readings:
        many = one["sender_count"] == 2
        assert (one["switch"]["dropped_frames"] > 0) == (many and one["mode"] == "drop"), one
        assert (one["switch"]["pauses"] > 0) == (many and one["mode"] == "pause"), one
        packets = one["receiver"].get("rcvd_pkts", 0)
        assert (packets > 256) == (one["layer"] == "verbs"), "by RDMA where it was asked for, and only there"
        if many and one["mode"] == "drop":
            told = {**one["receiver"], **one["senders"]}
            names = ("out_of_seq_request", "completer_retry_err") if one["layer"] == "verbs" else ("Tcp.RetransSegs",)
            again = sum(told.get(name, 0) for name in names)  # a gap was seen, or a timer ran out
            assert again > 0
