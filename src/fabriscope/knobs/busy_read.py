"""How long a read looks for frames itself."""

from __future__ import annotations

from fabriscope.knobs.knob import microseconds, of_file

KNOB = of_file(
    "busy_read",
    "how long a read looks for frames itself, as 50us",
    "/proc/sys/net/core/busy_read",
    microseconds,
    "machine",
    "tcp.core_busy_read_us",
)
