"""Whether the card merges what is received."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "lro",
    "the card merges what is received: on or off",
    "-k",
    r"^large-receive-offload: (on|off)$",
    ("-K", "lro"),
    on_or_off,
    "lro",
    needs_card=True,
)
