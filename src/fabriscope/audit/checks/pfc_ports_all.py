"""A switch has PFC on for two priorities at most."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless = str(place.of_port("pfc_priorities"))
    if len(priorities(lossless)) <= 2:
        return None
    return Wrong(f"PFC is on for {lossless}", "leave PFC on for one priority", [place.port_witness("pfc_priorities")])


CHECK = Check(
    "pfc-ports-all",
    "warning",
    "a switch has PFC on for two priorities at most",
    why="bystanders are paused, and pauses may wait for each other in a circle",
    source="Guo 2016; Sandia RoCE evaluation",
    look=each_port("pfc_priorities", _judge),
)
