"""What a VLAN, a bond or a bridge is built on carries its frames."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    size = place.number("interface.{0}.mtu_bytes")
    for below in place.text("interface.{0}.below").split():
        if place.number(f"interface.{below}.mtu_bytes") < size:
            seen = [place.witness("interface.{0}.mtu_bytes", "ip link show dev {0}"),
                    place.witness(f"interface.{below}.mtu_bytes", f"ip link show dev {below}")]  # fmt: skip
            small = place.text(f"interface.{below}.mtu_bytes")
            what = f"the MTU is {size:.0f}, and {small} of {below}, which it is built on"
            return Wrong(what, f"ip link set dev {below} mtu {size:.0f}", seen)
    return None


CHECK = Check(
    "mtu-vlan-bond",
    "warning",
    "what a VLAN, a bond or a bridge is built on carries its frames",
    why="small messages pass, large ones are dropped without a word",
    source="SoftRoCE/rxe-dev#76",
    look=each(r"interface\.(.+)\.below", _judge),
)
