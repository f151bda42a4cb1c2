"""Whether a card sends pause frames (802.3x)."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "tx_pause",
    "pause frames (802.3x) are sent: on or off",
    "-a",
    r"^TX:\s+(on|off)$",
    ("-A", "tx"),
    on_or_off,
    "tx_pause",
    is_mild=False,
)
