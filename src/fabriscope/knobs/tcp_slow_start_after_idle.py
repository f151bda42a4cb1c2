"""Whether TCP starts slowly after a pause."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "tcp_slow_start_after_idle",
    "whether TCP starts slowly after a pause: 0 or 1",
    "/proc/sys/net/ipv4/tcp_slow_start_after_idle",
    number(0, 1),
    "host",
    "tcp.slow_start_after_idle",
)
