"""The kernel tells what is a job's, whatever that does to itself; the group goes with the launch."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.launch.collectors import names_of_collector

from fabriscope.launch import job_group
from fabriscope.launch.job_group import JobGroup
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

LONG_S = 60.0
HIDING = """
import os, sys
if os.fork():
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
os.execve("/bin/sh", ["sh", "-c", "cat /proc/self/cgroup > $0; exec sleep 600", sys.argv[1]], {})
"""


@pytest.fixture
def group() -> Iterator[JobGroup]:
    made = job_group.make(secrets.token_hex(8))
    if made is None:
        pytest.skip("no control group can be made here: version 2 of cgroups is not mounted, or not ours to write")
    yield made
    made.remove()


def test_what_hides_from_everything_else_is_still_a_member(group: JobGroup, tmp_path: Path) -> None:
    told = tmp_path / "told"
    subprocess.run(group.joining([sys.executable, "-c", HIDING, str(told)]), env={}, timeout=LONG_S, check=True)
    until_s = time.monotonic() + LONG_S
    while not (told.exists() and told.read_text().endswith("\n")):
        assert time.monotonic() < until_s
        time.sleep(0.01)
    members = [int(number) for number in (group.path / "cgroup.procs").read_text().split()]
    assert f"/{group.path.name}\n" in told.read_text()
    group.remove()
    assert not group.path.exists()
    for member in members:
        os.kill(member, signal.SIGKILL)  # it was only moved out: nobody but its owner ends it


def test_a_program_that_is_not_there_is_left_to_whoever_starts_it(group: JobGroup) -> None:
    assert group.joining(["no-such-program", "1"]) == ("no-such-program", "1")


def test_a_group_with_controllers_is_not_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    monkeypatch.setattr(job_group, "_own", lambda: tmp_path)
    assert job_group.make("x") is None
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.subtree_control"]


def test_a_launch_has_a_group_while_it_runs_and_none_after_it(group: JobGroup) -> None:
    (outcome,) = run_commands([Command(("cat", "/proc/self/cgroup"), "here")], {"here": Host("here")}, timeout_s=LONG_S)
    name = next(line for line in outcome.stdout.decode().splitlines() if line.startswith("0::")).rpartition("/")[2]
    assert name.startswith(job_group.PREFIX)
    assert not (group.path.parent / name).exists()


@pytest.mark.parametrize(("is_inside", "ownership"), [(True, "group"), (False, "marks")])
def test_a_process_of_the_job_that_is_not_in_its_group_makes_marks_of_it(
    group: JobGroup, monkeypatch: pytest.MonkeyPatch, *, is_inside: bool, ownership: str
) -> None:
    monkeypatch.setenv(job_group.GROUP_VARIABLE, f"{group.path.stat().st_ino} {group.path.name} 0 0 0")
    names = names_of_collector()
    seen = names["Processes"]("our-mark", {})
    argv = ("sleep", "60")
    env = {**os.environ, "FABRISCOPE_LAUNCH_MARK": "our-mark.1"}
    with subprocess.Popen(group.joining(argv) if is_inside else argv, env=env) as started:
        try:
            until_s = time.monotonic() + LONG_S
            while not Path(f"/proc/{started.pid}/cmdline").read_bytes().startswith(b"sleep"):
                assert time.monotonic() < until_s
                time.sleep(0.01)
            one = names["Process"](started.pid, time.monotonic())
            assert seen.identify(one)
            assert seen.ownership() == ownership
        finally:
            started.kill()


SOCKETS = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
served, _ = listener.accept()
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print([int.from_bytes(one.getsockopt(socket.SOL_SOCKET, 57, 8), "little") for one in (client, served, datagrams)])
"""  # 57 is SO_COOKIE


def test_sockets_are_known_from_their_birth_after_they_are_gone(group: JobGroup) -> None:
    if group.noted is None:
        pytest.skip("eBPF is root's, and of kernels that have it")
    names = names_of_collector()
    births = names["Births"](*group.noted)
    argv = [sys.executable, "-c", SOCKETS]
    ours, others = (
        json.loads(subprocess.run(words, capture_output=True, timeout=LONG_S, check=True).stdout)
        for words in (group.joining(argv), argv)
    )
    assert [births.has(cookie) for cookie in ours] == [True, True, True]
    assert [births.has(cookie) for cookie in others] == [False, False, False]
    assert names["Births"](0).has(ours[0]) is None


def test_a_clock_that_jumps_takes_no_group_of_others(group: JobGroup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 4e9)
    other = job_group.make(secrets.token_hex(8))
    assert other is not None
    other.remove()
    assert group.path.is_dir()


def test_a_launch_whose_group_was_removed_runs_without(group: JobGroup) -> None:
    group.path.rmdir()
    assert group.words.split()[1] == group.path.name
    done = subprocess.run(group.joining(["/bin/echo", "here"]), stdout=subprocess.PIPE, timeout=LONG_S, check=True)
    assert done.stdout == b"here\n"
