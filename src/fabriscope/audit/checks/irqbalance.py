"""Nobody moves the interrupts of a fast card."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong

_FAST_BITS_PER_S = 10**10


def _judge(place: Place) -> Wrong | None:
    if "irqbalance" not in place.text("software.services").split():
        return None
    count = place.number("interrupt.{0}.count")
    if count < 4 or place.number("interface.{0}.speed_bits_per_s") < _FAST_BITS_PER_S:
        return None
    seen = [place.witness("software.services", "systemctl is-active irqbalance"),
            place.witness("interrupt.{0}.count", "grep {0} /proc/interrupts")]  # fmt: skip
    what = f"irqbalance runs, which moves the card's {count:.0f} interrupts"
    return Wrong(what, "systemctl stop irqbalance; after the runs systemctl start irqbalance", seen)


CHECK = Check(
    "irqbalance",
    "warning",
    "nobody moves the interrupts of a fast card",
    why="what was pinned comes back elsewhere, in the middle of a run too; version 1.8.0 spreads nothing",
    source="Irqbalance/irqbalance#275",
    look=each(r"interrupt\.(.+)\.cpus", _judge),
)
