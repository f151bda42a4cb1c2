"""A program that a signal stopped is told from one that is slow, when it is ended."""

from __future__ import annotations

from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

HOSTS = {"here": Host("here")}


def test_a_stopped_program_is_known_for_it() -> None:
    commands = [Command(("/bin/sh", "-c", script), "here") for script in ("kill -STOP $$", "exec sleep 60")]
    stopped, slow = run_commands(commands, HOSTS, timeout_s=1.0)
    assert (stopped.stood_still, slow.stood_still) == (True, False)
    assert stopped.exit_status is slow.exit_status is None
