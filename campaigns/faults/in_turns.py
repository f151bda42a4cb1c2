"""Faults of one of several launches that measure in turns: the others are to be unharmed."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from campaigns.faults.case import Missed, Run, kill
from campaigns.faults.sites import RANKS, TURNS_LAUNCHES

_SYSCALL_FUTEX = "202"
_TRIES = 2000
_POLL_S = 0.005


def holder_killed(run: Run) -> str:
    """Kill a rank 0 while it has the turn."""
    return f"rank 0 of the launch whose turn it is killed, process {_hit_holder(run, signal.SIGKILL)}"


def holder_stops(run: Run) -> str:
    """Stop a rank 0 while it has the turn."""
    return f"rank 0 of the launch whose turn it is stopped, process {_hit_holder(run, signal.SIGSTOP)}"


def waiting_killed(run: Run) -> str:
    """Kill a rank 0 while it waits for its turn."""
    return f"rank 0 of a launch that waits for its turn killed, process {_hit(run, signal.SIGKILL, sleeps=True)}"


def others_harmed(run: Run) -> Iterator[str]:
    """Yield what failed beside the one launch that was struck."""
    harmed: dict[int, str] = {}
    for line in run.journal():
        record = json.loads(line)
        for one in record["results"].values():
            if one["status"] != "ok":
                harmed.setdefault(record["launch_id"], str(one["reason"]))
    if len(harmed) > 1:
        yield f"one launch was struck, and these failed: {harmed}"


def _hit_holder(run: Run, number: signal.Signals) -> int:
    return _hit(run, number, sleeps=False)


def _hit(run: Run, number: signal.Signals, *, sleeps: bool) -> int:
    """Send a signal to a rank 0 that sleeps in a futex, as those do that wait, or to one that does not."""
    run.random_moment(TURNS_LAUNCHES)
    run.pause_until(lambda: len(_ranks_0(run)) > 1)
    for _ in range(_TRIES):
        states = {pid: waits for pid in _ranks_0(run) if (waits := _waits(pid)) is not None}
        fitting = [pid for pid, waits in states.items() if waits == sleeps]
        if fitting and (sleeps or len(fitting) == 1 < len(states)):  # while all set up, nobody has the turn
            pid = run.chance.choice(fitting)
            kill([pid], number)
            return pid
        if run.is_over():
            break
        time.sleep(_POLL_S)  # the run is to have the processors
    raise Missed


def _ranks_0(run: Run) -> list[int]:
    """Return the processes of ranks 0, which read a specification, as far as all of a group have begun."""
    return [pid for pid in run.programs(RANKS[0]) if "--spec" in _words(pid)]


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def _waits(pid: int) -> bool | None:
    """Return whether the main thread of a process sleeps in a futex; None where it has ended."""
    try:
        return Path(f"/proc/{pid}/syscall").read_text().split()[0] == _SYSCALL_FUTEX
    except OSError:
        return None
