"""The largest IP packet of an interface."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, size

KNOB = of_file(
    "mtu",
    "largest IP packet, in bytes",
    "/sys/class/net/{interface}/mtu",
    size(68, 65535),
    "interface",
    "interface.{interface}.mtu_bytes",
)
