"""Whether a driver chooses by itself how long received frames wait."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "rx_coalesce_adaptive",
    "the driver chooses how long received frames wait: on or off",
    "-c",
    r"^Adaptive RX: +(on|off)\b",
    ("-C", "adaptive-rx"),
    on_or_off,
    "rx_coalesce_adaptive",
)
