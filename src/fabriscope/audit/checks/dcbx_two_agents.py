"""One agent alone speaks LLDP on a port."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.value("link.{0}.firmware_lldp") is False:
        return None
    agents = sorted({"lldpad", "dcbd"} & {*place.text("software.services").split()})
    if not agents:
        return None
    seen = [place.witness("link.{0}.firmware_lldp", "ethtool --show-priv-flags {0}"),
            place.witness("software.services", "systemctl is-active lldpad dcbd")]  # fmt: skip
    what = f"the card's firmware speaks LLDP, and so does {' and '.join(agents)}"
    flag = "disable-fw-lldp on" if place.get("interface.{0}.driver") == "i40e" else "fw-lldp-agent off"
    return Wrong(what, f"ethtool --set-priv-flags {{0}} {flag}", seen)


CHECK = Check(
    "dcbx-two-agents",
    "error",
    "one agent alone speaks LLDP on a port",
    why="PFC flips, or what was set comes back",
    source="Azure LLDP-DCBX guide; Intel ice and i40e drivers",
    look=each(r"link\.(.+)\.firmware_lldp", _judge),
)
