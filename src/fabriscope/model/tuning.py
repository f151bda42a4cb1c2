"""What a tuning tried: configurations of settings, round by round, and what could not be set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["screening", "halving", "confirmation"]
Configuration = Mapping[str, str]
"""Knob to the value that it is set to; what is not named stays as it is."""


@dataclass(frozen=True)
class Factor:
    """A knob of a screening, at two of its values."""

    knob: str
    low: str
    high: str


@dataclass(frozen=True)
class Trials:
    """One round: configurations that are launched in blocks beside the fabric as it is."""

    stage: Stage
    fabric: str
    """That is tuned."""
    objective: str
    """Id of the case that is to become faster, over the fabric as it is."""
    configurations: Mapping[str, Configuration] = field(default_factory=dict)
    """Name of a fabric that differs in settings alone, to those."""
    factors: tuple[Factor, ...] = ()
    """Of the screening."""
    resolution: str = ""
    """Of its design: `full`, `V` or `IV`."""
    levels: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    """Knob to all values that are tried; None stands for what is set now, where that is none of the others."""
    current: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Knob to what each host had it at; a setting of a whole machine has the host's name for it."""
    left_out: tuple[str, ...] = ()
    """What cannot be tried, a sentence each."""
    commands: tuple[str, ...] = ()
    """Of a confirmation: what sets its configuration for good, a line each."""
