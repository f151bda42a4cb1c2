"""PFC and global pause are not both on."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.text("dcb.{0}.pfc_priorities") == "none":
        return None
    if place.value("interface.{0}.rx_pause") is not True and place.value("interface.{0}.tx_pause") is not True:
        return None
    seen = [place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}"),
            place.witness("interface.{0}.rx_pause", "ethtool -a {0}"),
            place.witness("interface.{0}.tx_pause", "ethtool -a {0}")]  # fmt: skip
    return Wrong("PFC and global pause are both on", "ethtool -A {0} rx off tx off", seen)


CHECK = Check(
    "pfc-and-pause",
    "warning",
    "PFC and global pause are not both on",
    why="a port with PFC ignores 802.3x or stops all classes, by its vendor",
    source="Arista manual; openucx/ucx#948",
    look=each(r"dcb\.(.+)\.pfc_priorities", _judge),
)
