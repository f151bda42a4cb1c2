"""What the counters of a launch's hosts said, as a file: JSON, gzipped; a reading holds what changed since the last."""

from __future__ import annotations

import dataclasses
import gzip
import ipaddress
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabriscope.model.counters import CHANNEL, Connection, Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.store import inside, shapes
from fabriscope.store.files import to_json

FORMAT = "fabriscope-counters"
VERSION = 1
_FIELDS = tuple(field.name for field in dataclasses.fields(Connection))
_GROUPS = ("interfaces", "rdma", "protocols")


@dataclasses.dataclass(frozen=True)
class Head:
    """The first line of a file."""

    format: str
    version: int
    connection_fields: tuple[str, ...]
    """What the items of a connection are, in their order."""


def encode(watches: Mapping[str, Watch]) -> bytes:
    """Return the text of a file; a host a line."""
    lines: list[dict[str, Any]] = [{"format": FORMAT, "version": VERSION, "connection_fields": _FIELDS}]
    lines += [_watch(watch) for watch in watches.values()]
    return b"\n".join([*map(to_json, lines), b""])


def decode(text: bytes) -> dict[str, Watch]:
    """Return host to its watch; raises ValueError, KeyError or TypeError for what `encode` did not write."""
    first, *lines = [inside.parse(line) for line in text.split(b"\n") if line]
    head = shapes.decode(first, Head)
    if head.format != FORMAT or head.version > VERSION:
        raise ValueError(f"it is {head.format} {head.version}, and we know {FORMAT} {VERSION}")
    watches = [_watch_of(line, head.connection_fields) for line in lines]
    found = {watch.host: watch for watch in watches}
    if len(found) < len(watches):
        raise ValueError("a host stands in it twice")
    return found


def pack(text: bytes) -> bytes:
    """Return the file's bytes; the same text gives the same bytes."""
    return gzip.compress(text, mtime=0)


def load(path: Path) -> dict[str, Watch]:
    """Return host to its watch as a file has them; raises StoreError."""
    try:
        return decode(inside.unpack(inside.read_bytes(path.parent, path.name)))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise StoreError(f"the counters cannot be read: {error}", where=str(path)) from error


def _watch(watch: Watch) -> dict[str, Any]:
    about = {field.name: getattr(watch, field.name) for field in dataclasses.fields(watch) if field.name != "readings"}
    before: dict[str, Mapping[str, Any]] = {}
    readings = []
    for reading in watch.readings:
        readings.append(_reading(reading, before))
        before = {group: getattr(reading, group) for group in _GROUPS}
    return {**about, "readings": readings}


def _reading(reading: Reading, before: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "at_ns": reading.at_ns,
        "unix_ns": reading.unix_ns,
        "cost_ns": reading.cost_ns,
        **{group: _changes(before.get(group, {}), getattr(reading, group)) for group in _GROUPS},
        "connections": [[getattr(one, name) for name in _FIELDS] for one in reading.connections],
        "processes": [dataclasses.asdict(one) for one in reading.processes],
    }


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is new or differs; null for what is no longer there."""
    changes: dict[str, Any] = dict.fromkeys(before.keys() - now.keys())
    for name, value in now.items():
        if isinstance(value, Mapping):
            inner = _changes(before.get(name, {}), value)
            if inner or name not in before:
                changes[name] = inner
        elif before.get(name) != value:
            changes[name] = value
    return dict(sorted(changes.items()))


def _changed(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    now = {name: value for name, value in before.items() if changes.get(name, value) is not None}
    for name, value in changes.items():
        if isinstance(value, dict):
            now[name] = _changed(before.get(name, {}), value)
        elif value is not None:
            now[name] = value
    return now


def _watch_of(line: Mapping[str, Any], fields: tuple[str, ...]) -> Watch:
    readings = []
    groups: dict[str, dict[str, Any]] = {group: {} for group in _GROUPS}
    for reading in line["readings"]:
        groups = {group: _changed(values, reading[group]) for group, values in groups.items()}
        connections = [dict(zip(fields, row, strict=True)) for row in reading["connections"]]
        readings.append({**reading, **groups, "connections": connections})
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
