"""The priority that a plan wants to lose nothing has PFC, on hosts and at the other ends of their cables."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_intent
from fabriscope.audit.intents import Intent
from fabriscope.audit.place import NothingThere, Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place, intent: Intent) -> Wrong | None:
    if intent.priority is None:
        raise NothingThere
    on_host = priorities(place.text("dcb.{0}.pfc_priorities"))
    seen = [place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}")]
    wanted = f"the plan wants priority {intent.priority} without loss"
    if intent.priority not in on_host:
        fix = commands.host_pfc(place.parts[0], {*on_host, intent.priority})
        return Wrong(f"{wanted}, and the host pauses {place.text('dcb.{0}.pfc_priorities')}", fix, seen)
    if place.device is None:
        return None
    on_port = str(place.of_port("pfc_priorities"))
    if intent.priority in priorities(on_port):
        return None
    seen.append(place.port_witness("pfc_priorities"))
    fix = commands.on_switch(place, "pfc on", priority=intent.priority)
    return Wrong(f"{wanted}, and the switch pauses {on_port}", fix, seen)


CHECK = Check(
    "intended-pfc",
    "error",
    "the priority that a plan wants to lose nothing has PFC, on hosts and at the other ends of their cables",
    why="what is measured is not what the plan says: frames are lost in an incast",
    source="a plan's lossless_priority",
    look=each_intent(_judge, "roce"),
)
