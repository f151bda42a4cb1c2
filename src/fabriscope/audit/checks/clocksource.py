"""The clock is the processor's time-stamp counter."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    clock = place.text("kernel.clocksource")
    if clock in ("tsc", "kvm-clock", "arch_sys_counter"):
        return None
    seen = place.witness("kernel.clocksource", "cat /sys/devices/system/clocksource/clocksource0/current_clocksource")
    return Wrong(f"the clock is {clock}", "boot with clocksource=tsc, where the processor's is stable", [seen])


CHECK = Check(
    "clocksource",
    "warning",
    "the clock is the processor's time-stamp counter",
    why="another clock costs up to a microsecond a reading",
    source="Linux timekeeping documentation",
    look=each(r"kernel\.clocksource", _judge),
)
