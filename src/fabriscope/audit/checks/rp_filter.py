"""The reverse path filter lets replies of a second rail through."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    values = place.known.values.items()
    rails = {value for name, value in values if name.startswith("rdma.") and name.endswith(".interface") and value}
    if len(rails) < 2 or place.parts[0] not in rails:
        return None
    if max(place.number("ip.{0}.rp_filter"), place.number("ip.all.rp_filter")) != 1:
        return None
    seen = [place.witness(f"ip.{one}.rp_filter", f"sysctl net.ipv4.conf.{one}.rp_filter") for one in ("{0}", "all")]
    return Wrong(f"the filter is strict, with {len(rails)} rails", "sysctl net.ipv4.conf.all.rp_filter=2", seen)


CHECK = Check(
    "rp-filter",
    "error",
    "the reverse path filter lets replies of a second rail through",
    why="replies that come by another rail are dropped",
    source="openucx/ucx#9839",
    look=each(r"ip\.((?!all\.).+)\.rp_filter", _judge),
)
