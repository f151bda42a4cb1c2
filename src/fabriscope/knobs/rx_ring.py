"""How many frames a card has room for that it has received."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_ethtool

KNOB = of_ethtool(
    "rx_ring",
    "received frames that the card has room for",
    "-g",
    r"Current hardware settings:\n(?:.*\n)*?RX:\s+(\d+)$",
    ("-G", "rx"),
    number(1, 10**6),
    "rx_ring_frames",
    is_mild=False,
)
