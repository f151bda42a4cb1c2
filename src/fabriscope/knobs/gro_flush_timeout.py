"""How long received frames may wait to be merged."""

from __future__ import annotations

from fabriscope.knobs.knob import number, of_file

KNOB = of_file(
    "gro_flush_timeout",
    "how long received frames wait to be merged, in ns",
    "/sys/class/net/{interface}/gro_flush_timeout",
    number(0, 10**9),
    "interface",
    "interface.{interface}.gro_flush_timeout_ns",
)
