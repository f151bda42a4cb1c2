"""A RoCE port uses the largest payload that it can."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.text("rdma.{0}.{1}.link_layer") != "Ethernet":
        raise NothingThere
    active, most = place.number("rdma.{0}.{1}.active_mtu_bytes"), place.number("rdma.{0}.{1}.max_mtu_bytes")
    if active >= most:
        return None
    interface = place.get("rdma.{0}.{1}.interface") or "INTERFACE"
    seen = [place.witness("rdma.{0}.{1}.active_mtu_bytes", "ibv_devinfo -d {0}"),
            place.witness("rdma.{0}.{1}.max_mtu_bytes", "ibv_devinfo -d {0}")]  # fmt: skip
    return Wrong(f"packets carry {active:.0f} of {most:.0f} B", f"ip link set dev {interface} mtu 4200", seen)


CHECK = Check(
    "mtu-roce-fits",
    "warning",
    "a RoCE port uses the largest payload that it can",
    why="packets of 1024 B instead of 4096 B cost some percent",
    source="NVIDIA/dgx-spark-playbooks#103, ofiwg/libfabric#11091",
    look=each_rdma_port(_judge),
)
