"""Whether the card makes sums."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "tx_checksum",
    "the card makes sums: on or off",
    "-k",
    r"^tx-checksumming: (on|off)$",
    ("-K", "tx"),
    on_or_off,
    "tx_checksum",
)
