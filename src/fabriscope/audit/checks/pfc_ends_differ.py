"""Both ends of a cable have PFC on the same priorities."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    mine, other = place.text("dcb.{0}.pfc_priorities"), str(place.of_port("pfc_priorities"))
    on_host, on_port = priorities(mine), priorities(other)
    if on_host == on_port:
        return None
    seen = [place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}"), place.port_witness("pfc_priorities")]
    what = f"PFC is on for {mine} on the host, for {other} on the switch"
    return Wrong(what, commands.pfc(place, on_host, on_port), seen)


CHECK = Check(
    "pfc-ends-differ",
    "error",
    "both ends of a cable have PFC on the same priorities",
    why="frames are lost though PFC is on",
    source="Azure LLDP-DCBX guide",
    look=each_cable(_judge),
)
