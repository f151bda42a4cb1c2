"""What chooses the processors' clock, alike for all of them."""

from __future__ import annotations

from fabriscope.knobs.knob import of_script, one_of

GOVERNORS = ("performance", "powersave", "ondemand", "conservative", "schedutil", "userspace")
"""Those of the kernel's own sources."""
_PATHS = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor"
KNOB = of_script(
    "governor",
    "what chooses the processors' clock: performance, powersave, ondemand, conservative, schedutil or userspace",
    ("sh", "-c", f"cat {_PATHS}"),
    r"\A(\w+)(?:\n\1)*\Z",
    f'for path in {_PATHS}; do echo "$1" > "$path" || exit 1; done',
    one_of(*GOVERNORS),
    "machine",
    "cpu.governor",
)
"""Processors with different governors could not be put back alike: then it is not set."""
