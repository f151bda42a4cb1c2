"""The living processes of a process group, and signals to exactly those."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fabriscope.launch.on_host.sweep import signal_if

# A lab's host has process numbers of its own: nsenter starts the program as a child and waits for it.
WAITERS = frozenset({"nsenter", "unshare"})
_STAT_BYTES = 4096
"""More than a line of /proc/PID/stat has."""


@dataclass(frozen=True)
class Member:
    """One living process."""

    pid: int
    parent_pid: int
    name: str
    group: int
    is_stopped: bool = False
    """Whether a signal keeps it from running."""


def living(group: int) -> list[Member]:
    """Return the processes of a group that have not ended."""
    return [member for member in _everybody() if member.group == group]


def stopped(groups: Collection[int]) -> set[int]:
    """Return those groups of which a signal keeps a process from running.

    A waiter stops when its child does, and would stay so when that goes on again: it is woken, and is none of them.
    """
    found = [member for member in _everybody() if member.is_stopped and member.group in groups]
    parents = {member.parent_pid for member in found}
    left = {member.pid for member in found if member.name in WAITERS and member.pid not in parents}
    for member in found:
        if member.pid in left:
            send(member, signal.SIGCONT, member.group)
    return {member.group for member in found if member.pid not in left}


def _everybody() -> Iterator[Member]:
    with os.scandir("/proc") as entries:
        found = [_member(int(entry.name)) for entry in entries if entry.name.isdigit()]
    return (member for member in found if member is not None)


def _member(pid: int) -> Member | None:
    try:  # without Path, whose objects take longer than the kernel's answer: this is asked of every process
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(handle, _STAT_BYTES)
    except OSError:
        return None
    finally:
        os.close(handle)
    before, _, after = text.rpartition(b")")
    state, parent_pid, group = after.split(maxsplit=3)[:3]
    if state in (b"Z", b"X"):
        return None
    name = before.partition(b"(")[2].decode("utf-8", "replace")
    return Member(pid, int(parent_pid), name, int(group), is_stopped=state == b"T")


def programs(group: int) -> list[Member]:
    """Return the living processes of a group without those that merely wait for another one of it.

    A waiter that is asked to end would do so at once, and its child, the program, would be left behind or, where it
    watches its parent, be asked twice. The program itself is the first: its parent waits, or is not of the group.
    """
    members = living(group)
    parents = {member.parent_pid for member in members}
    waiters = {member.pid for member in members if member.name in WAITERS and member.pid in parents}
    working = [member for member in members if member.pid not in waiters]
    own = {member.pid for member in working}
    return sorted(working, key=lambda member: (member.parent_pid in own, member.pid))


def send(member: Member, number: signal.Signals, group: int) -> None:
    """Send a signal, through a handle: a number that was given to somebody else in between is left alone."""
    signal_if(member.pid, number, lambda: _is_of(member.pid, group))


def _is_of(pid: int, group: int) -> bool:
    member = _member(pid)
    return member is not None and member.group == group
