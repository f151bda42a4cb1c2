"""Which hosts should be alike, and which facts are each host's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.host import HostFacts

Value = str | int | float | bool
_VOLATILE = re.compile(
    r"load\.|memory\.(available|swap_used)_bytes|memory\.copy|cpu\.clock(_now)?_hz|link\..*_count|port\..*_count|rdma\..*\.counter\."
)
"""What is another number at every look."""
_OWN = re.compile(
    r"kernel\.host_name|.*\.(mac|ipv4|ipv4_network|address|node_guid|chassis_mac|lid)$|.*\.gid\.\d+$|port\.|device\.host_name|lldp\.|interrupt\.|numa\.[^.]*\.distances"
)
"""What names one host, or its place."""
_KIND_OF_CARD = re.compile(r"(interface\..*\.driver|rdma\..*\.board_id)")


@dataclass(frozen=True)
class Shared:
    """One value of a fact, and the hosts that have it."""

    value: Value | None
    """None: unknown there."""
    hosts: Sequence[str]


@dataclass(frozen=True)
class Spread:
    """The values of one fact among hosts that should be alike, the most frequent first, unknown last."""

    fact: str
    values: Sequence[Shared]

    @property
    def usual(self) -> Shared:
        """Return the value that most hosts have."""
        return self.values[0]

    @property
    def odd(self) -> Sequence[Shared]:
        """Return the other values."""
        return self.values[1:]


def is_volatile(fact: str) -> bool:
    """Return whether a fact changes by itself from one look to the next."""
    return _VOLATILE.match(fact) is not None


def is_own(fact: str) -> bool:
    """Return whether each host has its own value of a fact, rightly."""
    return is_volatile(fact) or _OWN.match(fact) is not None


def kinds(hosts: Mapping[str, HostFacts]) -> list[list[str]]:
    """Return hosts in groups of one processor and the same cards, devices in those of one system; the largest first."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, known in hosts.items():
        cards = Counter(
            fact.value for fact in known.facts if fact.value is not None and _KIND_OF_CARD.fullmatch(fact.name)
        )
        groups.setdefault(
            (known.values.get("cpu.model"), known.values.get("device.system"), *sorted(map(str, cards.items()))), []
        ).append(name)
    return sorted(groups.values(), key=len, reverse=True)


def spread(fact: str, hosts: Mapping[str, HostFacts]) -> Spread:
    """Return which hosts have which value of a fact; of equally frequent ones the first leads."""
    groups: dict[tuple[type, Value | None], list[str]] = {}
    for name, known in hosts.items():
        value = known.values.get(fact)
        groups.setdefault((type(value), value), []).append(name)
    ordered = sorted(groups.items(), key=lambda item: (item[0][1] is None, -len(item[1])))
    return Spread(fact, [Shared(value, names) for (_, value), names in ordered])


def differing(hosts: Mapping[str, HostFacts]) -> list[Spread]:
    """Return the facts that differ among hosts that should be alike, in the order in which they are told."""
    names = dict.fromkeys(fact.name for known in hosts.values() for fact in known.facts)
    spreads = [spread(name, hosts) for name in names if not is_own(name)]
    return [one for one in spreads if len(one.values) > 1]
