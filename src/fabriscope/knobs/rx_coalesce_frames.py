"""How many received frames a card lets come together before it interrupts."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_ethtool

KNOB = of_ethtool(
    "rx_coalesce_frames",
    "received frames to one interrupt",
    "-c",
    r"^rx-frames:\s+(\d+)$",
    ("-C", "rx-frames"),
    number(0, 10**6),
    "rx_coalesce_frames",
)
