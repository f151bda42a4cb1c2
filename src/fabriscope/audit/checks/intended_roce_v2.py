"""An interface that a plan wants to speak RoCE has addresses of RoCE v2."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_intent
from fabriscope.audit.intents import Intent, ports_of
from fabriscope.audit.place import NothingThere, NotSeen, Place, Wrong


def _judge(place: Place, _: Intent) -> Wrong | None:
    ports = ports_of(place, place.parts[0])
    if not ports:
        raise NothingThere  # netdev-of-hca tells it
    kinds = {port: place.text(f"rdma.{port}.gid_kinds") for port in ports}
    if any("RoCE v2" in told for told in kinds.values()):
        return None
    if any("unknown type" in told for told in kinds.values()):
        raise NotSeen("the kernel tells no types of addresses")
    device, number = ports[0].rsplit(".", 1)
    seen = [place.witness(f"rdma.{port}.gid_kinds", "show_gids") for port in ports]
    what = f"the plan wants RoCE v2 over it, and its port has {kinds[ports[0]]}"
    return Wrong(what, f"cma_roce_mode -d {device} -p {number} -m 2, or a newer driver", seen)


CHECK = Check(
    "intended-roce-v2",
    "error",
    "an interface that a plan wants to speak RoCE has addresses of RoCE v2",
    why="RoCE v1 carries no DSCP and is not routed: what the plan marks is not there",
    source="openucx/ucx#4619",
    look=each_intent(_judge, "roce"),
)
