"""A lossless priority has a traffic class of its own."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong
from fabriscope.model.priorities import pairs, priorities


def _judge(place: Place) -> Wrong | None:
    lossless = priorities(place.text("dcb.{0}.pfc_priorities"))
    of_priority = pairs(place.text("dcb.{0}.priority_to_tc"))
    lossy = of_priority.keys() - lossless
    shared = {one: sorted(other for other in lossy if of_priority[other] == of_priority.get(one)) for one in lossless}
    if len(lossless) > 2 or not any(shared.values()):
        return None
    seen = [place.witness("dcb.{0}.priority_to_tc", "dcb ets show dev {0}"),
            place.witness("dcb.{0}.pfc_priorities", "dcb pfc show dev {0}")]  # fmt: skip
    one, others = next((one, others) for one, others in shared.items() if others)
    what = f"priority {one} shares its traffic class with {', '.join(map(str, others))}"
    free = sorted(set(range(8)) - set(of_priority.values()))
    if not free:
        return Wrong(what, f"free a traffic class: dcb ets set dev {{0}} prio-tc {others[0]}:TC", seen)
    return Wrong(what, f"dcb ets set dev {{0}} prio-tc {one}:{free[0]}", seen)


CHECK = Check(
    "tc-of-priority",
    "warning",
    "a lossless priority has a traffic class of its own",
    why="best effort is held up with the lossless class, or that shares its buffer",
    source="Mellanox/mlnx-tools mlnx_qos",
    look=each(r"dcb\.(.+)\.pfc_priorities", _judge),
)
