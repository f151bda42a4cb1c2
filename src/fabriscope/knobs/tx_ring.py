"""How many frames a card has room for that it has sent."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_ethtool

KNOB = of_ethtool(
    "tx_ring",
    "sent frames that the card has room for",
    "-g",
    r"Current hardware settings:\n(?:.*\n)*?TX:\s+(\d+)$",
    ("-G", "tx"),
    number(1, 10**6),
    "tx_ring_frames",
    is_mild=False,
)
