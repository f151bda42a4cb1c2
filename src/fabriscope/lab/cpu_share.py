"""A guest that is a slower machine: its kernel runs in a control group that has a share of a processor's time.

The group is made where this process has a group of its own, by version 1 (`cpu.cfs_quota_us`) or 2 (`cpu.max`),
whichever holds the controller. Which groups a lab has made stands in its folder, so that exactly they are removed.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import LabError

QUOTA_US = 1000
"""The least that the kernel takes: a guest runs for this time, then waits for the rest of the period."""
RECORD = "groups"
_REMOVE_TIMEOUT_S = 2.0
_MOUNTS = Path("/proc/self/mountinfo")
_GROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Place:
    """A folder in which groups with a share of a processor can be made."""

    folder: Path
    version: int

    def limit(self, group: Path, share: float) -> None:
        """Give a group its share of one processor; raises OSError."""
        period_us = round(QUOTA_US / share)
        if self.version == 2:
            (group / "cpu.max").write_text(f"{QUOTA_US} {period_us}")
            return
        (group / "cpu.cfs_period_us").write_text(str(period_us))
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))


def make(lab_folder: Path, guest: str, share: float, found: Place | None = None) -> Path:
    """Return a new group, recorded in the lab's folder, with a share of one processor. Raises LabError."""
    place = found or find()
    group = place.folder / f"fabriscope-{lab_folder.name}-{guest}"
    try:
        with (lab_folder / RECORD).open("a") as record:
            record.write(f"{group}\n")  # first: what is killed in between leaves no group that nobody knows
        group.mkdir()
        place.limit(group, share)
    except OSError as error:
        what = f"it cannot have {share:.0%} of a processor: {group} cannot be made ({error.strerror})"
        raise LabError(what, where=f"host {guest}", fix="run as root, or leave cpu_share out") from error
    return group


def remove(lab_folder: Path) -> None:
    """Remove the groups that a lab has made; whatever ran in them must have ended."""
    try:
        groups = [Path(line) for line in (lab_folder / RECORD).read_text().splitlines()]
    except OSError:
        return
    deadline = time.monotonic() + _REMOVE_TIMEOUT_S
    for group in groups:
        while group.is_dir() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # the last process is still on its way out
                group.rmdir()
                break
            time.sleep(0.01)


def find(mounts: Path = _MOUNTS, groups: Path = _GROUPS) -> Place:
    """Return the nearest place, from this process's own group upwards, where a share can be given; raises LabError."""
    reasons = []
    for version, folder, top in _hierarchies(mounts.read_text(), groups.read_text()):
        for one in (folder, *folder.parents):
            if not one.is_relative_to(top):
                break
            if version == 2 and "cpu" not in _words(one / "cgroup.subtree_control"):
                reasons.append(f"{one} hands no controller of processors down")
            elif not os.access(one, os.W_OK):
                reasons.append(f"{one} is not ours to write in")
            else:
                return Place(one, version)
    why = reasons[0] if reasons else "this machine has no control groups of processors (cgroup)"
    raise LabError(f"no guest can have a share of a processor here: {why}", fix="run as root, or leave cpu_share out")


def _hierarchies(mounts: str, groups: str) -> Iterator[tuple[int, Path, Path]]:
    """Yield version, our own group's folder, and the folder of its hierarchy, of those that have processors."""
    own: dict[str, str] = {}
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    for line in mounts.splitlines():
        head, _, tail = line.partition(" - ")
        root, mounted = head.split()[3:5]
        kind, _, options = tail.split(" ")[:3]  # the source in between may be empty
        if kind == "cgroup2" and "" in own:
            version, path = 2, own[""]
        elif kind == "cgroup" and "cpu" in options.split(","):
            version, path = 1, own.get("cpu", "/")
        else:
            continue
        inside = os.path.relpath(path, root)
        outside_of_it = inside == "." or inside.startswith("..")
        yield version, Path(mounted) if outside_of_it else Path(mounted, inside), Path(mounted)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
