"""A switch, or another thing on the path that runs no program of ours: what its saved outputs tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabriscope.model.host import HostFacts

PORT = "port"
"""The first part of the name of a port's facts: `port.Ethernet1/1.mtu_bytes`."""


_SHORT = re.compile(r"(?:eth|ethernet|et) ?(\d[\d/:.]*)", re.IGNORECASE)


def port_name(text: str) -> str:
    """Return a port's name in one spelling: `Ethernet1/1` for `Eth1/1`, `Et1/1`, `ethernet 1/1` and `Ethernet 1/1`."""
    match = _SHORT.fullmatch(text.strip())
    return f"Ethernet{match[1]}" if match else text.strip()


@dataclass(frozen=True)
class Device:
    """What is known of one device."""

    name: str
    system: str
    """`eos`, `nxos`, `sonic`, `onyx` or `cumulus`."""
    known: HostFacts
    sources: Mapping[str, str] = field(default_factory=dict)
    """Fact to the command, or the file, that told it."""
    problems: Sequence[str] = ()
    """What was not understood, each in a sentence."""

    @cached_property
    def ports(self) -> Sequence[str]:
        """Return the names of its ports."""
        names = (fact.name.split(".", 1)[1].rpartition(".")[0] for fact in self.known.facts if _is_of_port(fact.name))
        return tuple(dict.fromkeys(names))

    def number(self, port: str, fact: str) -> int | float | None:
        """Return a port's fact that is a number."""
        return self.known.number(f"{PORT}.{port}.{fact}")

    def text(self, port: str, fact: str) -> str | None:
        """Return a port's fact that is a text."""
        return self.known.text(f"{PORT}.{port}.{fact}")

    def flag(self, port: str, fact: str) -> bool | None:
        """Return a port's fact that is yes or no."""
        value = self.known.values.get(f"{PORT}.{port}.{fact}")
        return value if isinstance(value, bool) else None

    def source(self, port: str, fact: str) -> str:
        """Return the command that told a port's fact."""
        return self.sources.get(f"{PORT}.{port}.{fact}", "no saved output")


def _is_of_port(name: str) -> bool:
    return name.startswith(f"{PORT}.")
