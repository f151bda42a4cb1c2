"""An interface whose RDMA marks DSCP trusts DSCP."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    interface, marked = place.text("rdma.{0}.{1}.interface"), place.number("rdma.{0}.{1}.traffic_class")
    if not marked or place.text(f"dcb.{interface}.trust") == "dscp":
        return None
    seen = [place.witness(f"dcb.{interface}.trust", f"mlnx_qos -i {interface}"),
            place.witness("rdma.{0}.{1}.traffic_class", "cat /sys/class/infiniband/{0}/tc/*/*")]  # fmt: skip
    what = f"RDMA marks DSCP, and {interface} trusts {place.text(f'dcb.{interface}.trust')}"
    return Wrong(what, f"mlnx_qos -i {interface} --trust dscp", seen)


CHECK = Check(
    "trust-mode",
    "error",
    "an interface whose RDMA marks DSCP trusts DSCP",
    why="routed or untagged traffic lands in priority 0",
    source="Mellanox/nic-configuration-operator",
    look=each_rdma_port(_judge),
)
