"""What RDMA marks says that it can be marked by ECN."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    marked = int(place.number("rdma.{0}.{1}.traffic_class"))
    if not marked or marked & 3:
        return None
    seen = [place.witness("rdma.{0}.{1}.traffic_class", "cat /sys/class/infiniband/{0}/tc/*/*")]
    fix = f"echo {marked | 2} > /sys/class/infiniband/{{0}}/tc/{{1}}/traffic_class"
    return Wrong(f"the traffic class {marked} has no bit of ECN", fix, seen)


CHECK = Check(
    "ecn-not-capable",
    "note",
    "what RDMA marks says that it can be marked by ECN",
    why="a switch drops above its threshold instead of marking, unless the card sets the bits itself",
    source="NVIDIA RoCE guides; RFC 3168",
    look=each(r"rdma\.(.+)\.(\d+)\.state", _judge),
)
