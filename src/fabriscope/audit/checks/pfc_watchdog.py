"""A watchdog guards each lossless priority."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(str(place.of_port("pfc_priorities")))
    if not lossless:
        return None
    if place.of_port("pfc_watchdog") is not True:
        return Wrong(
            "PFC without a watchdog", commands.on_switch(place, "watchdog"), [place.port_witness("pfc_watchdog")]
        )
    watched = place.known.values.get(f"port.{place.port}.pfc_watchdog_priorities")
    if watched is None or lossless <= priorities(str(watched)):
        return None
    seen = [place.port_witness("pfc_priorities"), place.port_witness("pfc_watchdog_priorities")]
    return Wrong(f"the watchdog guards {watched}", commands.on_switch(place, "watchdog"), seen)


CHECK = Check(
    "pfc-watchdog",
    "warning",
    "a watchdog guards each lossless priority",
    why="one sick card that pauses for ever stops everything",
    source="Guo 2016; sonic-net/sonic-buildimage#29203",
    look=each_port("pfc_priorities", _judge),
)
