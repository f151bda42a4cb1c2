"""Whether the kernel merges what is received."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "gro",
    "the kernel merges what is received: on or off",
    "-k",
    r"^generic-receive-offload: (on|off)$",
    ("-K", "gro"),
    on_or_off,
    "gro",
)
