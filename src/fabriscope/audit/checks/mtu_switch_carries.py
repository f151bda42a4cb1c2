"""A switch carries what its hosts send."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    mtu, carried = place.number("interface.{0}.mtu_bytes"), place.of_port("mtu_bytes")
    if not isinstance(carried, int) or carried >= mtu:
        return None
    seen = [place.witness("interface.{0}.mtu_bytes", "ip link show {0}"), place.port_witness("mtu_bytes")]
    return Wrong(
        f"the host sends {mtu:.0f} B, and the switch carries {carried}",
        commands.on_switch(place, "mtu", size=int(mtu)),
        seen,
    )


CHECK = Check(
    "mtu-switch-carries",
    "error",
    "a switch carries what its hosts send",
    why="small messages pass, and large ones are dropped",
    source="tensorflow/tensorflow#9432, #9667",
    look=each_cable(_judge),
)
