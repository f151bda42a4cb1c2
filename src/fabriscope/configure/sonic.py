"""SONiC: a patch of CONFIG_DB (RFC 6902) for `config apply-patch`, and the patch that takes it back.

From the command reference of sonic-net/sonic-utilities and the files that sonic-buildimage renders.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabriscope.configure.fec import TOUCHES
from fabriscope.configure.step import (
    CNP_DSCP,
    CNP_PRIORITY,
    SHARE_PERCENT,
    WATCHED,
    Dialect,
    Ready,
    Saved,
    Step,
    Wanted,
)
from fabriscope.devices.sonic import Table, database, named_of, ports_of
from fabriscope.devices.system import numbers_in
from fabriscope.model.priorities import listed

MTU_BYTES = 9216
_PORT = r"Ethernet\d+"
_ECN_BYTES = ("153600", "1536000")
_NAME = "ROCE"
_PROFILE = {
    "ecn": "ecn_all",
    "wred_green_enable": "true",
    "green_min_threshold": _ECN_BYTES[0],
    "green_max_threshold": _ECN_BYTES[1],
    "green_drop_probability": "100",
}
_SET = "sonic-db-cli CONFIG_DB hset"
WORDS = {
    "mtu": "config interface mtu PORT {size}",
    "pfc on": "config interface pfc priority PORT {priority} on",
    "pfc off": "config interface pfc priority PORT {priority} off",
    "trust": f"{_SET} 'PORT_QOS_MAP|PORT' dscp_to_tc_map AZURE",
    "watchdog": "config pfcwd start --action drop PORT 400 --restoration-time 400",
    "ecn": f"{_SET} 'WRED_PROFILE|{_NAME}' {' '.join(map(' '.join, _PROFILE.items()))}; "
    f"{_SET} 'QUEUE|PORT|{{queue}}' wred_profile {_NAME}",
}
_MAPS = {
    "tc_to_queue_map": ("TC_TO_QUEUE_MAP", {str(at): str(at) for at in range(8)}),
    "tc_to_pg_map": ("TC_TO_PRIORITY_GROUP_MAP", {}),
    "pfc_to_queue_map": ("MAP_PFC_PRIORITY_TO_QUEUE", {str(at): str(at) for at in range(8)}),
}
_FEC = {"rs": "rs", "fc": "fc", "off": "none"}


@dataclass
class _Draft:
    """The tables as they will be, and the steps that lead there."""

    tables: dict[str, Table]
    steps: list[Step] = field(default_factory=list)

    def get(self, table: str, key: str) -> dict[str, str]:
        return self.tables.get(table, {}).get(key, {})

    def put(self, what: str, table: str, key: str, fields: Mapping[str, str], touches: str = "") -> None:
        """Set fields of a row, which need not be there, nor its table."""
        rows = self.tables.get(table)
        ops: list[tuple[str, tuple[str, ...], object, str | None]]
        if rows is None:
            ops = [("add", (table,), {key: dict(fields)}, None)]
        elif key not in rows:
            ops = [("add", (table, key), dict(fields), None)]
        else:
            ops = [
                ("replace" if name in rows[key] else "add", (table, key, name), value, rows[key].get(name))
                for name, value in fields.items()
                if rows[key].get(name) != value
            ]
        if not ops:
            return
        row = self.tables.setdefault(table, {}).setdefault(key, {})
        row.update(fields)
        do = tuple(_operation(kind, path, value) for kind, path, value, _ in ops)
        undo = tuple(
            _operation("remove", path, None) if kind == "add" else _operation("replace", path, old)
            for kind, path, _, old in reversed(ops)
        )
        self.steps.append(Step(what, do, undo, touches=touches))


def _operation(kind: str, path: tuple[str, ...], value: object) -> str:
    pointer = "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
    return json.dumps({"op": kind, "path": pointer, **({} if kind == "remove" else {"value": value})})


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    tables = database(saved.configuration) if saved.configuration is not None else {}
    draft = _Draft(copy.deepcopy(tables))
    ports = _ports(tables, saved)
    for port in ports:
        size = draft.get("PORT", port).get("mtu")
        if saved.is_blank or (size is not None and int(size) < wanted.mtu_bytes):
            draft.put(f"MTU of {port}", "PORT", port, {"mtu": str(MTU_BYTES)})
        if wanted.fec and draft.get("PORT", port).get("fec") != _FEC[wanted.fec]:
            draft.put(f"FEC of {port}", "PORT", port, {"fec": _FEC[wanted.fec]}, TOUCHES)
        _quality(draft, wanted, port)
        _queue(draft, wanted, port)
        _buffer(draft, wanted, port)
        if not any(port in ports_of(key) for key in draft.tables.get("PFC_WD", {})):
            row = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
            draft.put(f"watchdog of {port}", "PFC_WD", port, row, WATCHED)
    remarks = tuple(_remarks(draft, wanted, ports, saved))
    there = tuple(_named(tables)) or tuple(ports)
    return Ready(tuple(draft.steps), _PROOFS, remarks, tuple(ports), there)


_PROOFS = (
    "sonic-cfggen -d --print-data", "show pfc priority", "show pfc counters", "show ecn", "show buffer configuration",
    "show pfcwd config", "show pfcwd stats", "show queue counters --json", "show interfaces status",
)  # fmt: skip


def _ports(tables: Mapping[str, Table], saved: Saved) -> list[str]:
    if saved.configuration is None:
        return saved.named("Ethernet0")
    rows = tables.get("PORT", {})
    is_off = {name for name, row in rows.items() if row.get("admin_status") == "down" and not saved.patterns}
    return [name for name in _named(tables) if name not in is_off and saved.means(name)]


def _named(tables: Mapping[str, Table]) -> list[str]:
    """Return the ports of a database; of a part of it those that have maps."""
    names = [*tables.get("PORT", {})] or [port for key in tables.get("PORT_QOS_MAP", {}) for port in ports_of(key)]
    return [name for name in dict.fromkeys(names) if re.fullmatch(_PORT, name)]


def _row(draft: _Draft, table: str, port: str, number: int | None = None) -> str:
    """Return the key of the row that is about a port, or one number of it: of several ports or numbers perhaps."""
    for key in draft.tables.get(table, {}):
        names, bar, numbers = key.rpartition("|") if number is not None else (key, "|", "")
        if bar and port in ports_of(names) and (number is None or number in numbers_in(numbers)):
            return key
    return port if number is None else f"{port}|{number}"


def _shared(key: str, port: str, number: int | None = None) -> str:
    """Return what else the row of a port, or of one number of it, is about; empty where nothing is."""
    names, _, numbers = key.rpartition("|") if number is not None else (key, "", "")
    others = [one for one in ports_of(names) if one != port]
    if number is not None and (of_row := numbers_in(numbers) - {number}):
        others.append(f"numbers {listed(of_row)}")
    return f"the same row is that of {', '.join(others)} too" if others else ""


def _quality(draft: _Draft, wanted: Wanted, port: str) -> None:
    key = _row(draft, "PORT_QOS_MAP", port)
    row, number = draft.get("PORT_QOS_MAP", key), str(wanted.priority)
    fields = {}
    for name in ("pfc_enable", "pfcwd_sw_enable"):
        old = numbers_in(row.get(name, ""))
        new = {wanted.priority} if wanted.is_alone else old | {wanted.priority}
        if new != old:
            fields[name] = listed(new)
    known = named_of(row.get("dscp_to_tc_map", ""))
    if not known or draft.get("DSCP_TO_TC_MAP", known).get(str(wanted.dscp)) != number:
        fields["dscp_to_tc_map"] = _reference(draft, "DSCP_TO_TC_MAP", _marked(draft, wanted, known))
    for name, (table, usual) in _MAPS.items():
        known = named_of(row.get(name, ""))
        if not known or draft.get(table, known).get(number, number) != number:
            pairs = usual or {str(at): number if at == wanted.priority else "0" for at in range(8)}
            pairs = {**draft.get(table, known), number: number} if known else pairs
            fields[name] = _reference(draft, table, _row_like(draft, table, pairs))
    touches = "DSCPs are sorted by the port's own map" if "dscp_to_tc_map" in fields else ""
    touches = "; ".join(filter(None, (touches, _shared(key, port))))
    draft.put(f"priority {number} of {port} without loss", "PORT_QOS_MAP", key, fields, touches)


def _marked(draft: _Draft, wanted: Wanted, known: str) -> str:
    """Return the name of a map like the known one in which the DSCP has its class; those of others stay."""
    usual = {str(at): "0" for at in range(64)} | {str(CNP_DSCP): str(CNP_PRIORITY)}
    pairs = {**(draft.get("DSCP_TO_TC_MAP", known) or usual), str(wanted.dscp): str(wanted.priority)}
    return _row_like(draft, "DSCP_TO_TC_MAP", pairs)


def _row_like(draft: _Draft, table: str, fields: Mapping[str, str], usual: str = _NAME) -> str:
    """Return the key of a row with these fields: one that is there, or a new one; those of others stay."""
    rows = draft.tables.get(table, {})
    for name, row in rows.items():
        if row == fields:
            return name
    name = next(one for one in (usual, *(f"{usual}{at}" for at in range(2, 200))) if one not in rows)
    draft.put(f"the row {name} of {table}", table, name, fields)
    return name


def _reference(draft: _Draft, table: str, name: str) -> str:
    """Return a name as this file refers to one: older ones write `[TABLE|name]`."""
    rows = [*draft.tables.get("PORT_QOS_MAP", {}).values(), *draft.tables.get("QUEUE", {}).values()]
    is_old = any(value.startswith("[") for row in rows for value in row.values())
    return f"[{table}|{name}]" if is_old else name


def _queue(draft: _Draft, wanted: Wanted, port: str) -> None:
    key = _row(draft, "QUEUE", port, wanted.priority)
    row, fields = draft.get("QUEUE", key), {}
    profile = draft.get("WRED_PROFILE", named_of(row.get("wred_profile", "")))
    if profile.get("ecn", "ecn_none") == "ecn_none":
        name = _row_like(draft, "WRED_PROFILE", _PROFILE)
        fields["wred_profile"] = _reference(draft, "WRED_PROFILE", name)
    if not row.get("scheduler"):
        share = {"type": "DWRR", "weight": str(SHARE_PERCENT)}
        name = _row_like(draft, "SCHEDULER", share, "scheduler.roce")
        fields["scheduler"] = _reference(draft, "SCHEDULER", name)
    draft.put(f"queue {wanted.priority} of {port}", "QUEUE", key, fields, _shared(key, port, wanted.priority))


def _buffer(draft: _Draft, wanted: Wanted, port: str) -> None:
    key = _row(draft, "BUFFER_PG", port, wanted.priority)
    profile = named_of(draft.get("BUFFER_PG", key).get("profile", ""))
    if not profile or "lossy" in profile:
        shared = _shared(key, port, wanted.priority)
        touches = "; ".join(filter(None, ("headroom is taken from the pool that all ports share", shared)))
        draft.put(f"headroom of {port}", "BUFFER_PG", key, {"profile": "NULL"}, touches)


def _remarks(draft: _Draft, wanted: Wanted, ports: list[str], saved: Saved) -> Iterator[str]:
    names = {
        named_of(draft.get("PORT_QOS_MAP", _row(draft, "PORT_QOS_MAP", port)).get("dscp_to_tc_map", ""))
        for port in ports
    }
    for name in sorted(names):
        pairs = draft.get("DSCP_TO_TC_MAP", name).items()
        alike = [int(dscp) for dscp, tc in pairs if tc == str(wanted.priority) and dscp != str(wanted.dscp)]
        if alike:
            yield f"DSCP {listed(alike)} go to traffic class {wanted.priority} by the map {name}: lossless with it"
    if saved.configuration is not None and "PORT" not in draft.tables:
        yield "the saved file has no table PORT: its MTUs are not known, and stay"
    if not _is_whole(saved):
        yield "a part of the database is at hand: fields are set one by one, and a rollback to the checkpoint undoes it"
    strict = [
        port
        for port in ports
        if draft.get(
            "SCHEDULER", named_of(draft.get("QUEUE", _row(draft, "QUEUE", port, wanted.priority)).get("scheduler", ""))
        ).get("type")
        == "STRICT"
    ]
    if strict:
        yield f"queue {wanted.priority} of {', '.join(strict)} is strict and stays so"
    rows = [draft.get("PORT_QOS_MAP", _row(draft, "PORT_QOS_MAP", port)) for port in ports]
    yield from wanted.staying(one for row in rows for one in numbers_in(row.get("pfc_enable", "")))


def _write(saved: Saved, ready: Ready) -> Mapping[str, str]:
    texts = {"prove.txt": "\n".join(ready.proofs) + "\n"}
    if not _is_whole(saved):
        return {**texts, **(_row_by_row(ready) if ready.steps else {})}
    for name, is_undo in (("configure", False), ("undo", True)) if ready.steps else ():
        steps = reversed(ready.steps) if is_undo else ready.steps
        lines = [line for one in steps for line in (one.undo if is_undo else one.do)]
        texts[f"{name}.json"] = "[\n " + ",\n ".join(lines) + "\n]\n"
        before = [] if is_undo else ["config checkpoint before-roce"]
        texts[f"{name}.sh"] = (
            "\n".join(["#!/bin/sh -e", *before, f"config apply-patch {name}.json", "config save -y"]) + "\n"
        )
    return texts


def _is_whole(saved: Saved) -> bool:
    """Return whether the database is at hand as a whole: only then is a table that it lacks not there."""
    return saved.configuration is not None and {"PORT", "DEVICE_METADATA"} <= database(saved.configuration).keys()


def _row_by_row(ready: Ready) -> dict[str, str]:
    """Return what sets fields one by one: a patch that adds a table would take away the rows that it has."""
    lines = []
    for operation in (json.loads(line) for one in ready.steps for line in one.do):
        table, *rest = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"][1:].split("/"))
        value = operation["value"]
        rows = value if not rest else {rest[0]: value if len(rest) == 1 else {rest[1]: value}}
        for key, fields in rows.items():
            words = [word for pair in fields.items() for word in pair]
            lines.append(shlex.join(("sonic-db-cli", "CONFIG_DB", "hset", f"{table}|{key}", *words)))
    head = "#!/bin/sh -e\n"
    return {
        "configure.sh": head + "\n".join(["config checkpoint before-roce", *lines, "config save -y"]) + "\n",
        "undo.sh": f"{head}config rollback before-roce\nconfig save -y\n",
    }


DIALECT = Dialect("sonic", WORDS, _ready, _write, _PORT, "Ethernet0", MTU_BYTES)
