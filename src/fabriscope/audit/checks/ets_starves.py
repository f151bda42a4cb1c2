"""Shares of bandwidth are whole, and a lossless class has half or more."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong
from fabriscope.model.priorities import pairs, priorities

_LEAST_PERCENT = 50


def _judge(place: Place) -> Wrong | None:
    shares = place.text("dcb.{0}.tc_shares_percent").split()
    kinds = place.text("dcb.{0}.tc_algorithms").split()
    shared = {tc: int(share) for tc, (share, kind) in enumerate(zip(shares, kinds, strict=False)) if kind == "ets"}
    if not shared:
        raise NothingThere
    seen = [place.witness("dcb.{0}.tc_shares_percent", "dcb ets show dev {0}")]
    if (total := sum(shared.values())) != 100:
        return Wrong(f"the shares make {total} percent", _remedy(shared, {min(shared)}), seen)
    of_priority = pairs(place.text("dcb.{0}.priority_to_tc"))
    lossless = {of_priority[one] for one in priorities(place.text("dcb.{0}.pfc_priorities")) if one in of_priority}
    starved = {tc for tc in lossless & shared.keys() if shared[tc] < _LEAST_PERCENT}
    if not starved or len(lossless & shared.keys()) > 1:
        return None
    seen.append(place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}"))
    tc = min(starved)
    return Wrong(f"class {tc}, which is lossless, has {shared[tc]} percent", _remedy(shared, starved), seen)


def _remedy(shared: dict[int, int], starved: set[int]) -> str:
    """Return the shares with half for what starves, and the rest in equal parts for the others."""
    others = sorted(shared.keys() - starved)
    part = _LEAST_PERCENT // max(len(others), 1)
    given = dict.fromkeys(others, part)
    first = min(starved)
    given[first] = 100 - sum(given.values())
    return "dcb ets set dev {0} tc-bw all:0 " + " ".join(f"{tc}:{share}" for tc, share in sorted(given.items()))


CHECK = Check(
    "ets-starves",
    "warning",
    "shares of bandwidth are whole, and a lossless class has half or more",
    why="RDMA gets its least share as soon as others send",
    source="NVIDIA/deepops RoCE guide",
    look=each(r"dcb\.(.+)\.tc_shares_percent", _judge),
)
