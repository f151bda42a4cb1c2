"""All hosts have one CPU governor."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "governor-differs",
    "warning",
    "all hosts have one CPU governor",
    why="clocks of some hosts follow their load",
    source="Dasharo/coreboot#512",
    look=agree(
        r"cpu\.governor",
        "the governor",
        told_by="cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        remedy="cpupower frequency-set -g {usual}",
    ),
)
