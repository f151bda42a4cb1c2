"""UCX is told which transports it may use where there is RDMA."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    place.value("environment.variables")
    if place.get("rdma.hcas") is None or place.get("software.ucx") is None:
        raise NothingThere
    chosen = place.text_or("environment.UCX_TLS", "all")
    if not {"all", "tcp"} & {one.strip() for one in chosen.split(",")}:
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
    look=each(r"environment\.variables", _judge),
)
