"""A card answers marks of its lossless priorities."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import priorities


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    if not lossless:
        return None
    off = {role: lossless - priorities(place.text(f"dcb.{{0}}.{role}_priorities")) for role in ("roce_np", "roce_rp")}
    if not any(off.values()):
        return None
    told_by = "grep . /sys/class/net/{0}/ecn/*/enable/*"
    seen = [place.witness(f"dcb.{{0}}.{role}_priorities", told_by) for role in off]
    interface = place.parts[0]
    files = [f"/sys/class/net/{interface}/ecn/{role}/enable/{one}" for role, of in off.items() for one in sorted(of)]
    roles = ", ".join(role for role, of in off.items() if of)
    return Wrong(f"ECN of RoCE is off for a lossless priority: {roles}", f"echo 1 | tee {' '.join(files)}", seen)


CHECK = Check(
    "ecn-nic-off",
    "warning",
    "a card answers marks of its lossless priorities",
    why="marked packets arrive, and nobody slows down",
    source="spidernet-io/spiderpool",
    look=each(r"dcb\.(.+)\.pfc_priorities", _judge),
)
