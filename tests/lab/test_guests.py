"""Guests: hosts with a kernel of their own, on the same switches as the others; and that nothing is left of them.

Skipped where no kernel has been built (`fabriscope lab kernel build`). FABRISCOPE_GUEST_BOOTS and
FABRISCOPE_GUEST_KILLS say how often labs are built and killed: once, where a campaign does it 30 and 10 times.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from tests import needs
from tests.lab.on_hosts import COMMAND_TIMEOUT_S, MakeLab, exchange, leave_sleeping, on, python
from tests.lab.test_lab import GONE_TIMEOUT_S, outside, processes_of

from fabriscope import lab
from fabriscope.lab import Lab, guests
from fabriscope.lab.presets import PRESETS
from fabriscope.lab.state import ProcessId, process_id
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec

BOOTS = int(os.environ.get("FABRISCOPE_GUEST_BOOTS", "1"))
KILLS = int(os.environ.get("FABRISCOPE_GUEST_KILLS", "1"))
GIGE = PRESETS["gige"]

OWNER = """
import subprocess, sys, time
from fabriscope import lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec
built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}, guests=("a", "b"), rdma={"gige": "rxe"}))
busy = subprocess.Popen([*built.host("b").access, "sh", "-c", "while :; do :; done"])
print(built.name, built.state.keeper.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture(scope="module", autouse=True)
def _kernel() -> None:
    needs.guests()


@pytest.fixture(scope="module")
def built(_kernel: None) -> Iterator[Lab]:
    """A lab for all that leaves it as it was, since a kernel takes long to boot."""
    one = lab.up(LabSpec(("a", "b", "n"), {"gige": GIGE, "plain": PRESETS["local"]}, guests=("a", "b")))
    yield one
    one.down()


def test_a_guest_runs_commands_as_any_host_does(built: Lab) -> None:
    assert built.host("a").kind == "guest"
    assert on(built, "a", "hostname").stdout == "a\n"
    assert on(built, "a", "uname", "-r").stdout != on(built, "n", "uname", "-r").stdout
    assert on(built, "a", "pwd").stdout == f"{Path.cwd()}\n"
    assert on(built, "a", "sh", "-c", "ls /sys/class/net").stdout.split() == [
        *("dummy0", "eth0", "eth1", "lo", "mgmt0", "sit0")
    ]
    done = on(built, "a", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 7)
    assert on(built, "a", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    assert on(built, "a", "no-such-program").returncode == 127
    argv = [*built.host("a").access, "sh", "-c", 'echo "$WORD"; wc -c']
    data, env = b"x" * 3_000_000, {**os.environ, "WORD": "two words"}
    told = subprocess.run(argv, input=data, env=env, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=True)
    assert told.stdout.split(b"\n")[:2] == [b"two words", str(len(data)).encode()]


def test_what_a_guest_writes_stays_with_it(built: Lab, tmp_path: Path) -> None:
    (tmp_path / "read").write_text("of the machine\n")
    assert on(built, "a", "cat", str(tmp_path / "read")).stdout == "of the machine\n"
    assert on(built, "a", "sh", "-c", f"echo changed > {tmp_path}/read; echo new > {tmp_path}/made").returncode == 0
    assert on(built, "a", "cat", str(tmp_path / "read")).stdout == "changed\n"
    assert on(built, "b", "cat", str(tmp_path / "read")).stdout == "of the machine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["read"]


def test_a_signal_reaches_the_program_and_its_end_ends_what_it_began(built: Lab) -> None:
    script = 'trap "echo ended; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
    argv = [*built.host("a").access, "sh", "-c", script]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (program,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(program), signal.SIGTERM)  # nsenter waits for the one that hands signals on
        assert process.stdout.readline() == "ended\n"
        assert process.wait(COMMAND_TIMEOUT_S) == 3
    with subprocess.Popen([*built.host("a").access, "sleep", "1000"]) as process:
        time.sleep(0.3)
        (program,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(program), signal.SIGKILL)
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while "sleep" in on(built, "a", "ps", "-eo", "comm").stdout and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "sleep" not in on(built, "a", "ps", "-eo", "comm").stdout


def test_one_switch_serves_both_kinds_of_hosts(built: Lab) -> None:
    before = _frames_and_bytes(built)
    for sender, receiver in (("a", "b"), ("a", "n"), ("n", "a")):
        exchange(built, sender, receiver, "eth0")
        exchange(built, sender, receiver, "eth1")
        exchange(built, sender, receiver, "mgmt0")
    passed = {place: after - before[place] for place, after in _frames_and_bytes(built).items()}
    assert passed["a", "up", "frames"] == 40
    assert passed["a", "down", "frames"] == 20
    assert passed["n", "up", "bytes"] == 20 * 1442


def _frames_and_bytes(built: Lab) -> dict[tuple[str, str, str], int]:
    """Return what passed the ports of gige so far, by host, way and unit."""
    ports = [port for port in built.counters()["ports"] if port["fabric"] == "gige"]
    every = ((port, way, unit) for port in ports for way in ("up", "down") for unit in ("frames", "bytes"))
    return {(port["host"], way, unit): port[way][unit] for port, way, unit in every}


def test_a_guest_takes_in_nothing_that_it_sent_itself(built: Lab) -> None:
    count, read = 1_000_000, "cat /sys/class/net/mgmt0/statistics/rx_bytes"
    before = int(on(built, "a", "sh", "-c", read).stdout)
    assert len(on(built, "a", "sh", "-c", f"head -c {count} /dev/zero | tr '\\0' x").stdout) == count
    assert int(on(built, "a", "sh", "-c", read).stdout) - before < count / 2


def test_every_host_reaches_every_other_by_the_stand_in_for_ssh(built: Lab) -> None:
    for where in ("a", "b", "n"):
        for host in ("a", "b", "n"):
            told = on(built, where, str(built.remote_shell), host, "hostname; echo $((6 * 7)); exit 5")
            assert (told.stdout, told.returncode) == (f"{host}\n42\n", 5), (where, host, told.stderr)


def test_guests_have_rdma_devices(make_lab: MakeLab) -> None:
    built = make_lab(("a",), ("a",), {"roce": "rxe", "warp": "siw"}, roce=GIGE, warp=GIGE)
    script = "cd /sys/class/infiniband; for d in *; do echo $d $(cat $d/ports/1/state); done"
    assert on(built, "a", "sh", "-c", script).stdout == "rxe0 4: ACTIVE\nsiw1 4: ACTIVE\n"
    with pytest.raises(LabError, match="n cannot speak verbs"):
        make_lab(("a", "n"), ("a",), {"gige": "rxe"}, gige=GIGE)


def test_the_kernel_of_a_guest_goes_before_its_programs(built: Lab) -> None:
    needs.program("ps")
    script = """
children() { cat /proc/"$1"/task/*/children; }
niceness() { for one in "$@"; do ps -o ni= -p "$one"; done; }
kernel=$(children "$(cat "$1")") && niceness $kernel $(children $kernel)
"""
    argv = [*built.keeper_words, "sh", "-c", script, "sh", str(guests.pid_file(built.state.folder, "a"))]
    kernel, *programs = map(int, subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split())
    lowered = subprocess.run(["nice", "-n", "-1", "nice"], capture_output=True, text=True, check=True)
    is_allowed = int(lowered.stdout) < os.nice(0)
    assert programs
    assert (kernel, set(programs)) == ((-10, {0}) if is_allowed else (os.nice(0), {os.nice(0)}))


def test_a_panic_is_told_with_the_console_and_mended() -> None:
    built = lab.up(LabSpec(("a",), {"gige": GIGE}, guests=("a",), guest_memory_bytes=96 << 20))
    try:
        hog = (
            "open('/proc/sys/vm/panic_on_oom', 'w').write('1'); hogs = [bytearray(b'x') * (1 << 22) for _ in range(64)]"
        )
        ended = python(built, "a", hog)
        assert ended.returncode == 255
        assert "Kernel panic" in ended.stderr, ended.stderr
        assert on(built, "a", "true").returncode == 255
        (sentence,) = built.mend()
        assert "Kernel panic" in sentence
        assert on(built, "a", "hostname").stdout == "a\n"
        assert built.mend() == []
    finally:
        built.down()


def test_a_guest_may_be_called_like_the_switch(make_lab: MakeLab) -> None:
    built = make_lab(("switch",), ("switch",), gige=GIGE)
    pid = built.switch_pid_file.read_text().strip()
    subprocess.run([*built.keeper_words, "kill", "-9", pid], check=True)
    (sentence,) = built.mend()
    assert "switch" in sentence
    assert built.mend() == []
    assert on(built, "switch", "hostname").stdout == "switch\n"
    assert [port["host"] for port in built.counters()["ports"]] == ["switch"]


def test_a_sweep_ends_a_guest_s_processes(built: Lab) -> None:
    leave_sleeping(built, "a")
    while "sleep" not in on(built, "a", "ps", "-eo", "comm").stdout:  # it begins as the shell that starts it
        time.sleep(0.05)
    for host in ("a", "n"):
        built.sweep(host)
    assert "sleep" not in on(built, "a", "ps", "-eo", "comm").stdout
    assert on(built, "a", str(built.remote_shell), "n", "hostname").stdout == "n\n"  # the agents still serve


def alive(processes: Iterable[ProcessId]) -> list[ProcessId]:
    """Return those that still run."""
    return [one for one in processes if one.is_alive()]


def processes_of_lab(keeper: int) -> list[ProcessId]:
    """Return every process of a lab. The number of a namespace would not do: the next lab of anybody may get it."""
    namespace = Path(f"/proc/{keeper}/ns/pid").readlink()
    found = []
    for pid in processes_of(namespace):
        with contextlib.suppress(LabError):  # it has ended meanwhile
            found.append(process_id(int(pid)))
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert is_so()


@pytest.mark.timeout(1800)
def test_nothing_is_left_of_guests_that_went_down() -> None:
    before = outside()
    for _ in range(BOOTS):
        built = lab.up(LabSpec(("a", "b"), {"gige": GIGE}, guests=("a", "b")))
        assert on(built, "b", "hostname").stdout == "b\n"
        processes = processes_of_lab(built.state.keeper.pid)
        assert len(processes) > len(("keeper", "a", "b", "switch", "kernel of a", "kernel of b"))
        built.down()
        assert alive(processes) == []
        assert not built.state.folder.exists()
    assert outside() == before
    assert not (Path.home() / ".uml" / "a").exists()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("victim", ["owner", "keeper"])
def test_nothing_is_left_of_guests_whose_lab_was_killed(victim: str) -> None:
    before = outside()
    for _ in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
            assert owner.stdout is not None
            name, keeper = owner.stdout.readline().split()
            record = next(record for record in lab.recorded() if record.name == name)
            processes = processes_of_lab(int(keeper))
            assert processes
            os.kill(owner.pid if victim == "owner" else int(keeper), signal.SIGKILL)
            wait_until(lambda alike=processes: alive(alike) == [])  # type: ignore[misc]
            owner.kill()
        assert record.is_left_over
        lab.remove_left_overs()
        wait_until(lambda folder=record.folder: not folder.exists())  # type: ignore[misc] # others may remove it too
    assert outside() == before
