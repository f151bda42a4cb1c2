"""What a plan marks goes to the priority that it wants without loss, on hosts and on switches."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_intent
from fabriscope.audit.intents import Intent
from fabriscope.audit.place import NothingThere, Place, Wrong
from fabriscope.model.priorities import pairs


def _judge(place: Place, intent: Intent) -> Wrong | None:
    if intent.priority is None or intent.dscp is None:
        raise NothingThere
    wanted = f"the plan marks DSCP {intent.dscp} and wants priority {intent.priority}"
    on_host = pairs(place.text("dcb.{0}.dscp_to_priority")).get(intent.dscp, intent.dscp // 8)
    seen = [place.witness("dcb.{0}.dscp_to_priority", "dcb app show dev {0}")]
    if on_host != intent.priority:
        fix = f"dcb app replace dev {{0}} dscp-prio {intent.dscp}:{intent.priority}"
        return Wrong(f"{wanted}, and the host gives it {on_host}", fix, seen)
    if place.device is None:
        return None
    on_port = pairs(str(place.of_port("dscp_to_priority"))).get(intent.dscp)
    if on_port == intent.priority:
        return None
    seen.append(place.port_witness("dscp_to_priority"))
    fix = commands.on_switch(place, "map", dscp=intent.dscp, priority=intent.priority)
    return Wrong(f"{wanted}, and the switch gives it {'none' if on_port is None else on_port}", fix, seen)


CHECK = Check(
    "intended-dscp",
    "error",
    "what a plan marks goes to the priority that it wants without loss, on hosts and on switches",
    why="marked traffic lands in a class that loses frames",
    source="a plan's traffic_class and lossless_priority",
    look=each_intent(_judge, "roce"),
)
