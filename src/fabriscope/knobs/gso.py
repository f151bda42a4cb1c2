"""Whether the kernel cuts late what is sent."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "gso",
    "the kernel cuts late what is sent: on or off",
    "-k",
    r"^generic-segmentation-offload: (on|off)$",
    ("-K", "gso"),
    on_or_off,
    "gso",
)
