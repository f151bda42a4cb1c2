"""Whether the card cuts what TCP sends."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

KNOB = of_ethtool(
    "tso",
    "the card cuts what TCP sends: on or off",
    "-k",
    r"^tcp-segmentation-offload: (on|off)$",
    ("-K", "tso"),
    on_or_off,
    "tso",
)
