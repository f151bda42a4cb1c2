"""The no-drop class of a switch carries what its hosts send."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.audit import Witness


def _judge(place: Place) -> Wrong | None:
    limit = place.switch.known.number(f"port.{place.port}.no_drop_mtu_bytes")
    limit = place.switch.known.number("device.no_drop_mtu_bytes") if limit is None else limit
    mtu = place.number("interface.{0}.mtu_bytes")
    if limit is None or limit >= mtu:
        return None
    told = place.switch.sources.get("device.no_drop_mtu_bytes") or place.switch.source(place.port, "no_drop_mtu_bytes")
    seen = [place.witness("interface.{0}.mtu_bytes", "ip link show {0}"),
            Witness(place.switch.name, "no_drop_mtu_bytes", f"{limit:.0f}", told)]  # fmt: skip
    what = f"the host sends {mtu:.0f} B, and the no-drop class carries {limit:.0f}"
    return Wrong(what, "mtu 9216 in the class", seen)


CHECK = Check(
    "mtu-class",
    "error",
    "the no-drop class of a switch carries what its hosts send",
    why="RoCE fails though the port's MTU is large: the class has one of its own",
    source="microsoft/SDN Nexus 3132 example",
    look=each_cable(_judge),
)
