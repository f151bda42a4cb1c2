"""A switch puts a host's lossless DSCP into a class with PFC."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong, pairs, priorities


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    here = {dscp for dscp, one in pairs(place.text("dcb.{0}.dscp_to_priority")).items() if one in lossless}
    there, paused = pairs(str(place.of_port("dscp_to_priority"))), priorities(str(place.of_port("pfc_priorities")))
    lost = sorted(dscp for dscp in here if dscp in there and there[dscp] not in paused)
    if not paused or not here or len(lost) < len(here):
        return None
    seen = [place.witness("dcb.{0}.dscp_to_priority", "dcb app show dev {0}"), place.port_witness("dscp_to_priority")]
    what = f"DSCP {', '.join(map(str, lost))} is lossless on the host, and goes to class {there[lost[0]]} on the switch"
    return Wrong(what, f"map DSCP {lost[0]} to a class with PFC on the switch", seen)


CHECK = Check(
    "dscp-ends-differ",
    "error",
    "a switch puts a host's lossless DSCP into a class with PFC",
    why="marked traffic is lossless to the cable's end, and lossy behind it",
    source="sonic-net/sonic-buildimage rendered maps",
    look=each_cable(_judge),
)
