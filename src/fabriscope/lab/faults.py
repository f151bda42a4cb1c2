"""What is wrong with a fabric on purpose, in the words of the switch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriscope.model.lab import SwitchSpec

_PARTS_PER_BILLION = 10**9
_WORDS = {
    "on_full": "on_full",
    "loss_share": "loss_ppb",
    "drop_every": "drop_every",
    "reorder_share": "reorder_ppb",
    "reorder_delay_ns": "reorder_delay_ns",
    "flap_period_ns": "flap_period_ns",
    "flap_down_ns": "flap_down_ns",
    "is_down": "down",
}
"""Field of SwitchSpec (and `is_down`, which a switch is only told while it runs) to the switch's key."""
NONE: dict[str, Any] = {field: getattr(SwitchSpec(), field, False) for field in _WORDS if field != "on_full"}
"""The values with which nothing is wrong; what a full output does stays, since a fabric may be made to pause."""


def switch_words(values: Mapping[str, Any]) -> str:
    """Return values by their fields' names as the switch reads them: `loss_ppb=1000000,drop_every=10`."""
    return ",".join(f"{_WORDS[field]}={_word(value)}" for field, value in values.items() if field in _WORDS)


def _word(value: Any) -> str:
    if isinstance(value, float):
        return str(round(value * _PARTS_PER_BILLION))
    return str(int(value)) if isinstance(value, bool | int) else str(value)
