"""The kernel moves no pages between NUMA nodes."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.number("numa.node_count") < 2 or place.value("numa.balancing") is not True:
        return None
    seen = [place.witness("numa.balancing", "sysctl kernel.numa_balancing"), place.witness("numa.node_count", "lscpu")]
    return Wrong("NUMA balancing is on", "sysctl kernel.numa_balancing=0", seen)


CHECK = Check(
    "numa-balancing",
    "warning",
    "the kernel moves no pages between NUMA nodes",
    why="it unmaps pages to see who uses them: jitter",
    source="ROCm/gpu-cluster-networking",
    look=each(r"numa\.balancing", _judge),
)
