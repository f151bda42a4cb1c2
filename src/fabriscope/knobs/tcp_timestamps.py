"""Timestamps of TCP."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "tcp_timestamps",
    "timestamps of TCP: 0 or 1",
    "/proc/sys/net/ipv4/tcp_timestamps",
    number(0, 1),
    "host",
    "tcp.timestamps",
)
