"""One neighbour is heard on a cable."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    seen = [place.witness("lldp.{0}.systems", "lldpctl")]
    fix = "stop one of the agents: lldpad, or ethtool --set-priv-flags {0} fw-lldp-agent off"
    return Wrong(f"several neighbours are heard: {place.text('lldp.{0}.systems')}", fix, seen)


CHECK = Check(
    "two-neighbours",
    "warning",
    "one neighbour is heard on a cable",
    why="two agents announce on one port, or a switch in between forwards LLDP: settings flip",
    source="Azure LLDP-DCBX guide",
    look=each(r"lldp\.(.+)\.systems", _judge),
)
