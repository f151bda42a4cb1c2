"""Whether the kernel moves memory to the node that uses it."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "numa_balancing",
    "memory moves to the node that uses it: 0 or 1",
    "/proc/sys/kernel/numa_balancing",
    number(0, 1),
    "machine",
    "numa.balancing",
)
