"""A fabric's cables, buffers and cards, in the words of the switch that changes them while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "rate_bits_per_s": "rate",
    "delay_ns": "delay",
    "buffer_bytes": "buffer",
    "rx_coalesce_ns": "coalesce_ns",
    "rx_coalesce_frames": "coalesce_frames",
}
"""Field of SwitchSpec to the switch's key."""


def switch_words(values: Mapping[str, Any]) -> str:
    """Return values by their fields' names as the switch reads them: `rate=1000000000,buffer=65536`."""
    return ",".join(f"{_WORDS[field]}={int(value)}" for field, value in values.items() if field in _WORDS)
