"""What a host's collector said, read into a watch: each line holds what had changed since the one before it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabriscope.hosts.counters._processes import LAUNCHERS
from fabriscope.hosts.counters._roles import roles
from fabriscope.hosts.counters.rows import MOST_COUNT, device_series, own_datagrams, process_row, strays
from fabriscope.model.command import Outcome
from fabriscope.model.counters import (
    CONFIDANT,
    OTHER,
    RANK,
    UNHELD,
    UNSEEN,
    Connection,
    Process,
    Reading,
    Watch,
)
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import BEGIN, MOST_INT, Foreign, shown

MOST_TCP_PORT = 65_535
_CONNECTION_PARTS = (12, 15)
"""With the namespace, empty for the host's, and what is known of its options."""
_MOST_OPTION_BYTES = 68
_CONFIDANT, _BORN_ELSEWHERE = -2, -3
"""Owners: whom the job talks to; nobody who was seen, though it was born outside of the job's group."""
_BULK_BYTES = 128 << 10
"""A connection of the job that was gone before anybody saw its holder is a rank's from this many bytes on."""
_THE_JOBS = 0
"""The owner of a connection that is the job's by the kernel's word, of which no holder was seen."""


def parse(outcome: Outcome) -> Watch:
    """Return what a collector said; where it could not, or is not understood, a watch without readings, and why."""
    name = outcome.command.host
    try:
        return _watch(name, outcome)
    except ParseError as error:
        return Watch(name, "", {}, {}, (), problems={"collector": str(error)})


def _watch(name: str, outcome: Outcome) -> Watch:
    lines = list(_lines(outcome.stdout, name))
    about = [line for line in lines if line.at("kind").value == "host"]
    ends = [line for line in lines if line.at("kind").value == "end"]
    told = [line for line in lines if line.at("kind").value == "reading"]
    if len(about) > 1:
        raise ParseError("it says twice what the host is", where=about[1].where)
    problems = {key: why.text() for line in ends for key, why in line.at("problems").members()}
    if not told:
        problems.setdefault("collector", _why(outcome))
    elif not ends:
        problems["collector"] = "it was ended before it took its last reading"
    host = about[0] if about else Foreign({}, name)
    later = [line.at("links") for line in told if line.get("links") is not None]
    return Watch(
        host=name,
        kernel=host.at("boot_id").text() if about else "",
        addresses=_every("addresses", [host, *later], _addresses),
        mtu_bytes={key: size.whole() for key, size in _members(host, "mtu_bytes")},
        readings=tuple(_readings(told)),
        rdma_interfaces={key: over.text() for key, over in _members(host, "rdma_interfaces")},
        lower_interfaces=_every("lower_interfaces", [host, *later], Foreign.texts),
        spaces=_every("spaces", [host, *later], _addresses),
        doors=_every("doors", [host, *later], Foreign.texts),
        problems=problems,
        unsent_bytes=max(
            (line.at("size_bytes").whole() for line in lines if line.at("kind").value == "unsent"), default=0
        ),
        namespace=host.at("namespace").text() if host.get("namespace") else "",
        series=tuple(device_series(line) for line in lines if line.at("kind").value == "moments"),
        **(_of_the_end(told[-1]) if told else {}),
    )


def _of_the_end(last: Foreign) -> dict[str, Any]:
    """Return what the last reading says of the whole time, each where it is said."""
    read: dict[str, Callable[[Foreign], Any]] = {
        "ownership": Foreign.text, "other_datagrams": Foreign.texts, "job_datagrams": Foreign.flag,
        "own_datagrams": own_datagrams, "strays": strays, "left": Foreign.texts, "late_ns": Foreign.whole,
    }  # fmt: skip
    names = {"job_datagrams": "has_datagrams"}
    return {names.get(name, name): take(part) for name, take in read.items() if (part := last.get(name)) is not None}


def _every(
    name: str, parts: Iterable[Foreign], read: Callable[[Foreign], tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return interface to all that was ever said of it, in the order in which it was."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for interface, texts in _members(part, name):
            found.setdefault(interface, {}).update(dict.fromkeys(read(texts)))
    return {interface: tuple(texts) for interface, texts in found.items()}


def _members(part: Foreign, name: str) -> Iterator[tuple[str, Foreign]]:
    found = part.get(name)
    return iter(()) if found is None else found.members()


def _addresses(every: Foreign) -> tuple[str, ...]:
    addresses = every.texts()
    for one in addresses:
        try:
            ipaddress.ip_address(one.partition("/")[0].partition("%")[0])
        except ValueError:
            raise ParseError(f"{every.path} has {shown(one)}, which is no address", where=every.where) from None
    return addresses


def _lines(stdout: bytes, host: str) -> Iterator[Foreign]:
    """Yield the collector's lines; what a login shell said before them, and a line that was cut off, are left out.

    Raises ParseError for a line that is whole and no JSON: what it said would be missing.
    """
    *whole, last = stdout.split(b"\n")
    for number, line in enumerate((*whole, last), start=1):
        _, found, text = line.rpartition(BEGIN)
        if found and (number <= len(whole) or text.endswith(b"}")):
            yield Foreign.json(text, f"the counters of {host}, line {number}")


def _why(outcome: Outcome) -> str:
    said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    if not said and outcome.exit_status is None:
        return "it was not ready in time"
    return said[-1] if said else f"it said nothing (exit status {outcome.exit_status})"


def _readings(told: list[Foreign]) -> Iterator[Reading]:
    """Yield the readings; each line holds what had changed since the one before it."""
    processes = {row.at("pid").whole(): process_row(row) for line in told for row in line.at("processes").items()}
    known = roles(processes)
    owners = _Owners(processes, known)
    groups: dict[str, dict[str, Any]] = {"interfaces": {}, "rdma": {}, "protocols": {}}
    alive: dict[int, Connection] = {}
    at_ns = -1
    for line in told:
        if line.at("at_ns").whole() < at_ns:
            raise ParseError("it was taken before the one that stands above it", where=line.where)
        at_ns = line.at("at_ns").whole()
        for group, values in groups.items():
            changed = line.at(group)
            groups[group] = _merged(values, _counts(changed) if group == "protocols" else _groups(changed))
        drivers = _groups(line.at("drivers"))
        now = [owners.given(*_connection(row)) for row in line.at("connections").items()]
        alive |= {one.cookie: one for one in now}
        connections = tuple(alive.values())
        alive = {cookie: one for cookie, one in alive.items() if not one.is_closed}
        yield Reading(
            at_ns=at_ns,
            unix_ns=line.at("unix_ns").whole(),
            cost_ns=line.at("cost_ns").whole(),
            interfaces={name: {**one, **(drivers.get(name) or {})} for name, one in groups["interfaces"].items()},
            rdma=groups["rdma"],
            protocols=groups["protocols"],
            connections=connections,
            processes=tuple(_processes(processes, known)) if line is told[-1] else (),
        )


def _groups(part: Foreign) -> dict[str, dict[str, int] | None]:
    """Return name to its counters; None for what has gone."""
    return {name: None if one.value is None else _known(_counts(one)) for name, one in part.members()}


def _counts(part: Foreign) -> dict[str, int | None]:
    return {
        name: None if one.value is None else one.whole(least=-MOST_INT, most=MOST_COUNT) for name, one in part.members()
    }


def _known(counts: dict[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in counts.items() if value is not None}


def _merged(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for name, value in changes.items():
        if value is None:
            merged.pop(name, None)
            continue
        merged[name] = {**before.get(name, {}), **value} if isinstance(value, dict) else value
    return merged


def _connection(row: Foreign) -> tuple[Connection, int | None]:
    """Return a connection without its role, and its owner as the collector calls it."""
    parts = row.items()
    if len(parts) not in _CONNECTION_PARTS:
        raise ParseError(
            f"{row.path} has {len(parts)} parts, and a connection has {_CONNECTION_PARTS[0]}", where=row.where
        )
    sent_segments, received_segments, retransmitted_bytes = (
        None if part.value is None else part.whole() for part in parts[7:10]
    )
    connection = Connection(
        local_address=parts[1].text(),
        local_port=parts[2].whole(most=MOST_TCP_PORT),
        remote_address=parts[3].text(),
        remote_port=parts[4].whole(most=MOST_TCP_PORT),
        sent_bytes=parts[5].whole(),
        received_bytes=parts[6].whole(),
        sent_segments=sent_segments,
        received_segments=received_segments,
        retransmitted_bytes=retransmitted_bytes,
        is_closed=bool(parts[11].whole(most=1)),
        cookie=parts[0].whole(most=MOST_COUNT),
        **_more(parts[_CONNECTION_PARTS[0] :]),
    )
    return connection, None if parts[10].value is None else parts[10].whole(least=_BORN_ELSEWHERE)


def _more(parts: Sequence[Foreign]) -> dict[str, Any]:
    if not parts:
        return {}
    space, has_stamps, longer = parts
    stamps = None if has_stamps.value is None else has_stamps.flag()
    return {"space": space.text(), "has_time_stamps": stamps, "longer_bytes": longer.whole(most=_MOST_OPTION_BYTES)}


class _Owners:
    """Whose the connections of a host are, once all processes are known that the job had there."""

    def __init__(self, processes: Mapping[int, Mapping[str, Any]], known: Mapping[int, tuple[str, int | None]]) -> None:
        launchers = {pid for pid, one in processes.items() if one["program"] in LAUNCHERS}
        self._known = known
        self._listening = {port: pid for pid, one in processes.items() for port in one["listens"]}
        # A launcher that was seen to start nothing: its rank ended between two looks, or it is called so and is none.
        self._childless = {pid for pid in launchers if known[pid] == (RANK, None)}
        # With launchers, or where nobody was seen, what the kernel calls the job's may be theirs.
        self._of_nobody = UNSEEN if launchers or not processes else UNHELD

    def given(self, connection: Connection, owner: int | None) -> Connection:
        """Return a connection with its role; one of which no holder was seen came in for who listens at its port."""
        if owner is None or owner == _THE_JOBS:
            owner = self._listening.get(connection.local_port, owner)
        if owner is None:
            return connection
        role = {_CONFIDANT: CONFIDANT, _BORN_ELSEWHERE: CONFIDANT}.get(owner) or self._known.get(owner, (OTHER,))[0]
        is_little = connection.sent_bytes + connection.received_bytes < _BULK_BYTES
        if owner == _THE_JOBS:
            role = self._of_nobody if is_little else RANK
        elif owner in self._childless and is_little:
            role = UNSEEN
        return replace(connection, role=role, pid=owner if owner > 0 else None)


def _processes(
    processes: Mapping[int, Mapping[str, Any]], known: Mapping[int, tuple[str, int | None]]
) -> Iterator[Process]:
    # Launchers talk to their ranks by pipes, and those of one rank are inherited by the next.
    theirs = {_ends(text) for one in processes.values() if one["program"] in LAUNCHERS for text in one["channels"]}
    for pid, one in processes.items():
        role, rank = known[pid]
        devices, datagrams = tuple(one["devices"]), tuple(one["datagrams"])
        channels = tuple(text for text in one["channels"] if _ends(text) not in theirs)
        yield Process(pid, role, rank, one["program"], one["shared"], devices, datagrams, channels, *one["moved"])


def _ends(channel: str) -> frozenset[str]:
    """Return what tells a pipe or a pair of Unix sockets from others, whichever end it was seen by."""
    kind, *words = channel.split()
    return frozenset(words if kind == "unix" else words[:1])
