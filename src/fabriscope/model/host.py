"""What a host is, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Host:
    """One machine that can run a rank, real or of the lab."""

    name: str
    access: tuple[str, ...] = ()
    """argv prefix that runs a command on the host (ssh and the host's name); empty for the machine we are on."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Interface name to IPv4 address, as far as they were given or are known."""
    management_interface: str | None = None
    """Interface for wiring processes up (rendezvous, MPI's out-of-band channel); None: any."""
    kind: str = "machine"
    """`machine`, or the lab's `namespace` (later `guest`)."""
    node_name: str = ""
    """What the host calls itself (`uname -n`), where a plan's name for it may be another; empty: its name."""
    cpu_count: int | None = None
    """Processors that a program may use there; None when unknown."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of everything that runs for us on a remote host."""
    mark: str = ""
    """What runs for us on a remote host carries a mark in its environment that begins with this one."""

    @property
    def is_remote(self) -> bool:
        """Return whether `access` is a remote shell, which takes a line of shell and passes no variable on."""
        return bool(self.access) and self.kind == "machine"

    @property
    def management_address(self) -> str | None:
        """Return the address of the management interface, or None where none is set."""
        return self.addresses.get(self.management_interface or "")


HERE = Host("localhost")
"""The machine that we are on, for what runs on it though the plan does not name it: launchers inside a batch job."""

COPY_RATE = "memory.copy_bytes_per_s"
"""The fact that says how fast one thread copies memory on a host, at best."""


@dataclass(frozen=True)
class Fact:
    """One thing that is true of a host; an unknown keeps the reason why it is unknown."""

    name: str
    """Dotted: `cpu.model`, `interface.eth0.mtu_bytes`."""
    value: str | int | float | bool | None = None
    unknown_because: str | None = None
    is_offered: bool = True
    """Of an unknown: whether it could be known, or set; False for what a driver or a neighbour does not have."""


@dataclass(frozen=True)
class HostFacts:
    """What is known of one host."""

    facts: tuple[Fact, ...] = ()

    @cached_property
    def values(self) -> Mapping[str, str | int | float | bool | None]:
        """Return fact to value, None for what is unknown."""
        return {fact.name: fact.value for fact in self.facts}

    @cached_property
    def unknown(self) -> Mapping[str, Fact]:
        """Return the facts without a value, by name."""
        return {fact.name: fact for fact in self.facts if fact.value is None}

    def number(self, name: str) -> int | float | None:
        """Return the value of a fact that is a number."""
        value = self.values.get(name)
        return value if isinstance(value, int | float) else None

    def text(self, name: str) -> str | None:
        """Return the value of a fact that is text."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None
