"""A switch trusts what a host marks."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    lossless = place.of_port("pfc_priorities")
    if lossless == "none" or place.of_port("trust") in ("dscp", "both"):
        return None
    if place.text("dcb.{0}.trust") != "dscp":
        return None
    seen = [place.witness("dcb.{0}.trust", "mlnx_qos -i {0}"), place.port_witness("trust")]
    what = f"the host trusts DSCP, the switch {place.of_port('trust')}"
    return Wrong(what, commands.on_switch(place, "trust"), seen)


CHECK = Check(
    "trust-switch",
    "error",
    "a switch trusts what a host marks",
    why="marked traffic lands in the default class",
    source="Mellanox/nic-configuration-operator",
    look=each_cable(_judge),
)
