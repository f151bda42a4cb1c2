"""What a program that is started on the host may use: locked memory, shared memory, files, mappings."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_LIMITS = "/proc/self/limits"
_SHARED = "df -B1 --output=size /dev/shm"
UNLIMITED = "unlimited"


def _facts(reading: Reading) -> list[Fact]:
    text, problem = reading.output(_SHARED)
    lines = text.split()
    size = int(lines[-1]) if lines and lines[-1].isdecimal() else None
    return [
        reading.fact("limit.locked_bytes", _LIMITS, lambda text: _soft(text, "Max locked memory")),
        reading.fact("limit.open_files", _LIMITS, lambda text: _soft(text, "Max open files")),
        Fact("limit.shared_memory_bytes", size, None if size is not None else problem or "df tells no size"),
        reading.fact("limit.mapping_count", "/proc/sys/vm/max_map_count", int),
    ]


def _soft(text: str, title: str) -> str | int:
    """Return the soft limit of a line of /proc/self/limits, of the program that reads it."""
    match = re.search(rf"^{title}\s+(\S+)", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"no line {title!r}")
    return UNLIMITED if match[1] == UNLIMITED else int(match[1])


FACTS = Group(
    "limit",
    _facts,
    globs=(_LIMITS, "/proc/sys/vm/max_map_count"),
    commands=(tuple(_SHARED.split()),),
)
