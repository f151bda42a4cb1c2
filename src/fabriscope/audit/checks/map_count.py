"""A program may have 65530 mappings at least."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    count = place.number("limit.mapping_count")
    if count >= 65530:
        return None
    seen = [place.witness("limit.mapping_count", "sysctl vm.max_map_count")]
    return Wrong(f"a program may have {count:.0f} mappings", "sysctl vm.max_map_count=262144", seen)


CHECK = Check(
    "map-count",
    "warning",
    "a program may have 65530 mappings at least",
    why="many registrations fail",
    source="openucx/ucx#6264",
    look=each(r"limit\.mapping_count", _judge),
)
