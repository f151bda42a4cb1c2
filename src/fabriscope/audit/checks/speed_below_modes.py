"""A link runs as fast as its card can."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    most, speed = place.number("link.{0}.supported_bits_per_s"), place.number("interface.{0}.speed_bits_per_s")
    if speed >= most:
        return None
    seen = [place.witness("interface.{0}.speed_bits_per_s", "ethtool {0}"),
            place.witness("link.{0}.supported_bits_per_s", "ethtool {0}")]  # fmt: skip
    what = f"the link runs at {speed / 1e9:g} of {most / 1e9:g} Gb/s"
    return Wrong(what, "look at cable, breakout and what the switch's port is set to", seen)


CHECK = Check(
    "speed-below-modes",
    "warning",
    "a link runs as fast as its card can",
    why="a cable, a breakout or the peer holds it down",
    source="openucx/ucx#8200",
    look=each(r"link\.(.+)\.supported_bits_per_s", _judge),
)
