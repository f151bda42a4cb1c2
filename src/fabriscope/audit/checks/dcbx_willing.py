"""The switch does not overrule a host by DCBX."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.value("dcb.{0}.willing") is not True:
        return None
    seen = [
        place.witness("dcb.{0}.willing", "dcb ets show dev {0}"),
        place.witness("dcb.{0}.dcbx", "dcb dcbx show dev {0}"),
    ]
    return Wrong("the interface takes over what DCBX announces", "dcb ets set dev {0} willing off", seen)


CHECK = Check(
    "dcbx-willing",
    "warning",
    "the switch does not overrule a host by DCBX",
    why="settings of the host are replaced by what the switch announces",
    source="iproute2 dcb-ets(8)",
    look=each(r"dcb\.(.+)\.willing", _judge),
)
