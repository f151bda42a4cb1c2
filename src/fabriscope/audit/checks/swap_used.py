"""No memory is swapped out."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    used = place.number("memory.swap_used_bytes")
    if used <= 64 << 20:
        return None
    return Wrong("more than 64 MiB are swapped out", "free memory, then swapoff -a; swapon -a",
                 [place.witness("memory.swap_used_bytes", "free -b")])  # fmt: skip


CHECK = Check(
    "swap-used",
    "warning",
    "no memory is swapped out",
    why="what is swapped out comes back in milliseconds",
    source="LBNL node health check",
    look=each(r"memory\.swap_used_bytes", _judge),
)
