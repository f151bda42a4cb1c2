"""A switch with priorities, from outside: frames that hosts send and read by packet sockets, against the standards."""

from __future__ import annotations

import json
import secrets
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.lab.on_hosts import MakeLab, exchange, python

from fabriscope import lab
from fabriscope.cli.lab import COMMAND
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec, SwitchSpec, fault_words
from fabriscope.model.switch_queues import SwitchQueues

PATIENCE_S = 30.0
SLOW_BITS_PER_S = 20_000_000
"""So slow that several senders overlap, however late one of them starts."""
CLASS_3, CLASS_5 = 24 << 2, 40 << 2
"""Type-of-service bytes of DSCPs 24 and 40, which have priorities 3 and 5 unless a switch is told otherwise."""
PAUSE_ADDRESS = bytes.fromhex("0180c2000001")

# argv: address, count, type of service. Sends datagrams, each one frame, whose first byte is the type of service.
SENDER = """
import socket, sys
outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
outbox.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[3]))
for number in range(int(sys.argv[2])):
    outbox.sendto(bytes([int(sys.argv[3])]) + number.to_bytes(2, "big") * 700, (sys.argv[1], 7000))
"""
# Before SENDER: it is ready, and waits until its input ends.
AT_A_WORD = """
import socket, sys
print("ready", flush=True)
sys.stdin.read()
"""
# argv: address. Prints [first byte, type of service as it came] of each datagram, until its input has ended and then
# none comes for two seconds.
LISTENER = """
import json, select, socket, sys
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inbox.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
inbox.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
inbox.bind((sys.argv[1], 7000))
print("ready", flush=True)
came, waited_for, seconds = [], [inbox, sys.stdin], None
while ready := select.select(waited_for, [], [], seconds)[0]:
    if inbox in ready:
        data, notes, _, _ = inbox.recvmsg(2048, 64)
        came.append([data[0], notes[0][2][0]])
    else:
        waited_for, seconds = [inbox], 2
print(json.dumps(came))
"""
# Prints each MAC control frame that comes to eth0, in hexadecimal digits, until its input ends.
SNIFFER = """
import select, socket, sys
inbox = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x8808))
inbox.bind(("eth0", 0x8808))
print("ready", flush=True)
while True:
    ready, _, _ = select.select([inbox, sys.stdin], [], [])
    if inbox in ready:
        print(inbox.recv(9100).hex(), flush=True)
    elif not sys.stdin.read(1):
        break
"""
# argv: a frame in hexadecimal digits.
INJECTOR = """
import socket, sys
outbox = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
outbox.bind(("eth0", 0))
outbox.send(bytes.fromhex(sys.argv[1]))
"""


@contextmanager
def running(built: Lab, host: str, script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script on a host that says when it is ready."""
    argv = [*built.host(host).access, sys.executable, "-I", "-c", script, *arguments]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def incast(built: Lab, senders: Sequence[str], receiver: str, count: int, service: int = CLASS_3) -> list[list[int]]:
    """Let hosts send to one at once; return what came, each with its type of service."""
    address = built.host(receiver).addresses["eth0"]
    # From then on the switch knows where it is, and sends its frames nowhere else.
    assert python(built, receiver, SENDER, built.host(senders[0]).addresses["eth0"], 1, 0).returncode == 0
    with running(built, receiver, LISTENER, address) as listener, ExitStack() as stack:
        words = (AT_A_WORD + SENDER, address, str(count), str(service))
        sending = [stack.enter_context(running(built, name, *words)) for name in senders]
        for one in sending:
            assert one.stdin is not None
            one.stdin.close()
        assert [one.wait(PATIENCE_S) for one in sending] == [0] * len(senders)
        out, _ = listener.communicate(timeout=PATIENCE_S)
    came: list[list[int]] = json.loads(out)
    return came


def port(built: Lab, host: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in built.counters()["ports"] if one["host"] == host)
    return found


def slow(**queues: Any) -> SwitchSpec:
    return SwitchSpec("slow", SLOW_BITS_PER_S, 5_000, queues=SwitchQueues(**queues))


def test_pause_frames_of_a_priority_are_those_of_the_standard(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(pfc="3", xoff_bytes=9_000, xon_bytes=4_500))
    with running(built, "b", SNIFFER) as sniffer:
        came = incast(built, ("b", "c"), "a", 900)
        out, _ = sniffer.communicate(timeout=PATIENCE_S)
    assert len(came) == 1800
    assert port(built, "a")["dropped_frames"] == 0
    frames = [bytes.fromhex(line) for line in out.split()]
    assert len(frames) == port(built, "b")["xoff_frames"] + port(built, "b")["xon_frames"]
    for number, frame in enumerate(frames):
        times = [0] * 8
        times[3] = 0xFFFF if number % 2 == 0 else 0
        # IEEE 802.1Qbb, 802.3 annex 31D: opcode 0101, class-enable vector, eight times in quanta of 512 bits.
        expected = PAUSE_ADDRESS + frame[6:12] + struct.pack(">HHH8H", 0x8808, 0x0101, 1 << 3, *times)
        assert frame == expected.ljust(60, b"\0")
    assert frames
    assert port(built, "b")["pauses"] > 0


def test_a_paused_link_is_told_so_by_the_frame_of_802_3(make_lab: MakeLab) -> None:
    queues = SwitchQueues(xoff_bytes=9_000, xon_bytes=4_500)
    spec = SwitchSpec("slow", SLOW_BITS_PER_S, 5_000, 64 << 10, on_full="pause", queues=queues)
    built = make_lab(("a", "b", "c"), eth=spec)
    with running(built, "b", SNIFFER) as sniffer:
        assert len(incast(built, ("b", "c"), "a", 900)) == 1800
        out, _ = sniffer.communicate(timeout=PATIENCE_S)
    frames = [bytes.fromhex(line) for line in out.split()]
    assert frames
    for number, frame in enumerate(frames):
        quanta = 0xFFFF if number % 2 == 0 else 0
        expected = PAUSE_ADDRESS + frame[6:12] + struct.pack(">HHH", 0x8808, 0x0001, quanta)
        assert frame == expected.ljust(60, b"\0")


def test_a_pause_that_a_host_sends_holds_its_priority_and_no_other(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b"), eth=slow(dscp="24:3"))
    times = [0, 0, 0, 0xFFFF, 0, 0, 0, 0]  # 1.7 s at 20 Mb/s
    stop = PAUSE_ADDRESS + bytes.fromhex("020202020202") + struct.pack(">HHH8H", 0x8808, 0x0101, 1 << 3, *times)
    address = built.host("b").addresses["eth0"]
    with running(built, "b", LISTENER, address) as listener:
        assert python(built, "b", INJECTOR, stop.ljust(60, b"\0").hex()).returncode == 0
        assert python(built, "a", SENDER, address, 5, CLASS_3).returncode == 0
        assert python(built, "a", SENDER, address, 5, CLASS_5).returncode == 0
        out, _ = listener.communicate(timeout=PATIENCE_S)
    # Those that were sent later came first.
    assert [first for first, _ in json.loads(out)] == [CLASS_5] * 5 + [CLASS_3] * 5
    assert port(built, "b")["host_pauses"] == 1


@pytest.mark.parametrize("capable", [0, 1, 2])
def test_marks_are_those_of_rfc_3168(capable: int, make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(ecn_min_bytes=3_000, ecn_max_bytes=3_000))
    came = incast(built, ("b", "c"), "a", 900, CLASS_3 | capable)
    marked = sum(service & 3 == 3 for _, service in came)
    # The kernel takes no packet whose header has a wrong checksum.
    assert len(came) == 1800
    assert all(service in (CLASS_3 | capable, CLASS_3 | 3) for _, service in came)
    assert marked == port(built, "a")["marked_frames"]
    assert (marked > 0) == (capable > 0)


def test_headroom_decides_whether_anything_is_lost(make_lab: MakeLab) -> None:
    for headroom, is_enough in ((None, True), (0, False)):
        queues = SwitchQueues(pfc="3", xoff_bytes=9_000, xon_bytes=4_500, headroom_bytes=headroom)
        spec = SwitchSpec("far", SLOW_BITS_PER_S, 5_000_000, queues=queues)
        built = make_lab(("a", "b", "c"), eth=spec)
        came = incast(built, ("b", "c"), "a", 900)
        dropped = port(built, "a")["dropped_frames"]
        assert len(came) + dropped == 1800
        assert (dropped == 0) == is_enough
        built.down()


def test_a_shared_buffer_is_full_at_what_the_formula_says(make_lab: MakeLab) -> None:
    pool = 120_000
    for alpha in (0.5, 2.0):
        built = make_lab(("a", "b", "c", "d"), eth=slow(shared_buffer_bytes=pool, alpha=alpha))
        came = incast(built, ("b", "c", "d"), "a", 1500)
        seen = port(built, "a")
        assert len(came) + seen["dropped_frames"] == 4500
        # T = alpha (B - Q), and Q = T of the only queue that fills: alpha B / (1 + alpha).
        assert abs(seen["maximum_queue_bytes"] - alpha * pool / (1 + alpha)) <= 2 * 1514
        built.down()


def test_frames_cross_two_switches(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c", "d"), eth=slow(second_switch="c,d"))
    exchange(built, "a", "b", "eth0", count=20)
    exchange(built, "a", "d", "eth0", count=20)
    there, back = built.counters()["trunks"]
    assert (there["from"], there["to"], back["from"], back["to"]) == (1, 2, 2, 1)
    assert sum(one["frames"] for one in there["priorities"]) >= 20
    assert [port(built, host)["switch"] for host in "abcd"] == [1, 1, 2, 2]


def test_what_cannot_be_is_refused(make_lab: MakeLab) -> None:
    wrong = [
        (slow(pfc="3"), "nothing says when a pause begins"),
        (slow(pfc="3", xoff_bytes=10, xon_bytes=20), "xon .* is more than xoff"),
        (slow(xoff_bytes=10, shared_buffer_bytes=5), "more than the shared buffer"),
        (slow(ecn_min_bytes=10), "ecn_min and ecn_max belong together"),
        (slow(ecn_min_bytes=10, ecn_max_bytes=5), "is more than ecn_max"),
        (slow(second_switch="z"), "z behind the second switch is no host"),
        (slow(second_switch="a"), "all hosts are behind the second switch"),
        (SwitchSpec("x", queues=SwitchQueues(ecn_min_bytes=1, ecn_max_bytes=1)), "needs a rate"),
        (SwitchSpec("x", 10**9, 0, 9_000, on_full="pause", queues=SwitchQueues(pfc="3")), "choose one of them"),
    ]
    for spec, message in wrong:
        with pytest.raises(LabError, match=message):
            lab.up(LabSpec(("a",), {"x": spec}))
    built = make_lab(eth=PRESETS["gige"])
    with pytest.raises(LabError, match="would have to be started with priorities, for example pfc=3"):
        built.change("eth", {"xoff_bytes": 5})


def test_set_while_frames_fly() -> None:
    name = f"set-{secrets.token_hex(4)}"
    built = lab.up(LabSpec(("a", "b", "c"), {"eth": slow(pfc="3", xoff_bytes=9_000)}), name=name)

    def run(*words: str) -> Result:
        return CliRunner().invoke(COMMAND, ("set", "eth", "--lab", name, *words))

    try:
        assert "is no priority from 0 to 7" in run("--pfc", "8").output
        assert "xon is more than xoff" in str(run("--xon", "10KB").exception)
        address = built.host("a").addresses["eth0"]
        with running(built, "a", LISTENER, address) as listener:
            words = ["-I", "-c", SENDER, address, "300", str(CLASS_3)]
            sending = [subprocess.Popen([*built.host(one).access, sys.executable, *words]) for one in "bc"]
            for words_of_change in (
                ("--xoff", "5KB", "--xon", "2KB"), ("--pfc", "3/5"), ("--scheduler", "fair"), ("--headroom", "none"),
                ("--ecn-min", "2KB", "--ecn-max", "2KB"), ("--shared-buffer", "200KB", "--alpha", "2"),
                ("--ecn-min", "none", "--ecn-max", "none"), ("--shared-buffer", "0"), ("--dscp", "24:3/0:1"),
            ):  # fmt: skip
                done = run(*words_of_change)
                assert done.exit_code == 0, done.output
            assert [one.wait(PATIENCE_S) for one in sending] == [0, 0]
            out, _ = listener.communicate(timeout=PATIENCE_S)
        assert len(json.loads(out)) + port(built, "a")["dropped_frames"] == 600
        status = CliRunner().invoke(COMMAND, ("status", "--counters")).output
        assert "priority 3: " in status
        assert "pause frames to the host" in status
    finally:
        built.down()


def test_queues_in_words() -> None:
    assert fault_words({"queues": {"pfc": "3/4", "xoff_bytes": 100, "alpha": 1.0}}) == [
        "pauses by priority: 3, 4 (PFC)",
        "XOFF above 100 B",
    ]
