"""The no-drop class of a switch carries what its hosts send."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_cable
from fabriscope.audit.place import NothingThere, NotSeen, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    device, mtu = place.switch, place.number("interface.{0}.mtu_bytes")
    of_port, of_device = device.number(place.port, "no_drop_mtu_bytes"), device.known.number("device.no_drop_mtu_bytes")
    limit = of_device if of_port is None else of_port
    if limit is None:
        unknown = device.known.unknown.get("device.no_drop_mtu_bytes")
        if unknown is not None:
            raise NotSeen(unknown.unknown_because or f"{unknown.name} is not told")
        if device.system != "nxos" or place.of_port("pfc_priorities") == "none":
            raise NothingThere
        raise NotSeen(f"no saved output of {device.name} tells the MTU of its no-drop class")
    if limit >= mtu:
        return None
    witness = place.device_witness if of_port is None else place.port_witness
    seen = [place.witness("interface.{0}.mtu_bytes", "ip link show {0}"), witness("no_drop_mtu_bytes")]
    what = f"the host sends {mtu:.0f} B, and the no-drop class carries {limit:.0f}"
    fix = "policy-map type network-qos POLICY; class type network-qos CLASS; mtu 9216"
    return Wrong(what, fix, seen)


CHECK = Check(
    "mtu-class",
    "error",
    "the no-drop class of a switch carries what its hosts send",
    why="RoCE fails though the port's MTU is large: the class has one of its own",
    source="microsoft/SDN Nexus 3132 example",
    look=each_cable(_judge),
)
