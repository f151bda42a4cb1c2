"""What is left of labs whose owners died: removed, or reported and passed by, wherever it happened."""

from __future__ import annotations

import itertools
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.lab.on_hosts import COMMAND_TIMEOUT_S

from fabriscope import lab
from fabriscope.cli.lab import COMMAND
from fabriscope.lab import Lab, namespaces, processes, state
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec

GONE_TIMEOUT_S = 20.0

# Runs as process 1 of a PID namespace, and reaps nobody's children but its own.
CONTAINER = """
import os, signal, subprocess, sys, time
from pathlib import Path
from fabriscope import lab
from fabriscope.lab import state
from fabriscope.model.lab import LabSpec
subprocess.run(["mount", "-t", "tmpfs", "labs", "/run"], check=True)
owner_text = '''
import subprocess, time
from fabriscope import lab
from fabriscope.model.lab import LabSpec
built = lab.up(LabSpec(("a",), {}), name="dead")
nsenter = subprocess.Popen([*built.host("a").access, "sleep", "1000"], start_new_session=True)
print(nsenter.pid, built.state.keeper.pid, flush=True)
time.sleep(1000)
'''
owner = subprocess.Popen([sys.executable, "-c", owner_text], stdout=subprocess.PIPE, text=True)
waiting, keeper = map(int, owner.stdout.readline().split())
def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
def innermost(pid):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        names = [Path(f"/proc/{one}/comm").read_text().strip() for one in chain(pid)]
        if names[-1] == "sleep":
            return chain(pid)
        time.sleep(0.05)
    raise SystemExit("the program did not start")
def chain(pid):
    return [pid, *[one for child in children(pid)[:1] for one in chain(child)]]
# As a launch is ended: who waits for the program first, then the program, whose parent is us now; and then its owner.
for pid in [*innermost(waiting), owner.pid]:
    os.kill(pid, signal.SIGKILL)
owner.wait()
until = time.monotonic() + 20
try:
    while "zap_pid_ns" not in Path(f"/proc/{keeper}/wchan").read_text() and time.monotonic() < until:
        time.sleep(0.05)
except FileNotFoundError:
    raise SystemExit("the keeper ended: what it waited for was reaped by its own parent, which had not been killed yet")
print("stuck:", state.ProcessId(keeper, state.process_id(keeper).start_ticks).is_alive())
told = []
built = lab.up(LabSpec(("b",), {}), name="next", notice=told.append)
print("labs:", [record.name for record in lab.recorded(told.append)], told)
built.down()
print("left:", os.listdir("/run/fabriscope"))
"""


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "labs"
    monkeypatch.setattr(state, "state_root", lambda: root)
    yield root
    for record in lab.recorded():
        record.remove()


@pytest.fixture
def built(own_state: Path) -> Lab:
    return lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}), name="one", persistent=True)


def test_where_process_1_reaps_nobody_a_killed_run_hinders_no_later_lab() -> None:
    argv = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    argv += ["--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", sys.executable, "-c", CONTAINER]
    for _ in range(5):  # whether the keeper is stuck hangs on which of those that are killed is dead first
        done = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
        if "the keeper ended" not in done.stderr:
            break
    assert done.stdout == "stuck: True\nlabs: ['next'] []\nleft: []\n", done.stderr


def test_a_left_over_that_does_not_end_is_reported_and_passed_by(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        folder = state.new_folder("stuck")
        gone = state.ProcessId(os.getpid(), 1)
        state.LabState("stuck", folder, gone, state.process_id(sleeper.pid), {}).write()
        with monkeypatch.context() as patched:
            patched.setattr("fabriscope.lab.state.os.kill", lambda _pid, _number: None)  # as if in the kernel
            told: list[str] = []
            built = lab.up(LabSpec(("a",), {}), name="next", notice=told.append)
        assert [record.name for record in lab.recorded()] == ["next", "stuck"]
        built.down()
        (sentence,) = told
        assert sentence.startswith(f"lab stuck: its keeper, process {sleeper.pid}, does not end")
        assert folder.exists(), "it can be tried again"
        assert lab.remove_left_overs() == ["stuck"]
    finally:
        sleeper.kill()
        sleeper.wait()


def outer_pid(built: Lab, host: str) -> int:
    inner = built.state.details["pids"][host]
    found = [pid for pid in namespaces._children(built.state.keeper.pid) if namespaces._inner_pid(pid) == inner]
    return found[0]


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + GONE_TIMEOUT_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_lab_whose_host_died_is_told_as_broken(built: Lab) -> None:
    assert built.broken_parts() == {}
    os.kill(outer_pid(built, "b"), signal.SIGKILL)
    wait_until(lambda: bool(built.broken_parts()))
    assert built.broken_parts() == {"b": "its process has ended"}
    result = CliRunner().invoke(COMMAND, ["status", "--counters"])
    assert result.exit_code == 0
    assert "one  broken  since" in result.output
    assert "  host b: its process has ended -- `fabriscope lab down one`, then build it again\n" in result.output
    refused = CliRunner().invoke(COMMAND, ["exec", "b", "--", "true"])
    assert isinstance(refused.exception, LabError)
    assert str(refused.exception) == (
        "lab one: host b is gone: its process has ended -- `fabriscope lab down one`, then build it again"
    )
    words = [sys.executable, "-m", "fabriscope", "lab", "status"]
    assert subprocess.run(words, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False).returncode == 0


def test_a_lab_whose_switch_died_is_told_as_broken(built: Lab) -> None:
    pid = built.switch_pid_file.read_text().strip()
    subprocess.run([*built.keeper_words, "kill", "-9", pid], check=True, timeout=COMMAND_TIMEOUT_S)
    wait_until(lambda: "switch" in built.broken_parts())
    assert "  switch: the switch does not answer" in CliRunner().invoke(COMMAND, ["status"]).output


DYING = """
import os, signal, sys
from pathlib import Path
from fabriscope import lab
from fabriscope.lab import state
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec
root, step, when = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
state.state_root = lambda: root
write, count = state._write, 0
def dying(*arguments):
    global count
    count += 1
    if count == step and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write(*arguments)
    if count == step and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
state._write = dying
lab.up(LabSpec(("a",), {"gige": PRESETS["gige"]}), name="dying", persistent=True)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_who_is_killed_at_any_step_of_building_a_lab_leaves_nothing(own_state: Path, step: int, when: str) -> None:
    """A lab that is to stay is written down four times: its name, what starts its keeper, its keeper, and all of it."""
    token = secrets.token_hex(8)
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(own_state), str(step), when],
        env={**os.environ, "LAB_TEST_TOKEN": token},
        timeout=COMMAND_TIMEOUT_S,
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    is_whole = (step, when) == (4, "after")
    lab.remove_left_overs()
    assert [record.name for record in lab.recorded()] == (["dying"] if is_whole else [])
    for record in lab.recorded():
        record.remove()
    wait_until(lambda: not carrying(token))
    assert list(own_state.iterdir()) == []


def carrying(token: str) -> list[str]:
    """Return the processes that have the token in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if token.encode() in path.read_bytes():
                found.append(path.parts[2])
        except OSError:
            continue
    return found


def test_where_the_keeper_cannot_start_the_reason_is_told_and_nothing_is_left(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "unshare").write_text("#!/bin/sh\necho 'no more namespaces' >&2\nexit 1\n")
    (tmp_path / "bin" / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(LabError, match="this kernel does not let us make namespaces: no more namespaces"):
        lab.up(LabSpec(("a",), {}))
    assert list(own_state.iterdir()) == []


@pytest.mark.parametrize("mask", [0o000, 0o002])
def test_a_lab_is_known_again_whatever_the_umask_says(mask: int) -> None:
    before = os.umask(mask)
    try:
        built = lab.up(LabSpec(("a",), {}), name=f"umask-{mask}")
    finally:
        os.umask(before)
    try:
        assert f"umask-{mask}" in {record.name for record in lab.recorded()}
    finally:
        built.down()


@pytest.mark.parametrize("looks_too_early", [0, 1])
def test_unshare_that_was_stopped_goes_with_its_lab(looks_too_early: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = itertools.count()
    is_stopped = processes.ProcessId.is_stopped
    monkeypatch.setattr(
        processes.ProcessId, "is_stopped", lambda self: next(looks) >= looks_too_early and is_stopped(self)
    )
    built = lab.up(LabSpec(("a",), {}), name=f"stopped-{secrets.token_hex(4)}")
    parent = built.state.keeper.parent("unshare")
    assert parent is not None
    os.kill(parent.pid, signal.SIGSTOP)
    built.down()
    until_s = time.monotonic() + GONE_TIMEOUT_S
    while parent.is_alive() and time.monotonic() < until_s:
        time.sleep(0.01)
    assert not parent.is_alive()


def test_a_stopped_unshare_is_named_and_nothing_of_it_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "unshare"
    program.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nkill -s STOP $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(namespaces, "_START_TIMEOUT_S", 2.0)
    name = f"stopped-{secrets.token_hex(4)}"
    with pytest.raises(LabError, match=r"`unshare`, process \d+, did not start the lab's keeper in 2 s: it is stopped"):
        lab.up(LabSpec(("a",), {}), name=name)
    assert not (state.state_root() / name).exists()
    until_s = time.monotonic() + GONE_TIMEOUT_S
    stat = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    while stat.exists() and ") Z " not in stat.read_text() and time.monotonic() < until_s:
        time.sleep(0.01)
    assert not stat.exists() or ") Z " in stat.read_text()
