"""Both ends of a cable correct errors alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    mine, other = place.text("link.{0}.fec_active"), str(place.of_port("fec"))
    if mine == other or "auto" in (mine, other):
        return None
    seen = [place.witness("link.{0}.fec_active", "ethtool --show-fec {0}"), place.port_witness("fec")]
    fix = f"ethtool --set-fec {{0}} encoding {other} (the link goes down for a moment)"
    return Wrong(f"FEC is {mine} on the host, {other} on the switch", fix, seen)


CHECK = Check(
    "fec-mismatch",
    "error",
    "both ends of a cable correct errors alike",
    why="there is no link, or many errors",
    source="vendors' guides",
    look=each_cable(_judge),
)
