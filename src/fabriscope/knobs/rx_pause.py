"""Whether a card obeys pause frames (802.3x)."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "rx_pause",
    "pause frames (802.3x) are obeyed: on or off",
    "-a",
    r"^RX:\s+(on|off)$",
    ("-A", "rx"),
    on_or_off,
    "rx_pause",
    is_mild=False,
)
