"""A link is full duplex."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.get("interface.{0}.driver") is None:
        raise NothingThere
    if place.text("interface.{0}.duplex") != "half":
        return None
    seen = [place.witness("interface.{0}.duplex", "ethtool {0}")]
    return Wrong("the link is half duplex", "ethtool -s {0} autoneg on, and the same on the switch", seen)


CHECK = Check(
    "duplex-half",
    "error",
    "a link is full duplex",
    why="frames collide: a fraction of the rate, and late losses",
    source="IEEE 802.3",
    look=each(r"interface\.((?!lo\.).+)\.duplex", _judge),
)
