"""An interface that a plan wants to speak RDMA has a device that does."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_intent
from fabriscope.audit.intents import Intent, ports_of
from fabriscope.audit.place import NotSeen, Place, Wrong


def _judge(place: Place, intent: Intent) -> Wrong | None:
    if ports_of(place, place.parts[0]):
        return None
    others = sorted(name for name in place.known.values if name.startswith("rdma.") and name.endswith(".interface"))
    if not others and "rdma.hcas" not in place.known.values:
        raise NotSeen("rdma.hcas is not told")
    if any(place.known.values[name] is None for name in others):
        raise NotSeen("the interface of an RDMA port is not told")
    told = [place.witness(name, "rdma link show") for name in others]
    seen = told or [place.witness("rdma.hcas", "ls /sys/class/infiniband")]
    what = f"the plan wants {intent.transport} over it, and no RDMA port has it"
    return Wrong(what, f"name the interface of an RDMA port in fabrics.{intent.fabric}, or load its driver", seen)


CHECK = Check(
    "netdev-of-hca",
    "error",
    "an interface that a plan wants to speak RDMA has a device that does",
    why="another port would be measured, or TCP",
    source="ofiwg/libfabric#2556",
    look=each_intent(_judge, "roce", "iwarp", "ib"),
)
