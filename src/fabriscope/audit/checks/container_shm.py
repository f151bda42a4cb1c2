"""Shared memory has 1 GiB at least, or, of a small host, about the half of its memory that Linux gives it."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong

LEAST_BYTES = 1 << 30
LEAST_SHARE = 0.4
"""Of the host's memory: unless it is told otherwise Linux gives half of it, a container's runtime 64 MB."""


def _judge(place: Place) -> Wrong | None:
    size = place.number("limit.shared_memory_bytes")
    total = place.get("memory.total_bytes")
    is_usual = isinstance(total, int) and size >= LEAST_SHARE * total
    if size >= LEAST_BYTES or is_usual:
        return None
    seen = [place.witness("limit.shared_memory_bytes", "df -B1 /dev/shm")]
    remedy = "mount -o remount,size=8g /dev/shm; start a container with --shm-size 8g"
    return Wrong(f"shared memory has {size / (1 << 20):.0f} MiB", remedy, seen)


CHECK = Check(
    "container-shm",
    "error",
    "shared memory has 1 GiB at least, or of a small host the usual half of its memory",
    why="libraries fail in containers whose /dev/shm has 64 MB",
    source="NVIDIA/nccl-tests#206",
    look=each(r"limit\.shared_memory_bytes", _judge),
)
