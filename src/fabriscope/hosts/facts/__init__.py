"""What is true of a host. One file a group; the registry finds those that define `FACTS`.

A group names the files and programs that it needs, and turns what they said into facts: a pure function, tested with
recorded text. The host is read once for all groups (`hosts/access`).
"""

from __future__ import annotations

from collections.abc import Iterable

from fabriscope.hosts import access
from fabriscope.hosts.access import Reading, Wanted
from fabriscope.hosts.facts._reading import FactGroup, Group
from fabriscope.model.errors import FabriscopeError, ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Fact, Host
from fabriscope.registry import discover

__all__ = ["Group", "Reading", "collect", "from_answer", "groups", "read", "wanted"]


def groups() -> list[FactGroup]:
    """Return all groups of facts."""
    return list(discover("hosts.facts", "FACTS").plugins.values())


def collect(host: Host) -> list[Fact]:
    """Return everything that the groups know of the host; what cannot be read is an unknown with its reason."""
    known = groups()
    try:
        return _facts(read(host, known), known)
    except FabriscopeError as error:
        return [Fact(f"{group.name}.reading", None, f"the host cannot be read: {error}") for group in known]


def wanted(known: Iterable[FactGroup]) -> Wanted:
    """Return what groups need to read of a host."""
    known = list(known)
    return Wanted(
        globs=tuple(sorted({glob for group in known for glob in group.globs})),
        links=tuple(sorted({glob for group in known for glob in group.links})),
        commands=tuple(sorted({argv for group in known for argv in group.commands})),
    )


def from_answer(answer: Foreign) -> list[Fact]:
    """Return the facts in what the collector, asked for all groups, answered; raises ParseError."""
    return _facts(Reading.of(answer), groups())


def _facts(reading: Reading, known: Iterable[FactGroup]) -> list[Fact]:
    facts: list[Fact] = []
    for group in known:
        try:
            facts += group.facts(reading)
        except ParseError as error:
            facts.append(Fact(f"{group.name}.reading", None, f"unexpected text: {error}"))
        except (
            ValueError,
            LookupError,
            AttributeError,
            TypeError,
            ArithmeticError,
            RecursionError,
        ) as error:  # a kernel that writes what we have never seen
            facts.append(Fact(f"{group.name}.reading", None, f"unexpected text: {type(error).__name__}: {error}"))
    return facts


def read(host: Host, known: Iterable[FactGroup]) -> Reading:
    """Return what the host's files and programs said for groups of facts; raises ToolMissing, HostError, ParseError."""
    return access.read(host, wanted(known))
