"""Shared memory has 1 GiB at least."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    size = place.number("limit.shared_memory_bytes")
    if size >= 1 << 30:
        return None
    seen = [place.witness("limit.shared_memory_bytes", "df -B1 /dev/shm")]
    remedy = "mount -o remount,size=8g /dev/shm; start a container with --shm-size 8g"
    return Wrong(f"shared memory has {size / (1 << 20):.0f} MiB", remedy, seen)


CHECK = Check(
    "container-shm",
    "error",
    "shared memory has 1 GiB at least",
    why="libraries fail in containers whose /dev/shm has 64 MB",
    source="NVIDIA/nccl-tests#206",
    look=each(r"limit\.shared_memory_bytes", _judge),
)
