"""How many frames wait before an interface."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "tx_queue",
    "frames that wait before the card",
    "/sys/class/net/{interface}/tx_queue_len",
    number(0, 1000000),
    "interface",
    "interface.{interface}.tx_queue_frames",
)
