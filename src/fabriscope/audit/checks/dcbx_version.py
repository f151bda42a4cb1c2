"""Hosts speak one version of DCBX, that of IEEE."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree, each, every
from fabriscope.audit.place import Place, Wrong

_COMMAND = "dcb dcbx show dev {0}"
_REMEDY = "dcb dcbx set dev {0} host ieee"


def _judge(place: Place) -> Wrong | None:
    spoken = place.text("dcb.{0}.dcbx").split()
    if "cee" not in spoken or "ieee" in spoken:
        return None
    return Wrong("the host speaks CEE alone", _REMEDY, [place.witness("dcb.{0}.dcbx", _COMMAND)])


CHECK = Check(
    "dcbx-version",
    "error",
    "hosts speak one version of DCBX, that of IEEE",
    why="what one end announces the other does not understand: PFC stays off there",
    source="Azure LLDP-DCBX guide",
    look=every(
        each(r"dcb\.(.+)\.dcbx", _judge),
        agree(r"dcb\.(.+)\.dcbx", "DCBX", told_by=_COMMAND, remedy=_REMEDY, is_optional=True),
    ),
)
