"""The control group of a job (cgroups(7), version 2): by it the kernel tells what is the job's.

A process is born into the group of its parent, and a socket into that of the process that makes it, whatever they do
to their environment, session, parent or namespaces. No controller is used: a group that would change how the job is
scheduled or accounted for is not made, and where none can be, marks and descent have to do.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.launch import _births, _datagrams
from fabriscope.launch._births import Noted

PREFIX = "fabriscope-"
GROUP_VARIABLE = "FABRISCOPE_JOB_GROUP"
"""Tells collectors of this kernel the group: its number, its name, and the numbers of the maps of its sockets, of how
connections ended, and of what went by UDP, or 0."""
LEFT_OVER_S = 600.0
"""An empty group of this age belongs to nobody any more."""
_MEMBERS = "cgroup.procs"
_JOIN = '{ echo 0 >"$1"; } 2>/dev/null; shift; exec "$@"'


@dataclass(frozen=True)
class JobGroup:
    """A control group that was made for one job."""

    path: Path
    number: int
    """Its inode, by which the kernel tells whose a socket is."""
    noted: Noted | None = None
    """The maps that have its sockets from their birth to their end; None where there are none."""
    datagrams: int | None = None
    """The map of what they move by UDP; None where nobody counts it."""

    @property
    def words(self) -> str:
        """Return the value of GROUP_VARIABLE."""
        births, ends = self.noted or (0, 0)
        return f"{self.number} {self.path.name} {births} {ends} {self.datagrams or 0}"

    def joining(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return the words by which a program of this machine starts inside the group.

        One that cannot be found is left as it is, so that whoever starts it is told so.
        """
        if shutil.which(argv[0], path=(os.environ if env is None else env).get("PATH")) is None:
            return tuple(argv)
        return ("/bin/sh", "-c", _JOIN, "fabriscope-join", str(self.path / _MEMBERS), *argv)

    def remove(self) -> None:
        """Remove the group; what still lives in it goes back to where the job was started."""
        with contextlib.suppress(OSError):
            for number in (self.path / _MEMBERS).read_text().split():
                (self.path.parent / _MEMBERS).write_text(number)
        with contextlib.suppress(OSError):
            self.path.rmdir()


def make(name: str, *, counts_datagrams: bool = False) -> JobGroup | None:
    """Make a group beneath our own; None where that is not allowed, or would change how the job runs.

    To count datagrams costs some nanoseconds for each packet.
    """
    parent = _own()
    if parent is None:
        return None
    path = parent / f"{PREFIX}{name}"
    try:
        if (parent / "cgroup.subtree_control").read_text().split():
            return None
        path.mkdir()
        made = path.stat()
    except OSError:
        return None
    _remove_left_overs(parent, made.st_mtime)
    if os.access(path / _MEMBERS, os.W_OK) and os.access(parent / _MEMBERS, os.W_OK):
        datagrams = _datagrams.count(path) if counts_datagrams else None
        return JobGroup(path, made.st_ino, _births.follow(path), datagrams)
    with contextlib.suppress(OSError):
        path.rmdir()
    return None


def _own() -> Path | None:
    """Return the folder of the group that we are in, where version 2 is mounted."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        inside = next((line[len("0::") :] for line in lines if line.startswith("0::")), None)
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    except OSError:
        return None
    # ID PARENT DEVICE ROOT PLACE OPTIONS [FIELDS] - TYPE SOURCE OPTIONS
    for root, place in ((words[3], words[4]) for words in mounts if words[words.index("-") + 1] == "cgroup2"):
        if inside is not None and inside.startswith(root) and "/.." not in inside:
            folder = Path(place) / inside[len(root) :].lstrip("/")
            if folder.is_dir():
                return folder
    return None


def _remove_left_overs(parent: Path, now_s: float) -> None:
    """Remove what launches left that were killed with their guards; a group with members stays.

    The time is that of the kernel that made the groups: a clock of ours that jumped would take others' new ones.
    """
    for path in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if now_s - path.stat().st_mtime > LEFT_OVER_S:
                path.rmdir()
