"""How long a card waits for company of a frame that it has received, before it interrupts."""

from __future__ import annotations

from fabriscope.knobs.knob import microseconds, of_ethtool

KNOB = of_ethtool(
    "rx_coalesce_time",
    "how long a received frame waits for company before an interrupt, as 8us",
    "-c",
    r"^rx-usecs:\s+(\d+)$",
    ("-C", "rx-usecs"),
    microseconds,
    "rx_coalesce_us",
)
