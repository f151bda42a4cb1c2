"""What RDMA marks goes to a priority with PFC."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import pairs, priorities


def _judge(place: Place) -> Wrong | None:
    interface, marked = place.text("rdma.{0}.{1}.interface"), int(place.number("rdma.{0}.{1}.traffic_class"))
    lossless = place.text(f"dcb.{interface}.pfc_priorities")
    if not marked or lossless == "none":
        return None
    of_dscp = pairs(place.text(f"dcb.{interface}.dscp_to_priority"))
    priority = of_dscp.get(marked >> 2, (marked >> 2) // 8)
    if priority in priorities(lossless):
        return None
    seen = [place.witness("rdma.{0}.{1}.traffic_class", "cat /sys/class/infiniband/{0}/tc/*/*"),
            place.witness(f"dcb.{interface}.dscp_to_priority", f"dcb app show dev {interface}"),
            place.witness(f"dcb.{interface}.pfc_priorities", f"dcb pfc show dev {interface}")]  # fmt: skip
    what = f"DSCP {marked >> 2} goes to priority {priority}, and PFC is on for {lossless}"
    return Wrong(what, f"dcb app replace dev {interface} dscp-prio {marked >> 2}:{lossless.partition(',')[0]}", seen)


CHECK = Check(
    "dscp-to-lossless",
    "error",
    "what RDMA marks goes to a priority with PFC",
    why="marked traffic lands in a class that is not lossless",
    source="sonic-net/sonic-buildimage rendered maps; ROCm/TransferBench#316",
    look=each_rdma_port(_judge),
)
