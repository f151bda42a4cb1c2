"""What a fabric's switch is once settings of a plan stand on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fabriscope.model.lab import SwitchSpec
from fabriscope.model.switch_settings import SWITCH_SETTINGS

_NONE = "none"


def _bytes(text: str) -> int | None:
    return None if text == _NONE else int(text)


def _marks(text: str) -> dict[str, Any]:
    least, most = (None, None) if text == _NONE else map(int, text.split("/"))
    return {"ecn_min_bytes": least, "ecn_max_bytes": most}


def _coalescing(text: str) -> dict[str, Any]:
    wait_ns, frames = (0, 1) if text == _NONE else map(int, text.split("/"))
    return {"rx_coalesce_ns": wait_ns, "rx_coalesce_frames": frames}


_OF_SWITCH: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "rate": lambda text: {"rate_bits_per_s": int(text)},
    "delay": lambda text: {"delay_ns": int(text)},
    "buffer": lambda text: {"buffer_bytes": int(text)},
    "on_full": lambda text: {"on_full": text},
    "loss_ppb": lambda text: {"loss_share": float(text)},
    "coalesce": _coalescing,
}
_OF_QUEUES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "pfc": lambda text: {"pfc": "" if text == _NONE else text},
    "xoff": lambda text: {"xoff_bytes": _bytes(text)},
    "xon": lambda text: {"xon_bytes": _bytes(text)},
    "headroom": lambda text: {"headroom_bytes": _bytes(text)},
    "shared": lambda text: {"shared_buffer_bytes": int(text)},
    "alpha_ppm": lambda text: {"alpha": float(text)},
    "ecn": _marks,
    "ecn_ppb": lambda text: {"ecn_probability": float(text)},
    "turns": lambda text: {"scheduler": text},
}
"""The switch's own word to the fields of SwitchSpec, or of its queues, of a value as hosts say it."""


def after(spec: SwitchSpec, settings: Mapping[str, str]) -> SwitchSpec:
    """Return a switch with the settings that are of switches, whose values are as hosts say them."""
    own: dict[str, Any] = {}
    queues: dict[str, Any] = {}
    for name, text in settings.items():
        word = SWITCH_SETTINGS[name].word if name in SWITCH_SETTINGS else ""
        if word in _OF_SWITCH:
            own |= _OF_SWITCH[word](text)
        elif word in _OF_QUEUES:
            queues |= _OF_QUEUES[word](text)
    return replace(spec, queues=replace(spec.queues, **queues), **own)
