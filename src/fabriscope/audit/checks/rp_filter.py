"""The reverse path filter lets replies of a second rail through."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    rails = [name for name in place.known.values if name.startswith("pcie.") and name.endswith(".address")]
    strictest = max(place.number("ip.{0}.rp_filter"), place.number("ip.all.rp_filter"))
    if len(rails) < 2 or f"pcie.{place.parts[0]}.address" not in rails or strictest != 1:
        return None
    seen = [place.witness(f"ip.{one}.rp_filter", f"sysctl net.ipv4.conf.{one}.rp_filter") for one in ("{0}", "all")]
    return Wrong(f"the filter is strict, with {len(rails)} cards", "sysctl net.ipv4.conf.all.rp_filter=2", seen)


CHECK = Check(
    "rp-filter",
    "error",
    "the reverse path filter lets replies of a second rail through",
    why="replies that come by another rail are dropped",
    source="openucx/ucx#9839",
    look=each(r"ip\.((?!all\.)[^.]+)\.rp_filter", _judge),
)
