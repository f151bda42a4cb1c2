"""A program that a signal stopped is told from one that is slow, and ends its launch before the time."""

from __future__ import annotations

from fabriscope.launch._standstill import LOOKS, Standstill
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

HOSTS = {"here": Host("here")}


def test_a_stopped_program_is_known_for_it() -> None:
    commands = [Command(("/bin/sh", "-c", script), "here") for script in ("kill -STOP $$", "exec sleep 60")]
    stopped, slow = run_commands(commands, HOSTS, timeout_s=1.0)
    assert (stopped.stood_still, slow.stood_still) == (True, False)
    assert stopped.exit_status is slow.exit_status is None


def test_a_program_that_stays_stopped_ends_the_launch() -> None:
    commands = [Command(("/bin/sh", "-c", script), "here") for script in ("kill -STOP $$", "exec sleep 3600")]
    stopped, slow = run_commands(commands, HOSTS, timeout_s=60.0, stopped_s=1.0)
    assert (stopped.stood_still, slow.stood_still) == (True, False)
    assert not stopped.timed_out and not slow.timed_out


def test_one_that_is_waited_for_before_the_next_starts_ends_it_too() -> None:
    commands = [Command(("/bin/sh", "-c", "kill -STOP $$"), "here", ready_pattern="never"), Command(("false",), "here")]
    (stopped,) = run_commands(commands, HOSTS, timeout_s=60.0, stopped_s=1.0)
    assert stopped.stood_still


def test_only_looks_in_a_row_count() -> None:
    standstill = Standstill(1.0)
    for stopped in ([{7, 8}] * (LOOKS - 1), [{8}], [{7}] * (LOOKS - 1)):
        for groups in stopped:
            standstill.look(groups)
    assert standstill.found == {8}
    standstill.look({7})
    assert standstill.found == {7, 8}
