"""Each lossless priority of a port has a buffer of its own."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_port
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless, buffered = place.of_port("pfc_priorities"), place.of_port("lossless_buffer_priorities")
    missing = priorities(str(lossless)) - priorities(str(buffered))
    if not missing:
        return None
    seen = [place.port_witness("pfc_priorities"), place.port_witness("lossless_buffer_priorities")]
    fix = f"config interface shutdown {place.port}; config interface startup {place.port}; show buffer information"
    return Wrong(f"priority {min(missing)} has no lossless buffer", fix, seen)


CHECK = Check(
    "sonic-pg-missing",
    "error",
    "each lossless priority of a port has a buffer of its own",
    why="PFC comes too late, or never: frames are lost",
    source="sonic-net/sonic-buildimage#23354, sonic-net/sonic-swss#2133",
    look=each_port("lossless_buffer_priorities", _judge),
)
