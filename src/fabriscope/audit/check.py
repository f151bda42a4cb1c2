"""What a check is, and how one is written: a function of one place, which says what is wrong there.

A place is an interface or a port of one host (`each`), of one device (`each_port`), or a cable with both
(`each_cable`); `agree` holds hosts that should be alike against each other. A fact that nobody could read makes the
place unseen, with the reason; what a driver does not offer cannot be set wrongly, and makes it nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fabriscope.audit import alike
from fabriscope.audit.alike import Shared
from fabriscope.audit.intents import Intent, of_rdma
from fabriscope.audit.inventory import value_text
from fabriscope.audit.place import NothingThere, NotSeen, Place, Wrong
from fabriscope.audit.scene import Cable, Scene
from fabriscope.model.audit import Finding, Severity, Unseen, Witness
from fabriscope.model.host import Fact, HostFacts

_OF_PARTS = ("interface", "link", "dcb", "rdma", "pcie", "ip", "lldp", "interrupt")
NOT_SET = "not set"
"""What a variable is that a host does not have."""

Result = Finding | Unseen
_NOTHING = Unseen("", (), "what the place has cannot be set")
Judge = Callable[[Place], Wrong | None]
Look = Callable[["Scene", "Check"], Iterator["Result | None"]]
Words = str | Callable[[Sequence[str], str], str]
"""A command: `{0}` is the pattern's first group, `{usual}` the value of most hosts; or a function of both."""


@dataclass(frozen=True)
class Check:
    """One question, and where its answer is known from."""

    name: str
    severity: Severity
    asks: str
    """What should be so."""
    why: str
    source: str
    look: Look
    """Yields a result for each place, None where all is well."""

    def results(self, scene: Scene) -> list[Result | None]:
        """Return what the check says of each place; an empty list where there is none."""
        return [one for one in self.look(scene, self) if one is not _NOTHING]


@dataclass(frozen=True)
class _Compared:
    """One fact that hosts are held against each other in."""

    check: Check
    name: str
    parts: Sequence[str]
    subject: str
    told_by: str
    remedy: Words
    is_optional: bool

    @property
    def part(self) -> str:
        """Return the interface, or the RDMA device, that the fact is of; nothing for one of the whole host."""
        return self.parts[0] if self.parts and self.name.partition(".")[0] in _OF_PARTS else ""

    def results(self, hosts: Mapping[str, HostFacts]) -> Iterator[Result | None]:
        """Yield where hosts differ, and where the fact is unknown though it could be set."""
        spread = alike.spread(self.name, hosts)
        known = [one for one in spread.values if one.value is not None]
        yield from unread(self.check, self.name, hosts) if known or not self.is_optional else ()
        if len(known) < 2:
            yield None if known else _NOTHING
            return
        for odd in known[1:]:
            yield self._finding(odd, known[0])

    def _finding(self, odd: Shared, usual: Shared) -> Finding:
        seen, common = value_text(odd.value), value_text(usual.value)
        others = "another host" if len(usual.hosts) == 1 else f"{len(usual.hosts)} others"
        return Finding(
            self.check.name,
            self.check.severity,
            self.part or "host",
            tuple(odd.hosts),
            f"{self.subject} is {seen}, and {common} on {others}",
            (self._witness(odd), self._witness(usual)),
            _worded(self.remedy, self.parts, common),
        )

    def _witness(self, one: Shared) -> Witness:
        """Return the fact of the first of the hosts that share it as evidence."""
        where = " ".join(filter(None, (one.hosts[0], self.part)))
        return Witness(where, self.name.rpartition(".")[2], value_text(one.value), self.told_by)


def unread(check: Check, name: str, places: Mapping[str, HostFacts]) -> Iterator[Unseen]:
    """Yield the hosts, or devices, of which a fact is unknown though it could be told."""
    for place, known in places.items():
        fact = known.unknown.get(name)
        if fact is not None and fact.is_offered:
            yield Unseen(check.name, (place,), fact.unknown_because or "unknown")


def agree(
    pattern: str, what: str, told_by: Words, remedy: Words, *, is_optional: bool = False, unset_by: str = ""
) -> Look:
    """Return a look that holds hosts that should be alike against each other, in all facts that match a pattern.

    What is optional, as a program that no host has, is nothing where nobody tells it. A fact that a host does not have
    is not set there where `unset_by` names one that says that all were read.
    """
    wanted = re.compile(pattern)

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        matches = ((name, match.groups()) for name in scene.names if (match := wanted.fullmatch(name)))
        for name, parts in matches:
            # Of a pattern with several facts the one that differs is named.
            subject = f"{what} {parts[-1]}" if parts and name.endswith(f".{parts[-1]}") else what
            compared = _Compared(check, name, parts, subject, _worded(told_by, parts, ""), remedy, is_optional)
            for group in scene.kinds:
                told = {host: _told(scene.hosts[host], name, unset_by) for host in group}
                hosts = {host: known for host, known in told.items() if known is not None}
                yield from compared.results(hosts) if len(hosts) > 1 else ()

    return look


def _worded(words: Words, parts: Sequence[str], usual: str) -> str:
    return words.format(*parts, usual=usual) if isinstance(words, str) else words(parts, usual)


def _told(known: HostFacts, name: str, unset_by: str) -> HostFacts | None:
    """Return facts with the one that is asked for, be it unset, or unknown; None where there is no such thing."""
    if name in known.values:
        return known
    if known.values.get(unset_by) is not None:
        return HostFacts((Fact(name, NOT_SET),))
    reading = known.unknown.get(unset_by)
    return None if reading is None else HostFacts((Fact(name, None, reading.unknown_because),))


def every(*looks: Look) -> Look:
    """Return a look that looks in several ways."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for one in looks:
            yield from one(scene, check)

    return look


def each(pattern: str, judge: Judge) -> Look:
    """Return a look at every host with facts that match a pattern, once for each of the pattern's groups."""
    wanted = re.compile(pattern)

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        names = {name: match.groups() for name in scene.names if (match := wanted.fullmatch(name))}
        for host, known in scene.hosts.items():
            for parts in dict.fromkeys(parts for name, parts in names.items() if name in known.values):
                yield judged(check, judge, Place(host, known, parts), parts[0] if parts else "host", host)

    return look


def each_rdma_port(judge: Judge, fact: str = "state") -> Look:
    """Return a look at every port of an RDMA device of which a fact is told; one that is down has nothing to see."""

    def of_port(place: Place) -> Wrong | None:
        if "DOWN" in str(place.get("rdma.{0}.{1}.state")):
            raise NothingThere
        return judge(place)

    return each(rf"rdma\.(.+)\.(\d+)\.{fact}", of_port)


def each_cable(judge: Judge) -> Look:
    """Return a look at both ends of every cable."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for cable in scene.cables:
            yield judged(check, judge, _at(scene, cable), _path(cable), cable.host)
        if scene.hosts and scene.devices and not scene.cables:
            reason = "no cable is known: neither end tells its LLDP neighbour"
            yield Unseen(check.name, tuple(scene.hosts), reason)
        for host, sentence in scene.conflicts:
            yield Unseen(check.name, (host,), sentence)

    return look


def each_intent(judge: Callable[[Place, Intent], Wrong | None], *transports: str) -> Look:
    """Return a look at every interface of which a plan wants RDMA by one of these transports, with its cable."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        cables = {(one.host, one.interface): one for one in scene.cables}
        for intent, host, interface in of_rdma(scene.intents, *transports):
            if host not in scene.hosts:
                continue  # who asked it tells that it could not be asked
            cable = cables.get((host, interface))
            place = Place(host, scene.hosts[host], (interface,)) if cable is None else _at(scene, cable)
            path = interface if cable is None else _path(cable)
            yield judged(check, partial(_meant, judge, intent), place, path, host)

    return look


def _meant(judge: Callable[[Place, Intent], Wrong | None], intent: Intent, place: Place) -> Wrong | None:
    return judge(place, intent)


def each_port(fact: str, judge: Judge) -> Look:
    """Return a look at every port of which a fact is told."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for device in scene.devices.values():
            for port in device.ports:
                if f"port.{port}.{fact}" in device.known.values:
                    place = Place(device.name, device.known, (port,), device, port)
                    yield judged(check, judge, place, f"{device.name} {port}", device.name)

    return look


def each_device(fact: str, judge: Judge) -> Look:
    """Return a look at every device of which a fact is told."""

    def look(scene: Scene, check: Check) -> Iterator[Result | None]:
        for device in scene.devices.values():
            if fact in device.known.values:
                place = Place(device.name, device.known, (), device)
                yield judged(check, judge, place, device.name, device.name)

    return look


def judged(check: Check, judge: Judge, place: Place, path: str, host: str) -> Result | None:
    """Return what a function says of a place."""
    try:
        wrong = judge(place)
    except NothingThere:
        return _NOTHING
    except NotSeen as error:
        return Unseen(check.name, (host,), str(error))
    if wrong is None:
        return None
    remedy = wrong.remedy.format(*place.parts)
    return Finding(check.name, check.severity, path, (host,), wrong.what, tuple(wrong.witnesses), remedy)


def _at(scene: Scene, cable: Cable) -> Place:
    known = scene.hosts[cable.host]
    return Place(cable.host, known, (cable.interface,), scene.devices[cable.device], cable.port)


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
