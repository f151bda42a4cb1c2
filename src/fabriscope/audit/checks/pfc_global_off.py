"""PFC is not switched off for a whole switch."""

from __future__ import annotations

from dataclasses import replace

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_device
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    on = [port for port in place.switch.ports if place.switch.text(port, "pfc_mode") in ("on", "auto")]
    if place.value("device.pfc_enabled") is True or not on:
        return None
    seen = [place.device_witness("pfc_enabled"), replace(place, port=on[0]).port_witness("pfc_mode")]
    return Wrong(
        f"PFC is off for the switch, and on for {len(on)} ports", commands.on_switch(place, "pfc globally"), seen
    )


CHECK = Check(
    "pfc-global-off",
    "error",
    "PFC is not switched off for a whole switch",
    why="ports say on, and one line says off",
    source="aristanetworks/avd; Onyx manual",
    look=each_device("device.pfc_enabled", _judge),
)
