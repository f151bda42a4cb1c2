"""InfiniBand ports have no symbol errors."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    count = place.of_port("symbol_error_count")
    if not count:
        return None
    seen = [place.port_witness("symbol_error_count")]
    return Wrong(f"{count} symbols were wrong", "clean or replace the cable; perfquery -R LID PORT sets it to 0", seen)


CHECK = Check(
    "crc-symbol",
    "error",
    "InfiniBand ports have no symbol errors",
    why="packets are damaged and sent again: one pair of hosts is slow",
    source="perfquery's counters, InfiniBand architecture",
    look=each_port("symbol_error_count", _judge),
)
