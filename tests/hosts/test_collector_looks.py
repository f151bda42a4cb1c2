"""When the collector looks inside a process of the job."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from fabriscope.hosts import counters


@pytest.fixture
def parts() -> dict[str, Any]:
    """Return what the collector's text defines, as hosts are sent it."""
    names: dict[str, Any] = {}
    exec(counters.program(), names)  # noqa: S102 - our own text
    return names


def test_a_socket_or_a_pipe_that_a_process_opens_is_news_once(parts: dict[str, Any]) -> None:
    looked = parts["Processes"]("ours", {})
    looked.of_job[os.getpid()] = parts["Process"](os.getpid(), time.monotonic())
    looked.have_new_channels()
    assert not looked.have_new_channels()
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        assert looked.have_new_channels()
        assert not looked.have_new_channels()
    ends = os.pipe()
    assert looked.have_new_channels()
    for end in ends:
        os.close(end)


def test_of_many_files_the_new_ones_are_looked_at(parts: dict[str, Any]) -> None:
    parts["FEW_FILES"] = 0
    looked = parts["Processes"]("ours", {})
    looked.of_job[os.getpid()] = parts["Process"](os.getpid(), time.monotonic())
    looked.have_new_channels()
    one, other = socket.socketpair()
    with one, other:
        assert looked.have_new_channels()
        assert not looked.have_new_channels()


def test_what_ends_while_it_is_looked_at_stays_what_it_was(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = parts["Processes"]("ours", {})
    with subprocess.Popen(["sleep", "60"], env={"FABRISCOPE_LAUNCH_MARK": "ours"}) as started:
        try:
            one = parts["Process"](started.pid, time.monotonic())
            until_s = time.monotonic() + 60
            while one.program != "sleep":
                assert time.monotonic() < until_s
                looked.identify(one)
            seen = one.program, one.parent
            read = parts["variables_of"]

            def ends(pid: int) -> Any:
                told = read(pid)
                started.kill()
                started.wait()
                return told

            monkeypatch.setitem(parts, "variables_of", ends)
            assert not looked.identify(one)
            assert (one.program, one.parent) == seen == ("sleep", os.getpid())
        finally:
            started.kill()


# Process 1 of a namespace of its own: a stranger that has begun, who looks as another user, and then an orphan.
SHUT = """
import subprocess
words = ["sh", "-c", "read line; sleep 60 & echo $!; wait"]
stranger = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
asked, answers = os.pipe(), os.pipe()
if os.fork() == 0:
    os.setgid(65534)
    os.setuid(65534)
    problems = {}
    looked = Processes("ours", problems)
    while True:
        os.write(answers[1], (problems.pop("open files", "nothing") + "\\n").encode())
        os.read(asked[0], 1)
        for _ in range(3):
            looked.look(time.monotonic(), True)
            time.sleep(0.05)
told = os.fdopen(answers[0])
told.readline()
stranger.stdin.write(b"go\\n")
stranger.stdin.flush()
stranger.stdout.readline()
os.write(asked[1], b"x")
print("stranger's:", told.readline(), end="")
subprocess.run(["setsid", "--fork", "sleep", "60"], check=True)
os.write(asked[1], b"x")
print("orphan:", told.readline(), end="")
"""


def test_an_orphan_that_may_not_be_read_may_be_the_jobs(tmp_path: Path) -> None:
    """A setuid program that is started in the background: who looks at it as a user sees no mark of the job."""
    needs.root("another user looks at what root has started")
    file = tmp_path / "look.py"
    file.write_text(counters.program() + SHUT)
    argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    stranger, orphan = done.stdout.splitlines() or ["", done.stderr]
    assert stranger == "stranger's: nothing"
    assert "(sleep) may not be read" in orphan


@pytest.mark.parametrize(("parent", "may"), [(1, True), (0, False), (4000, False)])
def test_what_entered_from_another_namespace_of_processes_is_no_orphan(
    parts: dict[str, Any], parent: int, may: bool
) -> None:
    """What `docker exec` starts has no parent, as the collector itself where it came that way."""
    looked = parts["Processes"]("ours", {})
    looked.ancestors = {0, 1}
    parts.update(parent_of=lambda _: parent, real_user_of=lambda _: -1, session_of=lambda _: "/")
    assert looked.may_descend(1234) is may


@pytest.mark.parametrize("always", [True, False])
def test_queue_pairs_are_looked_at_at_the_end_whatever_a_look_costs(
    parts: dict[str, Any], tmp_path: Path, always: bool
) -> None:
    (tmp_path / "class/infiniband/rxe0/ports/1").mkdir(parents=True)
    numbers = [5, 7]
    parts.update(queue_pairs=lambda: {("rxe0", 9, 200): tuple(numbers)}, HOLDERS_SHARE=1e-12)
    rdma = parts["Rdma"](str(tmp_path))
    rdma.note_holders({}, True)
    numbers[1] += 1
    rdma.note_holders({}, always)
    counters_of: dict[str, dict[str, int]] = {"rxe0/1": {}}
    rdma.add_holders(counters_of)
    others = int(always)
    assert counters_of["rxe0/1"] == {"jobs.queue_pairs": 0, "others.queue_pairs": others, "old.queue_pairs": 1 - others}
