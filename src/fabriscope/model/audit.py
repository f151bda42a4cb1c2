"""What an audit comes to: findings with their evidence, and what could not be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Broken, or numbers that mean something else; slow, fragile or not to be repeated; worth a line."""


@dataclass(frozen=True)
class Witness:
    """One fact that a finding rests on."""

    where: str
    """Host or device, and the interface or port there: `node15 eth0`."""
    fact: str
    value: str
    told_by: str
    """The command that tells it, to be run there; of a device the saved output."""

    @property
    def text(self) -> str:
        """Return it in one line."""
        return f"{self.where}: {self.fact} {self.value} ({self.told_by})"


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or looks so, at one place of one or several hosts alike."""

    check: str
    severity: Severity
    path: str
    """What is concerned, from end to end: `node15 eth0 - leaf1 Ethernet1/3`, `eth0`, `leaf1 Ethernet1/3`, `host`."""
    hosts: tuple[str, ...]
    """Hosts, or devices, where it is so."""
    what: str
    """Without a host's name, so that equal hosts say it once."""
    witnesses: tuple[Witness, ...]
    remedy: str
    accepted_because: str = ""
    """Why somebody lives with it; empty for what counts."""


@dataclass(frozen=True)
class Unseen:
    """Where a check could not be made, and why."""

    check: str
    hosts: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What all checks came to."""

    findings: tuple[Finding, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    passed: tuple[str, ...] = ()
    """Checks that looked at something and found nothing, nowhere unknown."""
    idle: tuple[str, ...] = ()
    """Checks that had nothing to look at: no such card, one host alone, no switch."""

    @property
    def counting(self) -> tuple[Finding, ...]:
        """Return the findings that nobody has accepted."""
        return tuple(one for one in self.findings if not one.accepted_because)

    @property
    def is_empty(self) -> bool:
        """Return whether no check had anything to look at: that is no pass."""
        return not (self.findings or self.unseen or self.passed)
