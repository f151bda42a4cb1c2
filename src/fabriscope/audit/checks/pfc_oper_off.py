"""PFC that is configured operates."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.of_port("pfc_is_operating") is True or place.of_port("pfc_mode") == "off":
        return None
    is_down = any(place.switch.flag(place.port, one) is False for one in ("is_up", "is_enabled"))
    chosen = place.switch.text(place.port, "pfc_priorities")
    # `auto` is what ports have by themselves: without a priority nobody asked for PFC.
    if is_down or (place.of_port("pfc_mode") == "auto" and chosen in (None, "none")):
        raise NothingThere
    seen = [place.port_witness("pfc_mode"), place.port_witness("pfc_is_operating")]
    return Wrong(
        f"PFC is {place.of_port('pfc_mode')}, and does not operate", commands.on_switch(place, "pfc mode"), seen
    )


CHECK = Check(
    "pfc-oper-off",
    "error",
    "PFC that is configured operates",
    why="PFC waits for a peer that speaks DCBX, and frames are lost meanwhile",
    source="Azure LLDP-DCBX guide; Onyx manual",
    look=each_port("pfc_is_operating", _judge),
)
