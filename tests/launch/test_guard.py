"""What outlives us cleans up after us, and holds nobody up when it is stopped itself."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fabriscope.hosts.access.sent import PYTHON_WORDS, order
from fabriscope.launch import _guard
from fabriscope.launch._guard import Guard
from fabriscope.launch.on_host import program
from fabriscope.launch.processes import run_commands, watching
from fabriscope.launch.ssh import ControlFolder
from fabriscope.model.command import Command
from fabriscope.model.errors import LaunchError
from fabriscope.model.host import Host

LONG_S = 60.0
HERE = {"here": Host("here")}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + LONG_S
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_stopped_guard_holds_no_launch_up(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_guard, "END_PATIENCE_S", 0.5)
    guards: list[Guard] = []
    made = Guard.__init__

    def stopped(self: Guard) -> None:
        made(self)
        guards.append(self)
        os.kill(self._watcher.pid, signal.SIGSTOP)

    monkeypatch.setattr(Guard, "__init__", stopped)
    (outcome,) = run_commands([Command(("echo", "well"), "here")], HERE, timeout_s=LONG_S)
    assert outcome.stdout == b"well\n"
    assert guards[0]._watcher.poll() == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


def test_what_a_stopped_guard_would_have_ended_is_ended(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_guard, "END_PATIENCE_S", 0.5)
    with Guard() as guard:
        os.kill(guard._watcher.pid, signal.SIGSTOP)
        left = subprocess.Popen(["sleep", "600"], start_new_session=True)
        guard.started(left.pid)
        for _ in range(20_000):  # more than its pipe holds: whoever is told blocks nobody
            guard.started(2**22 + 1)
            guard.ended(2**22 + 1)
    assert left.wait(LONG_S) == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


def test_what_stands_for_a_program_on_another_host_may_end_by_itself(temporary: Path, tmp_path: Path) -> None:
    """Asked to end, srun kills the guard on the host before that has cleaned up."""
    guard = Guard()
    script = f"trap 'echo asked > {tmp_path}/asked' TERM; echo > {tmp_path}/ready; sleep 1.5; echo > {tmp_path}/ended"
    far = subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True)
    here = subprocess.Popen(["sleep", "600"], start_new_session=True)
    guard.started(here.pid)
    guard.started(far.pid, is_far=True)
    wait_until(lambda: (tmp_path / "ready").exists())
    assert guard._watcher.stdin is not None
    guard._watcher.stdin.close()  # as when we are killed
    assert here.wait(LONG_S) == -signal.SIGTERM
    assert far.wait(LONG_S) == 0
    assert guard._watcher.wait(LONG_S) == 0
    assert (tmp_path / "ended").exists()
    assert not (tmp_path / "asked").exists()
    assert list(temporary.iterdir()) == []


def test_a_stopped_keeper_of_connections_holds_nobody_up(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_guard, "END_PATIENCE_S", 0.5)
    with ControlFolder() as folder:
        assert folder.path.stat().st_mode & 0o777 == 0o700
        os.kill(folder._keeper.pid, signal.SIGSTOP)
    assert folder._keeper.poll() == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


def test_what_a_program_leaves_in_its_temporary_folder_goes_with_the_launch(temporary: Path) -> None:
    script = 'mkdir -p "$TMPDIR/ompi.host.0/deep"; echo "$TMPDIR"; kill -9 $$'
    (outcome,) = run_commands([Command(("/bin/sh", "-c", script), "here")], HERE, timeout_s=LONG_S)
    told = Path(outcome.stdout.decode().strip())
    assert told.parent == temporary
    assert len(str(told)) < len(str(temporary)) + 25, "sockets have short paths"
    assert list(temporary.iterdir()) == []


def test_a_plan_may_name_another_temporary_folder_and_a_job_of_several_machines_has_its_own(temporary: Path) -> None:
    say = ("/bin/sh", "-c", 'echo "$TMPDIR"')
    named = Command(say, "here", env={"TMPDIR": "/elsewhere"})
    far = Command(say, "here", rank_hosts=("here", "there"))
    near = Command(say, "here", rank_hosts=("here", "here"))
    texts = [outcome.stdout.decode().strip() for outcome in run_commands([named, far, near], HERE, timeout_s=LONG_S)]
    assert texts[:2] == ["/elsewhere", str(temporary)]
    assert texts[2].startswith(f"{temporary}/fabriscope-")


KILLED = """
import os, pathlib, signal, sys
from fabriscope.launch.processes import run_commands
from fabriscope.launch.ssh import ControlFolder
from fabriscope.model.command import Command
from fabriscope.model.host import Host
when, pid_file = sys.argv[1:]
mkdir = pathlib.Path.mkdir
def dying(self, *arguments, **named):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    mkdir(self, *arguments, **named)
    if when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    if when == "ssh":
        pathlib.Path.mkdir = mkdir
        ControlFolder()
        os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.mkdir = dying
script = 'mkdir "$TMPDIR/session"; echo $$ > "$0"; sleep 600'
run_commands([Command(("/bin/sh", "-c", script, pid_file), "here")], {"here": Host("here")}, timeout_s=600)
"""


@pytest.mark.parametrize("when", ["before", "after", "ssh", "running", "running, with its whole group"])
def test_whenever_we_are_killed_no_temporary_folder_is_left(when: str, temporary: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", KILLED, when, str(pid_file)], start_new_session=True) as ours:
        if when.startswith("running"):
            wait_until(lambda: pid_file.exists() and pid_file.read_text().strip())
            assert list(temporary.iterdir())
            (os.killpg if "group" in when else os.kill)(ours.pid, signal.SIGKILL)
    assert ours.returncode == -signal.SIGKILL
    wait_until(lambda: not list(temporary.iterdir()))
    if pid_file.exists():
        wait_until(lambda: not Path(f"/proc/{pid_file.read_text().strip()}").exists())


def test_a_host_s_guard_that_is_asked_to_end_in_several_ways_at_once_leaves_nothing(temporary: Path) -> None:
    """Of a job that is over, a scheduler sends signals again and again while its connection closes."""
    orders = {"argv": ["sleep", "600"], "env": {}, "mark": "x", "is_mpi": False, "has_folder": True, "patience_s": 60}
    chance = random.Random(1)
    for _ in range(20):
        text = program(("sweep", "temporary", "guard"), "guard()") + order({**orders, "mark": secrets.token_hex(8)})
        guard = subprocess.Popen(PYTHON_WORDS, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert guard.stdin is not None
        assert guard.stderr is not None
        guard.stdin.write(text)
        guard.stdin.flush()
        wait_until(lambda: list(temporary.glob("fabriscope-*")))  # not the file by which tempfile tries the folder
        time.sleep(chance.uniform(0, 0.02))
        os.kill(guard.pid, signal.SIGSTOP)  # so that all of it has come when it looks
        if chance.random() < 0.5:
            guard.stdin.close()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            guard.send_signal(number)
        os.kill(guard.pid, signal.SIGCONT)
        guard.send_signal(signal.SIGTERM)
        # The last one may come when it is done and Python takes its handlers down.
        assert guard.wait(LONG_S) in (0, 1, 128 + signal.SIGTERM, 128 + signal.SIGKILL, -signal.SIGTERM)
        assert b"Traceback" not in guard.stderr.read()
        guard.stdin.close()
        guard.stderr.close()
        assert list(temporary.iterdir()) == []


def test_watchers_have_a_folder_that_goes_too(temporary: Path) -> None:
    watcher = Command(("/bin/sh", "-c", "echo ready; exec sleep 600"), "here", is_server=True, ready_pattern="ready")
    with watching([watcher], HERE):
        assert list(temporary.iterdir())
    assert list(temporary.iterdir()) == []


def test_a_temporary_folder_in_which_others_can_replace_what_is_ours_is_not_used(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _guard.temporary_root() == temporary
    temporary.chmod(0o777)
    assert _guard.temporary_root() == Path("/tmp")  # noqa: S108 - compared, not used
    monkeypatch.setattr("fabriscope.model.folders.problem", lambda folder, _kind: f"{folder} is open")
    with pytest.raises(LaunchError, match=r"no temporary folder can be trusted: .* -- set TMPDIR to a folder"):
        _guard.temporary_root()
