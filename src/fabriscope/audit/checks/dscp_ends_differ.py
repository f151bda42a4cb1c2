"""A switch puts a host's lossless DSCP into a class with PFC."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import pairs, priorities


def _marked(place: Place) -> set[int]:
    """Return the DSCPs that RDMA ports of the interface mark."""
    known = place.known
    heads = [
        name.removesuffix(".interface")
        for name, value in known.values.items()
        if name.startswith("rdma.") and name.endswith(".interface") and value == place.parts[0]
    ]
    return {int(known.number(f"{head}.traffic_class") or 0) >> 2 for head in heads} - {0}


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    here = {dscp for dscp, one in pairs(place.text("dcb.{0}.dscp_to_priority")).items() if one in lossless}
    there, paused = pairs(str(place.of_port("dscp_to_priority"))), priorities(str(place.of_port("pfc_priorities")))
    lost = sorted(dscp for dscp in here if dscp in there and there[dscp] not in paused)
    marked = _marked(place) & here
    if marked:
        lost = sorted(marked.intersection(lost))
    elif len(lost) < len(here):
        return None  # nobody knows which of them is used
    if not paused or not lost:
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
