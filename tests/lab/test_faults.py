"""What may be wrong with a fabric on purpose: pause, loss, reordering, a link that is down."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.lab.on_hosts import MakeLab, exchange, python

from fabriscope import lab
from fabriscope.cli.lab import COMMAND
from fabriscope.lab import Lab, faults
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec, SwitchSpec, fault_words

PATIENCE_S = 20.0
SMALL: dict[str, Any] = {"rate_bits_per_s": 20_000_000, "buffer_bytes": 32 << 10}
"""A switch so slow that several senders overlap, however late one of them starts."""

# argv: address, count, time between them. Sends numbered datagrams, each one frame.
SENDER = """
import socket, sys, time
outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    time.sleep(float(sys.argv[3]))
    outbox.sendto(number.to_bytes(2, "big") * 700, (sys.argv[1], 7000))
"""
# argv: address. Prints the numbers of the datagrams that came, until none comes for a second.
LISTENER = """
import contextlib, json, socket, sys
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
with contextlib.suppress(PermissionError):  # SO_RCVBUFFORCE: on a busy machine all of them wait at once
    inbox.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
inbox.bind((sys.argv[1], 7000))
print("ready", flush=True)
came = []
inbox.settimeout(10)
try:
    while True:
        came.append(int.from_bytes(inbox.recv(2048)[:2], "big"))
        inbox.settimeout(1)
except TimeoutError:
    print(json.dumps(came))
"""


def incast(built: Lab, senders: tuple[str, ...], receiver: str, count: int, gap_s: float = 0) -> list[int]:
    """Let hosts send to one at once; return the numbers that came."""
    address = built.host(receiver).addresses["eth0"]
    argv = [*built.host(receiver).access, sys.executable, "-I", "-c", LISTENER, address]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        assert listener.stdout.readline() == "ready\n"
        words = ["-I", "-c", SENDER, address, str(count), str(gap_s)]
        running = [subprocess.Popen([*built.host(name).access, sys.executable, *words]) for name in senders]
        assert [one.wait(PATIENCE_S) for one in running] == [0] * len(senders)
        out, _ = listener.communicate(timeout=PATIENCE_S)
    came: list[int] = json.loads(out)
    return came


def port(built: Lab, host: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in built.counters()["ports"] if one["host"] == host)
    return found


@pytest.mark.parametrize("on_full", ["pause", "drop"])
def test_incast_loses_nothing_where_senders_are_paused(on_full: str, make_lab: MakeLab) -> None:
    senders = ("b", "c", "d")
    built = make_lab(("a", *senders), eth=SwitchSpec("small", on_full=on_full, **SMALL))
    came = incast(built, senders, "a", 400)
    lost = port(built, "a")["dropped_frames"]
    paused = [port(built, name)["pauses"] for name in senders]
    if on_full == "pause":
        assert len(came) == 1200
        assert lost == 0
        assert any(port(built, name)["paused_ns"] > 0 for name in senders)
        assert not any(port(built, name)["uplink_dropped_frames"] for name in senders)
    else:
        assert lost > 0
        assert len(came) + lost == 1200
        assert paused == [0, 0, 0]
    assert port(built, "a")["pauses"] == 0


def test_every_tenth_frame_of_one_port_is_lost(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=PRESETS["gige"])
    built.change("eth", {"drop_every": 10}, ["b"])
    assert incast(built, ("a",), "b", 50) == [number for number in range(50) if number % 10 != 9]
    exchange(built, "b", "c", "eth0", count=50)
    assert port(built, "b")["lost_frames"] == 5
    built.change("eth", faults.NONE)
    exchange(built, "a", "b", "eth0", count=50)


def test_loss_and_reordering_from_the_start(make_lab: MakeLab) -> None:
    wrong = SwitchSpec("gige", 100_000_000, loss_share=0.1, reorder_share=0.2, reorder_delay_ns=1_000_000, fault_seed=3)
    built = make_lab(eth=wrong)
    came = incast(built, ("a",), "b", 300)
    seen = port(built, "b")
    assert 5 < seen["lost_frames"] < 100
    assert len(came) == 300 - seen["lost_frames"]
    assert seen["reordered_frames"] > 10
    assert came != sorted(came)
    assert len(set(came)) == len(came)


def test_a_link_goes_down_and_comes_back(make_lab: MakeLab) -> None:
    built = make_lab(eth=PRESETS["gige"])
    built.change("eth", {"is_down": True}, ["b"])
    assert port(built, "b")["is_down"]
    assert not port(built, "a")["is_down"]
    assert incast(built, ("a",), "b", 5) == []
    assert python(built, "b", SENDER, built.host("a").addresses["eth0"], 3, 0).returncode == 0
    deadline = time.monotonic() + PATIENCE_S
    while port(built, "b")["link_down_frames"] < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert port(built, "b")["link_down_frames"] == 8
    built.change("eth", {"is_down": False}, ["b"])
    exchange(built, "a", "b", "eth0", count=20)


def test_a_link_flaps(make_lab: MakeLab) -> None:
    built = make_lab(eth=SwitchSpec("gige", 10**9, flap_period_ns=100_000_000, flap_down_ns=50_000_000))
    came = incast(built, ("a",), "b", 200, gap_s=0.002)
    seen = port(built, "a")
    assert seen["link_down_frames"] > 0
    assert seen["up"]["frames"] > 0
    assert seen["link_down_frames"] + seen["up"]["frames"] == 200
    assert len(came) == seen["up"]["frames"] - port(built, "b")["link_down_frames"]


def test_what_cannot_be_is_refused(make_lab: MakeLab) -> None:
    wrong = [
        (SwitchSpec("x", 10**9, on_full="pause"), "on_full: pause needs a buffer"),
        (SwitchSpec("x", 10**9, flap_period_ns=1, flap_down_ns=2), "down for longer than their period"),
        (SwitchSpec("x", 10**9, reorder_share=0.1), "held back for no time"),
    ]
    for spec, message in wrong:
        with pytest.raises(LabError, match=message):
            lab.up(LabSpec(("a",), {"x": spec}))
    built = make_lab(eth=SwitchSpec("x", 10**9), plain=PRESETS["local"])
    with pytest.raises(LabError, match="no switch of a fabric 'plain' -- fabrics: eth"):
        built.change("plain", {"is_down": True})
    with pytest.raises(LabError, match="the lab has no host 'z'"):
        built.change("eth", {"is_down": True}, ["z"])
    with pytest.raises(LabError, match="the switch refuses: on_full=pause needs a buffer"):
        built.change("eth", {"on_full": "pause"})
    with pytest.raises(LabError, match="on_full is of a whole fabric"):
        built.change("eth", {"on_full": "drop"}, ["a"])


def test_faults_in_words() -> None:
    assert fault_words({"on_full": "drop", "loss_share": 0.0}) == []
    assert fault_words({"on_full": "pause", "loss_share": 0.001, "drop_every": 10}) == [
        "pauses senders instead of dropping",
        "loses 0.1 % of all frames",
        "loses one frame in 10",
    ]


def test_set_as_a_person_uses_it() -> None:
    name = f"set-{secrets.token_hex(4)}"
    built = lab.up(LabSpec(("a", "b"), {"eth": PRESETS["gige"]}), name=name)

    def run(*words: str) -> Result:
        return CliRunner().invoke(COMMAND, ("set", "eth", "--lab", name, *words))

    try:
        assert run().exit_code == 2
        assert "is not a share" in run("--loss", "much").output
        words = ("--host", "b", "--loss", "100%", "--drop-every", "3", "--reorder", "1%", "--reorder-delay", "200us")
        assert run(*words).exit_code == 0
        assert incast(built, ("a",), "b", 5) == []
        assert port(built, "b")["lost_frames"] == 5
        assert run("--clear", "--down").exit_code == 0
        assert all(one["is_down"] for one in built.counters()["ports"])
        assert run("--up", "--on-full", "pause", "--flap-period", "1s", "--flap-down", "1ms").exit_code == 0
        assert not port(built, "a")["is_down"] or not port(built, "b")["is_down"]
        status = CliRunner().invoke(COMMAND, ("status", "--counters")).output
        assert "5 lost on purpose" in status
    finally:
        built.down()
