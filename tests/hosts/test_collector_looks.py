"""When the collector looks inside a process of the job."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from typing import Any

import pytest

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
