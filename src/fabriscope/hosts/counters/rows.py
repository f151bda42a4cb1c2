"""What a collector says in one row, checked: a process of the job, what the job's datagrams moved."""

from __future__ import annotations

from typing import Any

from fabriscope.model.counters import CHANNEL, DeviceSeries
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign, shown

MOST_COUNT = 2**64 - 1
"""What the kernel's counters hold."""
_MOST_TCP_PORT = 65_535
_RANKS = ("rank", "step_rank")
_OWN_COUNTS = 6


def device_series(line: Foreign) -> DeviceSeries:
    """Return what a device counted over time; raises ParseError."""
    counters = {name: part.wholes(most=MOST_COUNT) for name, part in line.at("counters").members()}
    at_ns, length_ns = line.at("at_unix_ns").wholes(), line.at("length_ns").wholes()
    try:
        return DeviceSeries(line.at("device").text(), line.at("since_unix_ns").whole(), at_ns, length_ns, counters)
    except ValueError as error:
        raise ParseError(str(error), where=line.where) from None


def process_row(row: Foreign) -> dict[str, Any]:
    """Return a process as the collector says it, each member of its type."""
    ranks = {name: part if part is None else part.whole() for name in _RANKS for part in [row.get(name)]}
    return {
        **ranks,
        "pid": row.at("pid").whole(),
        "parent": row.at("parent").whole(),
        "program": row.at("program").text(),
        "is_marked": row.at("is_marked").flag(),
        "shared": {name: size.whole() for name, size in row.at("shared").members()},
        "devices": row.at("devices").texts(),
        "listens": row.at("listens").wholes(most=_MOST_TCP_PORT),
        "datagrams": row.at("datagrams").texts(),
        "channels": _channels(row.get("channels")),
        "moved": _moved(row.get("moved")),
    }


def _moved(part: Foreign | None) -> tuple[int, int]:
    moved = part.wholes() if part is not None else (0, 0)
    if len(moved) != 2:
        raise ParseError(
            f"{len(moved)} numbers are not what was read and what was written", where=part.where if part else ""
        )
    return moved[0], moved[1]


def _channels(part: Foreign | None) -> tuple[str, ...]:
    channels = part.texts() if part is not None else ()
    for one in channels:
        if not CHANNEL.fullmatch(one):
            raise ParseError(
                f"{shown(one)} is no end of a pipe, a file or a Unix socket", where=part.where if part else ""
            )
    return tuple(channels)


def own_datagrams(part: Foreign | None) -> dict[str, tuple[int, ...]] | None:
    """Return interface to packets, bytes and bytes of options, out and in."""
    if part is None or part.value is None:
        return None
    found = {name: row.wholes(most=MOST_COUNT) for name, row in part.members()}
    for name, row in found.items():
        if len(row) != _OWN_COUNTS:
            raise ParseError(f"{len(row)} numbers are not {_OWN_COUNTS} for datagrams by {name}", where=part.where)
    return found


def strays(part: Foreign | None) -> dict[str, tuple[str, int]]:
    """Return network namespace to which program of the job was in it, and how much its interfaces counted meanwhile."""
    found = {}
    for number, row in part.members() if part is not None else ():
        program, size = row.items()
        found[number] = program.text(), size.whole()
    return found
