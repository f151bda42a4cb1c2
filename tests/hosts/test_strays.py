"""Processes of a job in a network namespace that was there before it: what its interfaces count meanwhile."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import needs

FAR = """
ip link add v0 type veth peer name v1; ip addr add 10.9.8.1/24 dev v0; ip link set v0 up; ip link set v1 up; read _
"""
SENDS = "read _; for i in 1 2 3; do echo >/dev/udp/10.9.8.9/9; done; exec sleep 60"


@pytest.fixture
def of_before() -> Iterator[subprocess.Popen[bytes]]:
    """A namespace with a pair of interfaces, and who keeps it."""
    needs.root("it makes a network namespace")
    words = ["unshare", "--net", "sh", "-c", FAR]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as keeper:
        until_s = time.monotonic() + 60
        while (
            b"v1"
            not in subprocess.run(
                ["nsenter", "--net", "-t", str(keeper.pid), "ip", "-br", "link", "show", "up"],
                capture_output=True,
                check=False,
            ).stdout
        ):
            assert time.monotonic() < until_s
        yield keeper
        keeper.communicate(b"\n")


def test_what_a_namespace_counts_while_the_job_is_there_is_told(parts: dict[str, Any], of_before: Any) -> None:
    looked = parts["Processes"]("ours", {})
    number = str(Path(f"/proc/{of_before.pid}/ns/net").readlink())
    with subprocess.Popen(
        ["nsenter", "--net", "-t", str(of_before.pid), "bash", "-c", SENDS], stdin=subprocess.PIPE
    ) as program:
        until_s = time.monotonic() + 60
        while str(Path(f"/proc/{program.pid}/ns/net").readlink()) != number:
            assert time.monotonic() < until_s
        looked.spaces.note_stray(program.pid, "bash")
        ((told, (name, size)),) = looked.spaces.stray_rows().items()
        assert (f"net:[{told}]", name) == (number, "bash")
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.flush()
        while size == 0:
            ((_, (_, size)),) = looked.spaces.stray_rows().items()
            assert time.monotonic() < until_s
        program.kill()
    assert looked.spaces.stray_rows()[told][1] >= size
    assert looked.spaces.strays[told].file is None, "it is let go when nobody of the job's is there any more"


def test_programs_of_the_job_that_still_run(parts: dict[str, Any]) -> None:
    looked = parts["Processes"]("ours", {})
    with subprocess.Popen(["sleep", "60"], env={"FABRISCOPE_LAUNCH_MARK": "ours"}) as started:
        until_s = time.monotonic() + 60
        while looked.left() != ["sleep"]:
            assert time.monotonic() < until_s
            looked.look(time.monotonic(), also_young=True)
        started.kill()
    looked.look(time.monotonic())
    assert looked.left() == []


def test_a_namespace_that_the_job_made_was_not_there_before(parts: dict[str, Any]) -> None:
    """Of another host of a lab, whose collector enters it, all see the processes."""
    needs.root("it makes a network namespace")
    looked = parts["Processes"]("ours", {})
    with subprocess.Popen(["unshare", "--net", "sleep", "60"]) as program:
        one = parts["Process"](program.pid, time.monotonic())
        one.is_marked = True  # by its control group
        until_s = time.monotonic() + 60
        while str(Path(f"/proc/{program.pid}/ns/net").readlink()) == looked.spaces.own:
            assert time.monotonic() < until_s
        assert not looked.is_here(one)
        assert looked.spaces.strays == {}
        program.kill()
