"""PFC is on for two priorities at most."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless = place.text("dcb.{0}.pfc_priorities")
    if len(priorities(lossless)) <= 2:
        return None
    seen = [place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}")]
    what = f"PFC is on for the priorities {lossless}"
    return Wrong(what, "dcb pfc set dev {0} prio-pfc all:off 3:on", seen)


CHECK = Check(
    "pfc-all-priorities",
    "warning",
    "PFC is on for two priorities at most",
    why="bystanders are paused, and pauses may wait for each other in a circle",
    source="Guo 2016; Sandia RoCE evaluation",
    look=each(r"dcb\.(.+)\.pfc_priorities", _judge),
)
