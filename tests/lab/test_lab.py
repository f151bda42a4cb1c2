"""Labs of real namespaces: what they are while they stand, and that nothing is left of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import needs
from tests.lab.on_hosts import MakeLab, exchange, leave_sleeping, on

from fabriscope import lab
from fabriscope.lab import state
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec, SwitchSpec

GONE_TIMEOUT_S = 20.0

OWNER = """
import subprocess, sys, time
from fabriscope import lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec
built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}))
sleeper = subprocess.Popen([*built.host("b").access, "setsid", "sleep", "1000"])
print(built.name, built.state.keeper.pid, flush=True)
time.sleep(1000)
"""


def outside() -> tuple[str, str]:
    """Return the machine's own interfaces and mounts."""
    names = sorted(path.name for path in Path("/sys/class/net").iterdir())
    return " ".join(names), Path("/proc/self/mounts").read_text()


def processes_of(pid_namespace: Path) -> list[str]:
    """Return the processes of a PID namespace."""
    found = []
    for link in Path("/proc").glob("[0-9]*/ns/pid"):
        with contextlib.suppress(OSError):
            if link.readlink() == pid_namespace:
                found.append(link.parts[2])
    return found


def test_nothing_is_left_of_a_lab() -> None:
    before = outside()
    built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"], "plain": PRESETS["local"]}))
    namespace = Path(f"/proc/{built.state.keeper.pid}/ns/pid").readlink()
    assert outside() == before, "a lab shows outside"
    leave_sleeping(built, "a")
    assert len(processes_of(namespace)) == len(("keeper", "a", "b", "switch", "sleep"))
    built.down()
    assert processes_of(namespace) == []
    assert not built.state.folder.exists()
    assert outside() == before
    assert built.name not in [record.name for record in lab.recorded()]
    built.down()  # twice is once


def test_hosts_have_what_makes_a_host(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b"), gige=PRESETS["gige"])
    assert on(built, "a", "hostname").stdout == "a\n"
    assert on(built, "b", "sh", "-c", "ls /sys/class/net").stdout.split() == ["eth0", "lo", "mgmt0"]
    assert "10.9.0.2 b\n" in on(built, "a", "cat", "/etc/hosts").stdout
    assert on(built, "a", "touch", "/dev/shm/mine").returncode == 0  # noqa: S108 - the host's own
    assert on(built, "b", "ls", "/dev/shm").stdout == ""  # noqa: S108 - the host's own
    assert on(built, "a", "cat", "/proc/sys/net/ipv4/tcp_congestion_control").stdout == "reno\n"
    assert on(built, "a", "pwd").stdout == f"{Path.cwd()}\n"
    for name in ("uts", "ipc", "mnt", "net"):
        seen = {on(built, host, "readlink", f"/proc/self/ns/{name}").stdout for host in ("a", "b")}
        assert len(seen) == 2, name


@pytest.mark.parametrize("kind", ["tap", "packet", "bridge"])
def test_frames_cross_every_kind_of_fabric(kind: str, make_lab: MakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "tap":
        needs.tun()
        monkeypatch.setattr("fabriscope.lab.lab.SHAPED_ATTACHMENT", "tap")
    built = make_lab(("a", "b", "c"), eth=PRESETS["local" if kind == "bridge" else "gige"])
    assert built.state.details["fabrics"]["eth"]["attachment"] == kind
    exchange(built, "a", "b", "eth0")
    exchange(built, "c", "a", "eth0")


def test_a_large_mtu_carries_large_frames(make_lab: MakeLab) -> None:
    built = make_lab(jumbo=SwitchSpec("gige", 1_000_000_000, 5_000, 512 << 10, mtu_bytes=9000))
    exchange(built, "a", "b", "eth0", count=3, size_bytes=8972)
    (port, _) = built.counters()["ports"]
    assert port["up"] == {"frames": 3, "bytes": 3 * 9014, "wire_bytes": 3 * 9038}


def test_hosts_are_on_every_fabric_by_its_order(make_lab: MakeLab) -> None:
    built = make_lab(fast=PRESETS["gige"], slow=PRESETS["ethernet-100"], plain=PRESETS["local"])
    assert built.host("b").addresses == {
        "mgmt0": "10.9.0.2",
        "eth0": "10.10.0.2",
        "eth1": "10.11.0.2",
        "eth2": "10.12.0.2",
    }
    for interface in ("mgmt0", "eth0", "eth1", "eth2"):
        exchange(built, "a", "b", interface, count=3)


def test_the_books_balance(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b"), eth=PRESETS["gige"])
    exchange(built, "a", "b", "eth0", count=50, size_bytes=1000)
    exchange(built, "b", "a", "eth0", count=7, size_bytes=2)
    ports = {port["host"]: port for port in built.counters()["ports"]}
    frame_bytes = 14 + 20 + 8 + 1000
    assert ports["a"]["up"] == {"frames": 50, "bytes": 50 * frame_bytes, "wire_bytes": 50 * (frame_bytes + 24)}
    assert ports["a"]["up"] == ports["b"]["down"]
    assert ports["b"]["up"]["wire_bytes"] == 7 * 84
    assert ports["b"]["up"] == ports["a"]["down"]
    assert ports["a"]["dropped_frames"] == ports["b"]["dropped_frames"] == 0
    assert built.ask_switch("reset") == {"reset": True}
    assert built.counters()["ports"][0]["up"]["frames"] == 0


def test_an_overfilled_port_drops_the_rest(make_lab: MakeLab) -> None:
    count, size_bytes = 500, 1472
    # At 10 Mb/s a sender's frames need 0.6 s, so that two senders overlap however late one of them starts.
    built = make_lab(("a", "b", "c"), slow=SwitchSpec("slow", 10_000_000, 0, 16 << 10))
    script = f"""
import socket
outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({count}):
    outbox.sendto(bytes({size_bytes}), ("{built.host("a").addresses["eth0"]}", 7000))
"""
    senders = [subprocess.Popen([*built.host(name).access, sys.executable, "-I", "-c", script]) for name in ("b", "c")]
    assert [sender.wait(GONE_TIMEOUT_S) for sender in senders] == [0, 0]
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while True:
        port = next(port for port in built.counters()["ports"] if port["host"] == "a")
        if port["down"]["frames"] + port["dropped_frames"] == 2 * count or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert port["dropped_frames"] > 0
    assert port["down"]["frames"] + port["dropped_frames"] == 2 * count
    assert port["dropped_bytes"] == port["dropped_frames"] * 1514
    assert 16 << 10 >= port["maximum_queue_bytes"] > (16 << 10) - 1514


def test_a_lab_dies_with_its_owner() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        name, keeper = owner.stdout.readline().split()
        record = next(record for record in lab.recorded() if record.name == name)
        namespace = Path(f"/proc/{keeper}/ns/pid").readlink()
        assert not record.is_left_over
        assert name not in lab.remove_left_overs()
        assert processes_of(namespace)
        owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while processes_of(namespace) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_of(namespace) == []
    assert record.is_left_over
    lab.remove_left_overs()  # somebody else's lab may have done it before us
    assert not record.folder.exists()


def test_nothing_is_left_of_a_lab_that_could_not_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def fail(*_: object) -> None:
        seen.extend(record.name for record in lab.recorded() if record.owner and not record.is_complete)
        raise LabError("broken on purpose")

    monkeypatch.setattr("fabriscope.lab.switch_process.start", fail)
    with pytest.raises(LabError, match="broken on purpose"):
        lab.up(LabSpec(("a",), {"gige": PRESETS["gige"]}), name=(name := f"broken-{os.getpid()}"), persistent=True)
    assert name in seen
    assert name not in [record.name for record in lab.recorded()]
    assert not (state.state_root() / name).exists()


def test_two_labs_stand_side_by_side(make_lab: MakeLab) -> None:
    first, second = make_lab(eth=PRESETS["gige"]), make_lab(eth=PRESETS["ethernet-100"])
    assert first.host("a").addresses == second.host("a").addresses
    exchange(first, "a", "b", "eth0", count=9)
    exchange(second, "a", "b", "eth0", count=4)
    counts = [built.counters()["ports"][0]["up"]["frames"] for built in (first, second)]
    assert counts == [9, 4]
    first.down()
    exchange(second, "b", "a", "eth0", count=4)


def test_a_sweep_ends_one_host_s_processes(make_lab: MakeLab) -> None:
    built = make_lab(eth=PRESETS["gige"])
    for host in ("a", "b"):
        leave_sleeping(built, host)
    sleepers = 'n=0; for d in /proc/[0-9]*; do [ "$(cat $d/comm)" = sleep ] && n=$((n+1)); done; echo $n'

    def await_sleepers(count: int) -> None:
        """Return when there are so many: one that was ended may still wait to be reaped."""
        deadline = time.monotonic() + 60
        while (found := on(built, "a", "sh", "-c", sleepers).stdout) != f"{count}\n":
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    await_sleepers(2)
    built.sweep("a")
    await_sleepers(1)
    exchange(built, "a", "b", "eth0", count=2)
    built.sweep("b")
    await_sleepers(0)
    with pytest.raises(LabError, match="no host 'c' -- hosts: a, b"):
        built.sweep("c")


@pytest.mark.parametrize("place", ["outside", "inside"])
def test_the_stand_in_for_ssh(place: str, make_lab: MakeLab) -> None:
    built = make_lab(eth=PRESETS["gige"])
    prefix = built.host("a").access if place == "inside" else ()

    def ssh(*words: str) -> tuple[int, str, str]:
        argv = [*prefix, str(built.remote_shell), *words]
        done = subprocess.run(argv, input="told\n", capture_output=True, text=True, timeout=20, check=False)
        return done.returncode, done.stdout, done.stderr

    assert ssh("b", "hostname") == (0, "b\n", "")
    assert (
        ssh("-x", "-q", "-oBatchMode=yes", "-o", "LogLevel=error", "-p", "22", "-l", "me", "b", "hostname")[1] == "b\n"
    )
    assert ssh("me@b", "hostname;", "exit", "7") == (7, "b\n", "")
    assert ssh("b", "printf '%s|' \"$HOME/x y\" two")[1].endswith("/x y|two|")
    assert ssh("b", "cat")[1] == "told\n"
    assert ssh("-n", "--", "b", "pwd")[1] == "/\n"
    status, _, said = ssh("c", "hostname")
    assert (status, said) == (255, "rsh: the lab has no host c\n")
    assert ssh()[0] == 255


def test_what_cannot_be_a_lab_is_refused_before_anything_is_made() -> None:
    gige = {"gige": PRESETS["gige"]}
    wrong = [
        (LabSpec((), gige), "1 to 256 hosts, not 0"),
        (LabSpec(("a", "a"), gige), "two hosts have one name"),
        (LabSpec(("a b",), gige), "'a b' cannot be a host's name"),
        (LabSpec(("a",), {"x,y": PRESETS["gige"]}), "'x,y' cannot be a fabric's name"),
        (LabSpec(("a",), {"x": SwitchSpec("gige", mtu_bytes=9001)}), "MTU of 9001"),
    ]
    for spec, message in wrong:
        with pytest.raises(LabError, match=message):
            lab.up(spec)
    for name in ("../up", ".", "x" * 41):
        with pytest.raises(LabError, match="cannot be a lab's name"):
            lab.up(LabSpec(("a",), gige), name=name)
