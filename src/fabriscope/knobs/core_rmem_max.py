"""The greatest receive buffer that a program may ask for."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, size

KNOB = of_file(
    "core_rmem_max",
    "greatest receive buffer that a program may ask for, in bytes",
    "/proc/sys/net/core/rmem_max",
    size(2048),
    "machine",
    "tcp.core_rmem_max_bytes",
)
