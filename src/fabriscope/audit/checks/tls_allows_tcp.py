"""UCX is told which transports it may use where there is RDMA."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    chosen = [one.strip() for one in place.text("environment.UCX_TLS").split(",")]
    if place.get("rdma.hcas") is None or not {"all", "tcp"} & set(chosen):
        return None
    seen = [
        place.witness("environment.UCX_TLS", "echo $UCX_TLS"),
        place.witness("rdma.hcas", "ls /sys/class/infiniband"),
    ]
    return Wrong("UCX_TLS lets UCX fall back to TCP", "export UCX_TLS=rc,self,sm", seen)


CHECK = Check(
    "tls-allows-tcp",
    "warning",
    "UCX is told which transports it may use where there is RDMA",
    why="a port that does not work is replaced by TCP without a word",
    source="converged-computing/performance-study",
    look=each(r"environment\.UCX_TLS", _judge),
)
