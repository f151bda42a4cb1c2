"""Queues of a card interrupt several processors."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    count, cpus = place.number("interrupt.{0}.count"), place.text("interrupt.{0}.cpus")
    if count < 4 or not cpus.isdecimal() or place.number("cpu.thread_count") < 2:
        return None
    seen = [place.witness("interrupt.{0}.cpus", "grep {0} /proc/interrupts; cat /proc/irq/N/effective_affinity_list"),
            place.witness("interrupt.{0}.count", "grep {0} /proc/interrupts")]  # fmt: skip
    what = f"all {count:.0f} interrupts go to processor {cpus}"
    return Wrong(what, "spread them: set_irq_affinity, or irqbalance", seen)


CHECK = Check(
    "irq-affinity",
    "warning",
    "queues of a card interrupt several processors",
    why="one processor takes all frames: TCP is held to what it can do",
    source="bloomberg/chef-bcpc#2115",
    look=each(r"interrupt\.(.+)\.cpus", _judge),
)
