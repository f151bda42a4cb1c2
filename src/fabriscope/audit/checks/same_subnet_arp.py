"""RDMA interfaces in one network answer for their own addresses alone."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_NEEDED = {"arp_ignore": 1, "arp_announce": 2}


def _judge(place: Place) -> Wrong | None:
    mine = place.parts[0]
    values = place.known.values.items()
    rails = {value for name, value in values if name.startswith("rdma.") and name.endswith(".interface") and value}
    if mine not in rails or len(rails) < 2:
        raise NothingThere
    network = place.text("interface.{0}.ipv4_network")
    others = [one for one in rails if one != mine and place.get(f"interface.{one}.ipv4_network") == network]
    if network == "none" or not others:
        return None
    low = [name for name, least in _NEEDED.items() if _in_force(place, name) < least]
    if not low:
        return None
    seen = [place.witness("interface.{0}.ipv4_network", "ip addr show dev {0}"),
            *(place.witness(f"ip.{{0}}.{name}", f"sysctl net.ipv4.conf.{{0}}.{name}") for name in low)]  # fmt: skip
    fix = "; ".join(f"sysctl net.ipv4.conf.{{0}}.{name}={_NEEDED[name]}" for name in low)
    return Wrong(f"{min(map(str, others))} is in the same network, {network}", fix, seen)


def _in_force(place: Place, name: str) -> float:
    """Return the greater of what is set of the interface and of all, which the kernel goes by."""
    of_all = place.get(f"ip.all.{name}")
    return max(place.number(f"ip.{{0}}.{name}"), of_all if isinstance(of_all, int | float) else 0)


CHECK = Check(
    "same-subnet-arp",
    "error",
    "RDMA interfaces in one network answer for their own addresses alone",
    why="the other port answers for an address: connections hang, or one port carries all",
    source="NVIDIA/nccl#1269, openucx/ucx#5598",
    look=each(r"interface\.(.+)\.ipv4_network", _judge),
)
