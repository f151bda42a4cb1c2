"""What users compare: a way for bytes from host to host, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fabric:
    """One fabric: a transport over one interface of every host."""

    name: str
    interfaces: Mapping[str, str]
    """Host name to interface name."""
    transport: str = "tcp"
    """`tcp` now; `roce`, `ib` and `shm` are names kept for later."""
    line_rate_bits_per_s: int | None = None
    """Bits per second on the wire, preamble and gaps included; None when unknown, 0 never."""
    mtu_bytes: int | None = None
    """Largest IP packet; None when unknown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What was set for this fabric, for the report (delay, buffer, coalescing ...)."""
