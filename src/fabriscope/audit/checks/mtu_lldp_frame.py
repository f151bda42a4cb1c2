"""A neighbour announces frames as large as the MTU."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    most, mtu = place.number("lldp.{0}.most_frame_bytes"), place.number("interface.{0}.mtu_bytes")
    if most >= mtu + 14:
        return None
    seen = [
        place.witness("lldp.{0}.most_frame_bytes", "lldpctl {0}"),
        place.witness("interface.{0}.mtu_bytes", "ip link show {0}"),
    ]
    what = f"the neighbour announces frames of {most:.0f} B, and the MTU is {mtu:.0f}"
    return Wrong(what, "look at the MTU of the switch's port", seen)


CHECK = Check(
    "mtu-lldp-frame",
    "note",
    "a neighbour announces frames as large as the MTU",
    why="the switch may carry smaller frames than hosts send; some systems announce a default",
    source="Solvik/netbox-agent",
    look=each(r"lldp\.(.+)\.most_frame_bytes", _judge),
)
