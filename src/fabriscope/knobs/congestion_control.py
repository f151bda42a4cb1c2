"""TCP's congestion control of new connections."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, word

KNOB = of_file(
    "congestion_control",
    "congestion control of TCP: cubic, reno, bbr, dctcp",
    "/proc/sys/net/ipv4/tcp_congestion_control",
    word,
    "host",
    "tcp.congestion_control",
)
