"""Whether the card cuts what TCP sends."""

from __future__ import annotations

from fabriscope.knobs.knob import of_ethtool, on_or_off

_OF_IPV4 = "tx-tcp-segmentation"
"""Its own line: above it ethtool says `on` while any kind of TCP is cut, some of which no program of ours sends."""
_PATTERN = rf"^(?:\t{_OF_IPV4}|tcp-segmentation-offload(?=: \w+\n(?!\t{_OF_IPV4}))): (on|off)(?: \[requested on\])?$"

KNOB = of_ethtool(
    "tso",
    "the card cuts what TCP sends: on or off",
    "-k",
    _PATTERN,
    ("-K", "tso"),
    on_or_off,
    "tso",
)
