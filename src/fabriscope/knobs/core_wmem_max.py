"""The greatest send buffer that a program may ask for."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, size

KNOB = of_file(
    "core_wmem_max",
    "greatest send buffer that a program may ask for, in bytes",
    "/proc/sys/net/core/wmem_max",
    size(2048),
    "machine",
    "tcp.core_wmem_max_bytes",
)
