"""How many sent frames a card lets come together before it interrupts."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_ethtool

KNOB = of_ethtool(
    "tx_coalesce_frames",
    "sent frames to one interrupt",
    "-c",
    r"^tx-frames:\s+(\d+)$",
    ("-C", "tx-frames"),
    number(0, 10**6),
    "tx_coalesce_frames",
)
