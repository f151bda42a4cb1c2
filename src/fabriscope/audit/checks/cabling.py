"""Hosts on the same switches have their interfaces on them in the same order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from fabriscope.audit.check import Check, Result, unread
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Finding, Witness
from fabriscope.model.host import HostFacts

_FACT = re.compile(r"lldp\.(.+)\.system")
Order = tuple[tuple[str, str], ...]
"""Interfaces, each with the switch that it hears."""


def _heard(known: HostFacts) -> Order:
    return tuple(
        sorted(
            (match[1], value)
            for name, value in known.values.items()
            if (match := _FACT.fullmatch(name)) and isinstance(value, str)
        )
    )


def _look(scene: Scene, check: Check) -> Iterator[Result | None]:
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, Order]] = {}
    for name in (name for name in scene.names if _FACT.fullmatch(name)):
        yield from unread(check, name, scene.hosts)
    for host, known in scene.hosts.items():
        order = _heard(known)
        names, systems = tuple(one for one, _ in order), tuple(sorted(one for _, one in order))
        if len(set(systems)) > 1:
            groups.setdefault((names, systems), {})[host] = order
    for of_hosts in groups.values():
        if len(of_hosts) < 2:
            continue
        usual = Counter(of_hosts.values()).most_common(1)[0][0]
        like = next(host for host, order in of_hosts.items() if order == usual)
        for host, order in of_hosts.items():
            yield None if order == usual else _finding(check, host, order, like, usual)


def _finding(check: Check, host: str, order: Order, like: str, usual: Order) -> Finding:
    (interface, here), (_, there) = next(both for both in zip(order, usual, strict=True) if both[0] != both[1])
    seen = [Witness(f"{one} {interface}", "system", system, "lldpctl") for one, system in ((host, here), (like, there))]
    what = f"it is on {here}, and on {there} on hosts with the same switches"
    fix = "put the cables in the order of the others, or name the interfaces after them"
    return Finding(check.name, check.severity, interface, (host,), what, tuple(seen), fix)


CHECK = Check(
    "cabling",
    "error",
    "hosts on the same switches have their interfaces on them in the same order",
    why="what is meant to stay on one switch crosses two: a library pairs ports by their number",
    source="NVIDIA/topograph",
    look=_look,
)
