"""What the counters of a launch's hosts said, as a file: JSON, gzipped; a reading holds what changed since the last.

What the lab's switch counted over time is its last line, and makes it a file of version 3; one of version 2 has no
lengths of the switch's periods.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabriscope.model.counters import CHANNEL, Connection, Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.switch_series import Counted, SwitchSeries
from fabriscope.store import inside, shapes
from fabriscope.store.files import to_json

FORMAT = "fabriscope-counters"
VERSION = 3
_SWITCH = "switch"
_FIELDS = tuple(field.name for field in dataclasses.fields(Connection))
Changed = Mapping[str, object]
"""Names of counters, or of what has some, to what they say; null for what is no longer there."""


@dataclasses.dataclass(frozen=True)
class Head:
    """The first line of a file."""

    format: str
    version: int
    connection_fields: tuple[str, ...]
    """What the items of a connection are, in their order."""


@dataclasses.dataclass(frozen=True)
class Changes:
    """A reading as a file has it: of its groups what changed since the last."""

    at_ns: int
    unix_ns: int
    cost_ns: int
    interfaces: Changed
    rdma: Changed
    protocols: Changed
    connections: Sequence[Sequence[object]]
    processes: Sequence[object] = ()


@dataclasses.dataclass(frozen=True)
class Host:
    """A line of a file, as far as its readings must be put together before it can be read."""

    readings: tuple[Changes, ...]


def encode(watches: Mapping[str, Watch], switch: SwitchSeries | None = None) -> bytes:
    """Return the text of a file: a host a line, and the switch."""
    head = {"format": FORMAT, "version": 1 if switch is None else VERSION, "connection_fields": _FIELDS}
    of_switch = [] if switch is None else [to_json({_SWITCH: switch})]
    return b"\n".join([to_json(head), *(to_json(_watch(watch)) for watch in watches.values()), *of_switch, b""])


def decode(text: bytes) -> Counted:
    """Return what a file says; raises ValueError, KeyError or TypeError for what `encode` did not write."""
    first, *lines = [inside.parse_object(line) for line in text.split(b"\n") if line]
    head = shapes.decode(first, Head)
    if head.format != FORMAT or head.version > VERSION:
        raise ValueError(f"it is {head.format} {head.version}, and we know {FORMAT} {VERSION}")
    of_switch = [shapes.decode(lines.pop()[_SWITCH], SwitchSeries)] if lines and _SWITCH in lines[-1] else []
    watches = [_watch_of(line, head.connection_fields) for line in lines]
    found = {watch.host: watch for watch in watches}
    if len(found) < len(watches):
        raise ValueError("a host stands in it twice")
    return Counted(found, *of_switch)


def load(path: Path) -> Counted:
    """Return what a file says; raises StoreError."""
    try:
        return decode(inside.unpack(inside.read_bytes(path.parent, path.name)))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise StoreError(f"the counters cannot be read: {error}", where=str(path)) from error


def _watch(watch: Watch) -> dict[str, object]:
    about = {field.name: getattr(watch, field.name) for field in dataclasses.fields(watch) if field.name != "readings"}
    before = Reading(0, 0, 0, {})
    readings = []
    for reading in watch.readings:
        readings.append(_reading(reading, before))
        before = reading
    return {**about, "readings": readings}


def _reading(now: Reading, before: Reading) -> dict[str, object]:
    return {
        "at_ns": now.at_ns,
        "unix_ns": now.unix_ns,
        "cost_ns": now.cost_ns,
        "interfaces": _changes(before.interfaces, now.interfaces),
        "rdma": _changes(before.rdma, now.rdma),
        "protocols": _changes(before.protocols, now.protocols),
        "connections": [[getattr(one, name) for name in _FIELDS] for one in now.connections],
        "processes": [dataclasses.asdict(one) for one in now.processes],
    }


def _changes(before: Changed, now: Changed) -> dict[str, object]:
    """Return what is new or differs; null for what is no longer there."""
    changes: dict[str, object] = dict.fromkeys(before.keys() - now.keys())
    for name, value in now.items():
        was = before.get(name)
        if isinstance(value, Mapping):
            inner = _changes(was if isinstance(was, Mapping) else {}, value)
            if inner or name not in before:
                changes[name] = inner
        elif was != value:
            changes[name] = value
    return dict(sorted(changes.items()))


def _changed(before: Changed, changes: Changed) -> dict[str, object]:
    now = {name: value for name, value in before.items() if changes.get(name, value) is not None}
    for name, value in changes.items():
        if isinstance(value, dict):
            was = before.get(name)
            now[name] = _changed(was if isinstance(was, Mapping) else {}, value)
        elif value is not None:
            now[name] = value
    return now


def _watch_of(line: Mapping[str, object], fields: tuple[str, ...]) -> Watch:
    readings = []
    interfaces: Changed = {}
    rdma: Changed = {}
    protocols: Changed = {}
    for reading in shapes.decode(line, Host).readings:
        interfaces = _changed(interfaces, reading.interfaces)
        rdma = _changed(rdma, reading.rdma)
        protocols = _changed(protocols, reading.protocols)
        groups = {"interfaces": interfaces, "rdma": rdma, "protocols": protocols}
        connections = [dict(zip(fields, row, strict=True)) for row in reading.connections]
        processes = list(reading.processes)
        readings.append({**vars(reading), **groups, "connections": connections, "processes": processes})
    watch = shapes.decode({**line, "readings": readings}, Watch, bits=64)  # the kernel counts without a sign
    for before, now in itertools.pairwise(watch.readings):
        if now.at_ns < before.at_ns:
            raise ValueError(f"the readings of {watch.host} are not in the order of time")
    for address in (
        address for group in (watch.addresses, watch.spaces) for each in group.values() for address in each
    ):
        ipaddress.ip_address(address.partition("/")[0].partition("%")[0])
    for process in (process for reading in watch.readings for process in reading.processes):
        for channel in process.channels:
            if not CHANNEL.fullmatch(channel):
                raise ValueError(f"{channel[:80]!r} is no end of a pipe")
    return watch
