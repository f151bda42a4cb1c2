"""How long a card waits for company of a frame that it has sent, before it interrupts."""

from __future__ import annotations

from fabriscope.knobs.knob import microseconds, of_ethtool

KNOB = of_ethtool(
    "tx_coalesce_time",
    "how long a sent frame waits for company before an interrupt, as 8us",
    "-c",
    r"^tx-usecs:\s+(\d+)$",
    ("-C", "tx-usecs"),
    microseconds,
    "tx_coalesce_us",
)
