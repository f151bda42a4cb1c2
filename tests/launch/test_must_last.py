"""Servers that must last: once one has ended by itself, nobody waits for it in vain."""

from __future__ import annotations

import pytest

from fabriscope.launch import processes
from fabriscope.model.command import Command, Outcome
from fabriscope.model.host import Host

LONG_S = 600.0
"""Longer than a test may take: where nobody ends the others, it fails by that."""
HOSTS = {"here": Host("here")}


def sh(script: str, *, is_server: bool = False, must_last: bool = False, ready_pattern: str | None = None) -> Command:
    argv = ("/bin/sh", "-c", script)
    return Command(argv, "here", is_server=is_server, must_last=must_last, ready_pattern=ready_pattern)


def run(*commands: Command) -> list[Outcome]:
    return processes.run_commands(commands, HOSTS, timeout_s=LONG_S)


def test_the_others_are_ended_with_one_that_ends_while_they_start_and_while_they_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "PEER_GRACE_S", 0.1)
    for status in (0, 1):
        server = sh(f"exit {status}", is_server=True, must_last=True)
        assert [outcome.exit_status for outcome in run(server, sh("exec sleep 600"))] == [status, None]
        waiting = sh("exec sleep 600", is_server=True, ready_pattern="never")
        assert [outcome.exit_status for outcome in run(server, waiting, sh("exit 0"))] == [status, None]


def test_one_that_lasts_is_ended_after_the_others() -> None:
    server = sh("exec sleep 600", is_server=True, must_last=True)
    assert [outcome.exit_status for outcome in run(server, sh("exit 0"))] == [None, 0]
