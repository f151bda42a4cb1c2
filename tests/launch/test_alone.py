"""run_commands with commands that are nobody else's end."""

from __future__ import annotations

from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host


def test_commands_that_are_alone_follow_each_other_however_each_ends() -> None:
    scripts = (("exit 3", None), ("sleep 60", 0.3), ("echo third", None))
    alone = [Command(("/bin/sh", "-c", text), "here", is_alone=True, limit_s=limit_s) for text, limit_s in scripts]
    first, second, third = run_commands(alone, {"here": Host("here")}, timeout_s=60)
    assert (first.exit_status, second.timed_out, third.stdout) == (3, True, b"third\n")
    assert not third.timed_out and third.started_unix_ns > second.started_unix_ns + 300_000_000
