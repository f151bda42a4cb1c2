"""What a check is, and how one is written: a function of one place, which says what is wrong there.

A place is an interface or a port of one host (`each`), of one device (`each_port`), or a cable with both
(`each_cable`); `agree` holds hosts that should be alike against each other. A fact that nobody could read makes the
place unseen, with the reason; what a driver does not offer cannot be set wrongly, and makes it nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabriscope.audit import alike
from fabriscope.audit.alike import Shared
from fabriscope.audit.inventory import value_text
from fabriscope.audit.place import NothingThere, NotSeen, Place, Wrong
from fabriscope.audit.scene import Cable, Scene
from fabriscope.model.audit import Finding, Severity, Unseen, Witness
from fabriscope.model.host import HostFacts

_OF_PARTS = ("interface", "link", "dcb", "rdma", "pcie", "ip", "lldp", "interrupt")
_NOT_OFFERED = re.compile(r"not supported|is not told|no mode|lists no|does not announce", re.IGNORECASE)
"""Reasons that say that there is nothing to be set."""


Result = Finding | Unseen
_NOTHING = Unseen("", (), "what the place has cannot be set")
Judge = Callable[[Place], Wrong | None]


@dataclass(frozen=True)
class Check:
    """One question, and where its answer is known from."""

    name: str
    severity: Severity
    asks: str
    """What should be so."""
    why: str
    source: str
    look: Callable[[Scene, Check], Iterator[Result | None]]
    """Yields a result for each place, None where all is well."""

    def results(self, scene: Scene) -> list[Result | None]:
        """Return what the check says of each place; an empty list where there is none."""
        return [one for one in self.look(scene, self) if one is not _NOTHING]


def agree(
    pattern: str, what: str, told_by: str, remedy: str, *, is_optional: bool = False
) -> Callable[[Scene, Check], Iterator[Result | None]]:
    """Return a look that holds hosts that should be alike against each other, in all facts that match a pattern.

    `{0}` stands for the pattern's first group, `{usual}` for the value of most hosts. What is optional, as a program
    that no host has, is nothing where nobody tells it.
    """
    wanted = re.compile(pattern)

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for name in (name for name in scene.names if wanted.fullmatch(name)):
            match = wanted.fullmatch(name)
            parts = match.groups() if match else ()
            for group in scene.kinds:
                hosts = {host: scene.hosts[host] for host in group if name in scene.hosts[host].values}
                yield from _compared(scene, check, name, parts, hosts) if len(hosts) > 1 else ()

    def _compared(
        scene: Scene, check: Check, name: str, parts: Sequence[str], hosts: dict[str, HostFacts]
    ) -> Iterator[Result | None]:
        spread = alike.spread(name, hosts)
        known = [one for one in spread.values if one.value is not None]
        unknown = [host for one in spread.values if one.value is None for host in one.hosts]
        if known or not is_optional:
            yield from unseen(scene, check, name, unknown)
        if len(known) < 2:
            yield None if known else _NOTHING
            return
        usual, command, path = known[0], told_by.format(*parts), part_of(name) or "host"
        # Of a pattern with several facts the one that differs is named.
        subject = f"{what} {parts[-1]}" if parts and name.endswith(f".{parts[-1]}") else what
        for odd in known[1:]:
            seen = [_seen(one, name, command) for one in (odd, usual)]
            text = f"{subject} is {value_text(odd.value)}, and {value_text(usual.value)} on {_others(len(usual.hosts))}"
            fix = remedy.format(*parts, usual=value_text(usual.value))
            yield Finding(check.name, check.severity, path, tuple(odd.hosts), text, tuple(seen), fix)

    return look


def part_of(name: str) -> str:
    """Return the interface, or the RDMA device, that a fact is of; nothing for one of the whole host."""
    group, _, rest = name.partition(".")
    return rest.partition(".")[0] if group in _OF_PARTS else ""


def _seen(one: Shared, name: str, command: str) -> Witness:
    """Return a fact of the first of the hosts that share it as evidence."""
    where = " ".join(filter(None, (one.hosts[0], part_of(name))))
    return Witness(where, name.rpartition(".")[2], value_text(one.value), command)


def _others(count: int) -> str:
    return "another host" if count == 1 else f"{count} others"


def unseen(scene: Scene, check: Check, name: str, hosts: Sequence[str]) -> Iterator[Result]:
    """Yield where a fact is unknown though it could be set."""
    by_reason: dict[str, list[str]] = {}
    for host in hosts:
        by_reason.setdefault(scene.reasons[host].get(name, "unknown"), []).append(host)
    for reason, of_reason in by_reason.items():
        if not _NOT_OFFERED.search(reason):
            yield Unseen(check.name, tuple(of_reason), reason)


def each(pattern: str, judge: Judge) -> Callable[[Scene, Check], Iterator[Result | None]]:
    """Return a look at every host with facts that match a pattern, once for each of the pattern's groups."""
    wanted = re.compile(pattern)

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        names = {name: match.groups() for name in scene.names if (match := wanted.fullmatch(name))}
        for host, known in scene.hosts.items():
            for parts in dict.fromkeys(parts for name, parts in names.items() if name in known.values):
                place = Place(host, known, parts, scene.reasons[host].get)
                yield judged(check, judge, place, parts[0] if parts else "host", host)

    return look


def each_cable(judge: Judge) -> Callable[[Scene, Check], Iterator[Result | None]]:
    """Return a look at both ends of every cable."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for cable in scene.cables:
            yield judged(check, judge, _at(scene, cable), _path(cable), cable.host)

    return look


def each_port(fact: str, judge: Judge) -> Callable[[Scene, Check], Iterator[Result | None]]:
    """Return a look at every port of which a fact is told."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for device in scene.devices.values():
            for port in device.ports:
                if f"port.{port}.{fact}" in device.known.values:
                    place = Place(device.name, device.known, (port,), lambda _: None, device, port)
                    yield judged(check, judge, place, f"{device.name} {port}", device.name)

    return look


def each_device(fact: str, judge: Judge) -> Callable[[Scene, Check], Iterator[Result | None]]:
    """Return a look at every device of which a fact is told."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for device in scene.devices.values():
            if fact in device.known.values:
                place = Place(device.name, device.known, (), lambda _: None, device)
                yield judged(check, judge, place, device.name, device.name)

    return look


def judged(check: Check, judge: Judge, place: Place, path: str, host: str) -> Result | None:
    """Return what a function says of a place."""
    try:
        wrong = judge(place)
    except NothingThere:
        return _NOTHING
    except NotSeen as error:
        reason = str(error)
        return _NOTHING if _NOT_OFFERED.search(reason) else Unseen(check.name, (host,), reason)
    if wrong is None:
        return None
    remedy = wrong.remedy.format(*place.parts)
    return Finding(check.name, check.severity, path, (host,), wrong.what, tuple(wrong.witnesses), remedy)


def _at(scene: Scene, cable: Cable) -> Place:
    known = scene.hosts[cable.host]
    reasons = scene.reasons[cable.host].get
    return Place(cable.host, known, (cable.interface,), reasons, scene.devices[cable.device], cable.port)


def _path(cable: Cable) -> str:
    return f"{cable.host} {cable.interface} - {cable.device} {cable.port}"


def merged(results: Iterable[Finding]) -> list[Finding]:
    """Return the findings, those that say the same of the same part of several hosts as one."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in results:
        groups.setdefault((one.check, one.path, one.what, one.remedy), []).append(one)
    return [
        Finding(
            first.check,
            first.severity,
            first.path,
            tuple(dict.fromkeys(host for one in group for host in one.hosts)),
            first.what,
            first.witnesses,
            first.remedy,
        )
        for group in groups.values()
        for first in group[:1]
    ]
