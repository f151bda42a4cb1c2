"""What the counters of a launch's hosts said, as a file: JSON, gzipped; a reading holds what changed since the last."""

from __future__ import annotations

import dataclasses
import gzip
import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabriscope.model.counters import CHANNEL, Connection, Process, Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.store import inside
from fabriscope.store.files import to_json

FORMAT = "fabriscope-counters"
VERSION = 1
_FIELDS = tuple(field.name for field in dataclasses.fields(Connection))
_GROUPS = ("interfaces", "rdma", "protocols")


def encode(watches: Mapping[str, Watch]) -> bytes:
    """Return the text of a file; a host a line."""
    lines: list[dict[str, Any]] = [{"format": FORMAT, "version": VERSION, "connection_fields": _FIELDS}]
    lines += [_watch(watch) for watch in watches.values()]
    return b"\n".join([*map(to_json, lines), b""])


def decode(text: bytes) -> dict[str, Watch]:
    """Return host to its watch; raises ValueError, KeyError or TypeError for what `encode` did not write."""
    head, *lines = [inside.parse(line) for line in text.split(b"\n") if line]
    if head["format"] != FORMAT or head["version"] > VERSION:
        raise ValueError(f"it is {head['format']} {head['version']}, and we know {FORMAT} {VERSION}")
    return {line["host"]: _watch_of(line, head["connection_fields"]) for line in lines}


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


def _watch_of(line: Mapping[str, Any], fields: list[str]) -> Watch:
    readings = []
    groups: dict[str, dict[str, Any]] = {group: {} for group in _GROUPS}
    for told in line["readings"]:
        groups = {group: _changed(values, told[group]) for group, values in groups.items()}
        readings.append(_reading_of(told, groups, fields))
    addresses = {name: tuple(those) for name, those in line["addresses"].items()}
    known = {field.name for field in dataclasses.fields(Watch)}
    about = {name: value for name, value in line.items() if name in known}
    about["lower_interfaces"] = {name: tuple(those) for name, those in line.get("lower_interfaces", {}).items()}
    for name in ("spaces", "doors"):
        about[name] = {key: tuple(those) for key, those in line.get(name, {}).items()}
    others = line.get("other_datagrams")
    about["other_datagrams"] = None if others is None else tuple(others)
    watch = Watch(**{**about, "addresses": addresses, "readings": tuple(readings)})
    _check(watch)
    return watch


def _check(watch: Watch) -> None:
    """Raise TypeError or ValueError for values of another type than their names promise."""
    _must(all(isinstance(text, str) for text in (watch.host, watch.kernel, watch.ownership)), "a host's name")
    for texts in (watch.rdma_interfaces, watch.problems):
        _must(all(isinstance(text, str) for text in texts.values()), "a text")
    for address in (one for group in (watch.addresses, watch.spaces) for every in group.values() for one in every):
        ipaddress.ip_address(address.partition("/")[0].partition("%")[0])
    for names in (*watch.lower_interfaces.values(), *watch.doors.values()):
        _must(all(isinstance(name, str) for name in names), "an interface")
    _must(all(type(size) is int for size in watch.mtu_bytes.values()), "an MTU")
    _must(all(isinstance(text, str) for text in watch.other_datagrams or ()), "a socket")
    for reading in watch.readings:
        _must(all(type(one) is int for one in (reading.at_ns, reading.unix_ns, reading.cost_ns)), "a time")
        counters = [reading.protocols, *reading.interfaces.values(), *reading.rdma.values()]
        _must(all(type(value) is int for group in counters for value in group.values()), "a counter")
        for one in reading.connections:
            ends = (one.local_address, one.remote_address, one.role, one.space)
            _must(all(isinstance(text, str) for text in ends), "an end")
            counts = (one.local_port, one.remote_port, one.sent_bytes, one.received_bytes, one.cookie)
            _must(all(type(count) is int for count in counts), "a connection's count")
            rest = (one.sent_segments, one.received_segments, one.retransmitted_bytes, one.pid)
            _must(all(count is None or type(count) is int for count in rest), "a connection's count")
        for process in reading.processes:
            _must(type(process.pid) is int and (process.rank is None or type(process.rank) is int), "a process")
            _must(all(type(size) is int for size in process.shared_mappings.values()), "shared memory")
            _must(all(type(size) is int for size in (process.read_bytes, process.written_bytes)), "what it read")
            texts_of = (process.role, process.program, *process.devices, *process.datagrams, *process.channels)
            _must(all(isinstance(text, str) and CHANNEL.fullmatch(text) for text in process.channels), "a pipe's end")
            _must(all(isinstance(text, str) for text in texts_of), "a process")


def _must(is_right: bool, what: str) -> None:
    if not is_right:
        raise TypeError(f"{what} is of another type than it must be")


def _reading_of(told: Mapping[str, Any], groups: Mapping[str, dict[str, Any]], fields: list[str]) -> Reading:
    known = [(at, name) for at, name in enumerate(fields) if name in _FIELDS]
    return Reading(
        at_ns=told["at_ns"],
        unix_ns=told["unix_ns"],
        cost_ns=told["cost_ns"],
        **groups,
        connections=tuple(Connection(**{name: row[at] for at, name in known}) for row in told["connections"]),
        processes=tuple(_process_of(one) for one in told["processes"]),
    )


def _process_of(told: Mapping[str, Any]) -> Process:
    lists = {"devices": told["devices"], "datagrams": told.get("datagrams", ()), "channels": told.get("channels", ())}
    return Process(**{**told, **{name: tuple(every) for name, every in lists.items()}})
