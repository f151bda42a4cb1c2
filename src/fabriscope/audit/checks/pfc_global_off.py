"""PFC is not switched off for a whole switch."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_device
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.audit import Witness


def _judge(place: Place) -> Wrong | None:
    on = [port for port in place.switch.ports if place.switch.text(port, "pfc_mode") in ("on", "auto")]
    if place.value("device.pfc_enabled") is True or not on:
        return None
    told = place.switch.sources.get("device.pfc_enabled", "")
    seen = [Witness(place.host, "pfc_enabled", "no", told),
            Witness(f"{place.host} {on[0]}", "pfc_mode", "on", place.switch.source(on[0], "pfc_mode"))]  # fmt: skip
    return Wrong(f"PFC is off for the switch, and on for {len(on)} ports", commands.pfc_globally(place), seen)


CHECK = Check(
    "pfc-global-off",
    "error",
    "PFC is not switched off for a whole switch",
    why="ports say on, and one line says off",
    source="aristanetworks/avd; Onyx manual",
    look=each_device("device.pfc_enabled", _judge),
)
