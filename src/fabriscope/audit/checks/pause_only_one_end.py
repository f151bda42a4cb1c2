"""What one end of a cable pauses for the other sends."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    for mine, other in (("rx_pause", "tx_pause"), ("tx_pause", "rx_pause")):
        # Of a host that asks for no pause the switch's end says nothing.
        if place.value(f"interface.{{0}}.{mine}") is True and place.of_port(other) is False:
            seen = [place.witness(f"interface.{{0}}.{mine}", "ethtool -a {0}"), place.port_witness(other)]
            return Wrong(f"the host has {mine} on, the switch {other} off", "set both ends alike", seen)
    return None


CHECK = Check(
    "pause-only-one-end",
    "warning",
    "what one end of a cable pauses for the other sends",
    why="a full buffer drops, since nobody says stop",
    source="NVIDIA/nccl#378",
    look=each_cable(_judge),
)
