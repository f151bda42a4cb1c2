"""Windows of TCP beyond 64 KiB."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "tcp_window_scaling",
    "windows of TCP beyond 64 KiB: 0 or 1",
    "/proc/sys/net/ipv4/tcp_window_scaling",
    number(0, 1),
    "host",
    "tcp.window_scaling",
)
