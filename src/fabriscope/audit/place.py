"""One place where a check looks, and what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.audit.alike import Value
from fabriscope.audit.inventory import value_text
from fabriscope.model.audit import Witness
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts


@dataclass(frozen=True)
class Wrong:
    """What a check found at one place."""

    what: str
    remedy: str
    witnesses: Sequence[Witness]


class NothingThere(Exception):
    """A place has nothing of what a check looks at: it neither passes there nor is it unseen."""


class NotSeen(Exception):
    """A fact that a check needs is unknown; the text says why."""


@dataclass(frozen=True)
class Place:
    """Where a check looks: `{0}`, `{1}` in a fact's name stand for the parts of the place's own name."""

    host: str
    known: HostFacts
    parts: tuple[str, ...]
    device: Device | None = None
    port: str = ""

    @property
    def name(self) -> str:
        """Return `node15 eth0`."""
        return " ".join((self.host, *self.parts[:1]))

    def get(self, fact: str) -> Value | None:
        """Return a fact's value, None for unknown."""
        return self.known.values.get(fact.format(*self.parts))

    def value(self, fact: str) -> Value:
        """Return a fact's value; raises NotSeen, and NothingThere for what a driver does not offer."""
        return _value(self.known, fact.format(*self.parts))

    def number(self, fact: str) -> float:
        """Return a number; raises NotSeen."""
        value = self.value(fact)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise NotSeen(f"{fact.format(*self.parts)} is {value_text(value)}, and no number")
        return value

    def text(self, fact: str) -> str:
        """Return a value as text; raises NotSeen."""
        return value_text(self.value(fact))

    def text_or(self, fact: str, usual: str) -> str:
        """Return a value as text, or what holds where there is no such fact; raises NotSeen for an unknown one."""
        return self.text(fact) if fact.format(*self.parts) in self.known.values else usual

    def witness(self, fact: str, told_by: str) -> Witness:
        """Return a fact as evidence, with the command that tells it."""
        name = fact.format(*self.parts)
        return Witness(self.name, name.rpartition(".")[2], value_text(self.get(fact)), told_by.format(*self.parts))

    @property
    def switch(self) -> Device:
        """Return the device; raises NotSeen where the place has none."""
        if self.device is None:
            raise NotSeen("no saved outputs of its switch are at hand")
        return self.device

    def of_port(self, fact: str) -> Value:
        """Return a fact of the device's port; raises NotSeen."""
        known, name = self.switch.known, f"port.{self.port}.{fact}"
        if name in known.values:
            return _value(known, name)
        raise NotSeen(f"no saved output of {self.switch.name} tells {fact} of {self.port}")

    def device_witness(self, fact: str) -> Witness:
        """Return a fact of the whole device as evidence."""
        name = f"device.{fact}"
        value = self.switch.known.values.get(name)
        return Witness(self.switch.name, fact, value_text(value), self.switch.sources.get(name, "no saved output"))

    def port_witness(self, fact: str) -> Witness:
        """Return a fact of the device's port as evidence, with the output that tells it."""
        value = self.switch.known.values.get(f"port.{self.port}.{fact}")
        return Witness(f"{self.switch.name} {self.port}", fact, value_text(value), self.switch.source(self.port, fact))


def _value(known: HostFacts, name: str) -> Value:
    value = known.values.get(name)
    if value is not None:
        return value
    fact = known.unknown.get(name)
    if fact is not None and not fact.is_offered:
        raise NothingThere
    raise NotSeen((fact.unknown_because if fact is not None else None) or f"{name} is not told")
