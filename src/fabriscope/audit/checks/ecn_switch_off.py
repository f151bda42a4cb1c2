"""The lossless queue of a switch marks by ECN."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless, marking = priorities(str(place.of_port("pfc_priorities"))), priorities(str(place.of_port("ecn_queues")))
    if not lossless - marking:
        return None
    seen = [place.port_witness("pfc_priorities"), place.port_witness("ecn_queues")]
    queue = min(lossless - marking)
    return Wrong(f"queue {queue} is lossless and does not mark", commands.on_switch(place, "ecn", queue=queue), seen)


CHECK = Check(
    "ecn-switch-off",
    "warning",
    "the lossless queue of a switch marks by ECN",
    why="senders learn of a full queue by pauses alone, which spread",
    source="Zhu 2015; linux-rdma/perftest#284",
    look=each_port("pfc_priorities", _judge),
)
