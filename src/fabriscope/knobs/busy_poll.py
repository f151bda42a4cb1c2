"""How long select and poll look for frames themselves."""

from __future__ import annotations

from fabriscope.knobs.knob import microseconds, of_file

KNOB = of_file(
    "busy_poll",
    "how long select and poll look for frames themselves, as 50us",
    "/proc/sys/net/core/busy_poll",
    microseconds,
    "machine",
    "tcp.core_busy_poll_us",
)
