"""An interface with RoCE v2 has PFC."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.text("rdma.{0}.{1}.link_layer") != "Ethernet" or "v2" not in str(place.get("rdma.{0}.{1}.gid_kinds")):
        raise NothingThere
    interface = place.text("rdma.{0}.{1}.interface")
    if place.value(f"dcb.{interface}.pfc_priorities") != "none":
        return None
    seen = [place.witness(f"dcb.{interface}.pfc_priorities", f"dcb pfc show dev {interface}"),
            place.witness("rdma.{0}.{1}.gid_kinds", "show_gids {0}")]  # fmt: skip
    fix = (
        f"dcb pfc set dev {interface} prio-pfc 3:on, and the same on the switch; or ECN, and a card that can do without"
    )
    return Wrong("RoCE v2 without PFC", fix, seen)


CHECK = Check(
    "pfc-none",
    "warning",
    "an interface with RoCE v2 has PFC",
    why="RoCE falls to a fraction when several send to one",
    source="NVIDIA/nccl#378, openucx/ucx#6000",
    look=each_rdma_port(_judge),
)
