"""Congestion notifications travel in another class than the data that they slow."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import pairs, priorities

_USUAL_DSCP, _USUAL_PRIORITY = 48, 6


def _judge(place: Place) -> Wrong | None:
    dscp = int(place.number("dcb.{0}.cnp_dscp"))
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    if not lossless:
        return None
    priority = pairs(place.text("dcb.{0}.dscp_to_priority")).get(dscp, dscp // 8)
    if priority not in lossless:
        return None
    seen = [place.witness("dcb.{0}.cnp_dscp", "cat /sys/class/net/{0}/ecn/roce_np/cnp_dscp"),
            place.witness("dcb.{0}.dscp_to_priority", "dcb app show dev {0}"),
            place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}")]  # fmt: skip
    fix = (
        f"echo {_USUAL_DSCP} > /sys/class/net/{{0}}/ecn/roce_np/cnp_dscp; "
        f"dcb app replace dev {{0}} dscp-prio {_USUAL_DSCP}:{_USUAL_PRIORITY}"
    )
    return Wrong(f"notifications have DSCP {dscp}, which goes to priority {priority} with PFC", fix, seen)


CHECK = Check(
    "cnp-priority",
    "warning",
    "congestion notifications travel in another class than the data that they slow",
    why="notifications wait behind the data, and are paused with it",
    source="Juniper validated design, AMD",
    look=each(r"dcb\.(.+)\.cnp_dscp", _judge),
)
