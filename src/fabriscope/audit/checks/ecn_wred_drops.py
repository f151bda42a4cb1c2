"""WRED of a lossless queue marks instead of dropping."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    dropping, lossless = place.of_port("wred_without_ecn_queues"), place.of_port("pfc_priorities")
    both = priorities(str(dropping)) & priorities(str(lossless))
    if not both:
        return None
    seen = [place.port_witness("wred_without_ecn_queues"), place.port_witness("pfc_priorities")]
    return Wrong(
        f"queue {min(both)} is lossless, and WRED drops from it",
        commands.on_switch(place, "ecn", queue=min(both)),
        seen,
    )


CHECK = Check(
    "ecn-wred-drops",
    "error",
    "WRED of a lossless queue marks instead of dropping",
    why="a lossless queue that drops is none",
    source="sonic-net/sonic-buildimage Centec QoS file",
    look=each_port("wred_without_ecn_queues", _judge),
)
