"""The CPU governor is performance."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    governor = place.text("cpu.governor")
    if governor == "performance":
        return None
    seen = place.witness("cpu.governor", "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return Wrong(f"the governor is {governor}", "cpupower frequency-set -g performance", [seen])


CHECK = Check(
    "governor",
    "warning",
    "the CPU governor is performance",
    why="clocks rise only some time after work began: the tail of latencies grows",
    source="Dasharo/coreboot#512",
    look=each(r"cpu\.governor", _judge),
)
