"""The processes that a lab is recorded by: told apart from later ones of the same number, and whether they ended."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import LabError

_IS_EXITING = 0x4
"""Of the flags in /proc/PID/stat: the process ends, and will never run a program's instruction again (PF_EXITING)."""


@dataclass(frozen=True)
class ProcessId:
    """A process that cannot be mistaken for a later one of the same number."""

    pid: int
    start_ticks: int
    """Start time in clock ticks since boot, field 22 of /proc/PID/stat."""

    def is_alive(self) -> bool:
        """Return whether this very process still runs (a zombie does not)."""
        fields = _stat(self.pid)
        return fields is not None and fields.start_ticks == self.start_ticks

    def parent(self, name: str) -> ProcessId | None:
        """Return the process that started it, if it is called so and still runs."""
        fields = _stat(self.pid)
        if fields is None or fields.start_ticks != self.start_ticks:
            return None
        found = _stat(fields.parent)
        return ProcessId(fields.parent, found.start_ticks) if found is not None and found.name == name else None

    def is_stopped(self) -> bool:
        """Return whether this very process has been sent SIGSTOP, or is traced."""
        fields = _stat(self.pid)
        return fields is not None and fields.start_ticks == self.start_ticks and fields.is_stopped

    def kill(self) -> None:
        """Send SIGKILL to this very process; raises PermissionError."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def has_ended_with_all_below(self) -> bool:
        """Return whether process 1 of a PID namespace has ended, or waits in vain for nothing but zombies to be reaped.

        What was started in there from outside (nsenter) and lost its parent is a child of the machine's process 1. In
        a container that one may reap nobody, and then the kernel never lets process 1 of the namespace go. Its mounts
        and interfaces are gone all the same.
        """
        if not self.is_alive():
            return True
        fields = _stat(self.pid)
        return fields is not None and fields.is_exiting and not any(_living_beside(self.pid))


def process_id(pid: int) -> ProcessId:
    """Return the identity of a running process; raises LabError if it is gone."""
    fields = _stat(pid)
    if fields is None:
        raise LabError(f"process {pid} of the lab ended at once")
    return ProcessId(pid, fields.start_ticks)


@dataclass(frozen=True)
class _Stat:
    name: str
    parent: int
    start_ticks: int
    is_exiting: bool
    is_stopped: bool


def _stat(pid: int | str) -> _Stat | None:
    """Return what the kernel says of a process; None if it has ended, zombies among them."""
    try:
        head, _, rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    if fields[0] in "ZX":
        return None
    is_exiting = bool(int(fields[6]) & _IS_EXITING)
    return _Stat(head.partition("(")[2], int(fields[1]), int(fields[19]), is_exiting, fields[0] in "Tt")


def _living_beside(pid: int) -> Iterator[str]:
    """Yield the other living processes of a process's PID namespace; that process itself where it cannot be told."""
    try:
        namespace = Path(f"/proc/{pid}/ns/pid").readlink()
    except OSError:
        yield str(pid)
        return
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == pid or _stat(entry.name) is None:
            continue
        try:
            if (entry / "ns" / "pid").readlink() == namespace:
                yield entry.name
        except OSError:
            continue  # it has ended, or it is another user's
