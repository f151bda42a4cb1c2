"""No frame came damaged to a switch."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    count = place.of_port("rx_crc_error_count")
    if not count:
        return None
    seen = [place.port_witness("rx_crc_error_count")]
    return Wrong("frames came damaged", "look whether the counter grows; then replace the cable", seen)


CHECK = Check(
    "ports-crc",
    "warning",
    "no frame came damaged to a switch",
    why="a cable or module damages frames, which are lost",
    source="IEEE 802.3",
    look=each_port("rx_crc_error_count", _judge),
)
