"""A run folder on a disk so small that it can be filled."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from campaigns.faults.case import Run

LAB_LAUNCHES = 9
_DISK_BYTES = 4 << 20


def fill(run: Run, launch_count: int = LAB_LAUNCHES) -> str:
    """Fill the disk in the middle of a random launch."""
    run.random_moment(launch_count)
    with (run.path.parent / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            return "the run folder's disk filled to the last page"


@contextmanager
def small(run: Run) -> Iterator[None]:
    """Give the run a small disk, and keep what is on it."""
    disk = run.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "small", str(disk)], check=True)
    run.path = disk / "run"
    try:
        yield
    finally:
        kept = run.folder / "kept"
        shutil.copytree(disk, kept)
        subprocess.run(["umount", str(disk)], check=True)
        run.path = kept / run.path.name


def make_room(run: Run) -> None:
    """Remove what filled the disk."""
    (run.path.parent / "filler").unlink(missing_ok=True)
