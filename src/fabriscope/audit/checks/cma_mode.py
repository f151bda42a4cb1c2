"""The kernel's connection manager connects by RoCE v2."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import Place, Wrong

_FILE = "/sys/kernel/config/rdma_cm/{0}/ports/{1}/default_roce_mode"


def _judge(place: Place) -> Wrong | None:
    mode = place.text("rdma.{0}.{1}.cma_mode")
    if mode == "RoCE v2":
        return None
    seen = [place.witness("rdma.{0}.{1}.cma_mode", f"cat {_FILE}")]
    return Wrong(f"port {place.parts[1]} connects by {mode}", f"echo 'RoCE v2' > {_FILE}", seen)


CHECK = Check(
    "cma-mode",
    "warning",
    "the kernel's connection manager connects by RoCE v2",
    why="what connects by rdma_cm speaks RoCE v1, which no router and no DSCP reaches; verbs speak v2",
    source="Mellanox/mlnx-tools cma_roce_mode; the kernel's ABI/testing/configfs-rdma_cm",
    look=each_rdma_port(_judge, "cma_mode"),
)
