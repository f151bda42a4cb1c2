"""The names that a plan may use on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Vocabulary:
    """The names that this installation knows, for the checks; from the registries."""

    benchmarks: frozenset[str]
    instruments: frozenset[str]
    layers: frozenset[str]
    presets: frozenset[str]
    allocation: tuple[str, ...] | None = None
    """The hosts of the batch job that we are in, or are about to ask for; None outside of any."""
    instrument_layers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The layers that an instrument measures; one that is not named here measures every layer."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Layers that this installation's engine was built without, and what to do."""
    faults: frozenset[str] = frozenset()
    """What can be wrong on purpose in a lab."""
    knobs: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    """What may be set on hosts: its name to what reads a value, and raises ValueError."""
    missing_here: Mapping[str, str] = field(default_factory=dict)
    """Layers whose library is not on this machine, and what to do; other hosts may have it, those of a lab do not."""
