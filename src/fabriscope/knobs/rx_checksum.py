"""Whether the card checks sums."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "rx_checksum",
    "the card checks sums: on or off",
    "-k",
    r"^rx-checksumming: (on|off)$",
    ("-K", "rx"),
    on_or_off,
    "rx_checksum",
)
