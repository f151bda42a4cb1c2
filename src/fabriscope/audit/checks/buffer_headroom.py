"""The receive buffer of a lossless priority holds what is on its way when a pause is sent."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong
from fabriscope.model.priorities import priorities

_HEADER_BYTES = 18
_M_PER_S = 2e8
"""Light in a cable."""


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    if not lossless:
        raise NothingThere
    buffers = [int(one) for one in place.text("dcb.{0}.priority_to_buffer").split()]
    sizes = [int(one) for one in place.text("dcb.{0}.buffer_bytes").split()]
    frame_bytes = place.number("interface.{0}.mtu_bytes") + _HEADER_BYTES
    cable_m = place.get("dcb.{0}.cable_m")
    delay_s = 2 * (cable_m if isinstance(cable_m, int | float) else 0) / _M_PER_S
    needed = place.number("interface.{0}.speed_bits_per_s") / 8 * delay_s + 2 * frame_bytes
    for priority in sorted(lossless):
        buffer = buffers[priority] if priority < len(buffers) else len(sizes)
        if buffer < len(sizes) and sizes[buffer] < needed:
            seen = [place.witness("dcb.{0}.buffer_bytes", "dcb buffer show dev {0}"),
                    place.witness("dcb.{0}.priority_to_buffer", "dcb buffer show dev {0}")]  # fmt: skip
            what = (
                f"buffer {buffer} of priority {priority} has {sizes[buffer]} bytes, and {needed:.0f} may be under way"
            )
            return Wrong(what, f"dcb buffer set dev {{0}} buffer-size {buffer}:{2 * round(needed)}", seen)
    return None


CHECK = Check(
    "buffer-headroom",
    "error",
    "the receive buffer of a lossless priority holds what is on its way when a pause is sent",
    why="frames are lost though PFC is on",
    source="Guo 2016: rate times twice the cable's delay, and a frame at each end; the peer's reaction adds to it",
    look=each(r"dcb\.(.+)\.buffer_bytes", _judge),
)
