"""Both ends of a cable have one speed."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    mine, other = place.number("interface.{0}.speed_bits_per_s"), place.of_port("speed_bits_per_s")
    if mine == other:
        return None
    seen = [place.witness("interface.{0}.speed_bits_per_s", "ethtool {0}"), place.port_witness("speed_bits_per_s")]
    what = f"the host's end runs at {mine / 1e9:g}, the switch's at {int(other) / 1e9:g} Gb/s"
    return Wrong(what, "set both ends to one speed, or to autonegotiation", seen)


CHECK = Check(
    "speed-ends",
    "error",
    "both ends of a cable have one speed",
    why="a port that tells another speed is another port, or the link is not what it seems",
    source="openucx/ucx#8200",
    look=each_cable(_judge),
)
