"""All facts of all hosts as one table: what is common, what differs, what changed since an earlier look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabriscope.audit import alike
from fabriscope.audit.alike import Spread, Value
from fabriscope.model.host import Fact, HostFacts

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Line:
    """One fact of all hosts."""

    fact: str
    cells: Sequence[str]
    """One for each host, in their order."""
    odd: Sequence[str]
    """Hosts that differ from most of those that they should be like."""


@dataclass(frozen=True)
class Change:
    """A fact that is another one than it was."""

    host: str
    fact: str
    was: Value | None
    now: Value | None


@dataclass(frozen=True)
class Inventory:
    """Everything that is known of hosts."""

    hosts: Mapping[str, HostFacts]

    @cached_property
    def lines(self) -> list[Line]:
        """Return a line for each fact, in the order in which hosts tell them."""
        names = dict.fromkeys(fact.name for known in self.hosts.values() for fact in known.facts)
        odd: dict[str, list[str]] = {}
        for spread in self.differing:
            odd.setdefault(spread.fact, []).extend(host for one in spread.odd for host in one.hosts)
        told = {host: {fact.name: text_of(fact) for fact in known.facts} for host, known in self.hosts.items()}
        return [Line(name, [of.get(name, "") for of in told.values()], odd.get(name, [])) for name in names]

    @cached_property
    def kinds(self) -> list[list[str]]:
        """Return the hosts that should be alike, group by group."""
        return alike.kinds(self.hosts)

    @cached_property
    def differing(self) -> list[Spread]:
        """Return what differs inside a group of hosts that should be alike."""
        return [one for group in self.kinds for one in alike.differing({name: self.hosts[name] for name in group})]


def text_of(fact: Fact) -> str:
    """Return a fact's value as a table shows it; of an unknown its reason."""
    if fact.value is None:
        return f"{UNKNOWN}: {fact.unknown_because}" if fact.unknown_because else UNKNOWN
    return value_text(fact.value)


def value_text(value: Value | None) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def changes(before: Mapping[str, HostFacts], now: Mapping[str, HostFacts]) -> list[Change]:
    """Return what differs from an earlier look, of facts that both asked for and that do not change by themselves.

    Whether a value became unknown, or known, is a change, too.
    """
    found = []
    for host in now:
        if host not in before:
            continue
        old, new = before[host].values, now[host].values
        found += [
            Change(host, name, old[name], new[name])
            for name in new
            if name in old
            and not alike.is_volatile(name)
            and (type(old[name]), old[name]) != (type(new[name]), new[name])
        ]
    return found
