"""What the counters of hosts say while a job runs.

One small script, fed to a host's own `python3`, takes a reading before the job starts, one every so often, and one when
the job has ended. A reading holds:

- every interface of the host's network namespace: 64-bit statistics of /proc/net/dev, and in the first and last reading
  what the driver counts (`ethtool -S`) as `driver.NAME`, without the counters of single queues;
- every port of an RDMA device: `counters` and `hw_counters` of /sys/class/infiniband as they stand there (port data
  counters are in units of 4 octets), and what `rdma statistic` tells besides;
- IP, TCP and UDP of the namespace: /proc/net/snmp, netstat and snmp6;
- every TCP connection, by sock_diag, also those that were closed meanwhile: the kernel tells their last counters;
- the processes of the job, in the last reading: whether they are ranks, what memory they share with others, which
  devices they have open, and whether sockets that send datagrams.

Only processes that began after the first reading can be the job's. See docs/counters.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabriscope.hosts.counters._roles import roles
from fabriscope.model.command import Command, Outcome
from fabriscope.model.counters import OTHER, Connection, Process, Reading, Watch
from fabriscope.model.host import Host

INTERVAL_S = 1.0
READY = '\x1e{"kind":"ready"}'
SELF_VARIABLE = "FABRISCOPE_COUNTERS"
"""By which collectors know each other: they are nobody's job."""
_FILES = ("_sockets", "_processes", "_devices", "_collector")


def program() -> str:
    """Return the text whose `main(order)` reads a host's counters; plain Python 3.6."""
    return "\n".join(Path(__file__).with_name(f"{name}.py").read_text() for name in _FILES)


def commands(
    hosts: Iterable[Host], interval_s: float = INTERVAL_S, mark: str = "", *, sys_folder: str = "/sys"
) -> list[Command]:
    """Return the commands that read the hosts' counters, for as long as they are let.

    They are servers, ready once they have taken the first reading. What carries the `mark` (the value of
    FABRISCOPE_LAUNCH_MARK, or how it begins) belongs to the job; if none is given, the collector's own.
    """
    order = {"interval_s": interval_s, "mark": mark, "sys_folder": sys_folder}
    text = f"{program()}\nmain(json.loads({json.dumps(order)!r}))\n".encode()
    return [
        Command(
            argv=("python3" if host.is_remote else sys.executable, "-I", "-S", "-"),
            host=host.name,
            env={SELF_VARIABLE: "1"},
            stdin=text,
            ready_pattern=READY,
            is_server=True,
        )
        for host in hosts
    ]


def parse(outcome: Outcome) -> Watch:
    """Return what a collector said; where it could not, a watch without readings, and why."""
    name = outcome.command.host
    lines = list(_lines(outcome.stdout))
    about = next((line for line in lines if line["kind"] == "host"), {})
    problems = {key: value for line in lines if line["kind"] == "end" for key, value in line["problems"].items()}
    told = [line for line in lines if line["kind"] == "reading"]
    if not told:
        problems.setdefault("collector", _why(outcome))
    elif not any(line["kind"] == "end" for line in lines):
        problems["collector"] = "it was ended before it took its last reading"
    return Watch(
        host=name,
        kernel=about.get("boot_id", ""),
        addresses={key: tuple(value) for key, value in about.get("addresses", {}).items()},
        mtu_bytes=about.get("mtu_bytes", {}),
        readings=tuple(_readings(told)),
        rdma_interfaces=about.get("rdma_interfaces", {}),
        lower_interfaces={upper: tuple(lower) for upper, lower in about.get("lower_interfaces", {}).items()},
        problems=problems,
    )


def _lines(stdout: bytes) -> Iterator[dict[str, Any]]:
    """Yield the collector's lines; what a login shell said before them, and a line that was cut off, are left out."""
    for line in stdout.split(b"\n"):
        _, found, text = line.rpartition(b"\x1e")
        if found:
            try:
                yield json.loads(text)
            except ValueError:
                continue


def _why(outcome: Outcome) -> str:
    said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    if not said and outcome.exit_status is None:
        return "it was not ready in time"
    return said[-1] if said else f"it said nothing (exit status {outcome.exit_status})"


def _readings(told: list[dict[str, Any]]) -> Iterator[Reading]:
    """Yield the readings; each line holds what had changed since the one before it."""
    processes = {one["pid"]: one for line in told for one in line["processes"]}
    known = roles(processes)
    listening = {port: pid for pid, one in processes.items() for port in one.get("listens", ())}
    groups: dict[str, dict[str, Any]] = {"interfaces": {}, "rdma": {}, "protocols": {}}
    alive: dict[int, Connection] = {}
    for line in told:
        for group, values in groups.items():
            groups[group] = _merged(values, line[group])
        now = [_connection(row, known, listening) for row in line["connections"]]
        alive |= {one.cookie: one for one in now}
        connections = tuple(alive.values())
        alive = {cookie: one for cookie, one in alive.items() if not one.is_closed}
        yield Reading(
            at_ns=line["at_ns"],
            unix_ns=line["unix_ns"],
            cost_ns=line["cost_ns"],
            interfaces={name: {**one, **line["drivers"].get(name, {})} for name, one in groups["interfaces"].items()},
            rdma=groups["rdma"],
            protocols=groups["protocols"],
            connections=connections,
            processes=tuple(_processes(processes, known)) if line is told[-1] else (),
        )


def _merged(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for name, value in changes.items():
        if value is None:
            merged.pop(name, None)
            continue
        merged[name] = {**before.get(name, {}), **value} if isinstance(value, dict) else value
    return merged


def _connection(
    row: list[Any], known: Mapping[int, tuple[str, int | None]], listening: Mapping[int, int]
) -> Connection:
    """Return a connection; one of which no holder was seen came in for whoever listens at its port."""
    cookie, local, local_port, remote, remote_port, sent, received, segs_out, segs_in, again, owner, is_closed = row
    one = Connection(
        local_address=local,
        local_port=local_port,
        remote_address=remote,
        remote_port=remote_port,
        sent_bytes=sent,
        received_bytes=received,
        sent_segments=segs_out,
        received_segments=segs_in,
        retransmitted_bytes=again,
        is_closed=bool(is_closed),
        cookie=cookie,
    )
    if owner is None:
        owner = listening.get(local_port)
    if owner is None:
        return one
    if owner < 0:
        return replace(one, role=OTHER)
    return replace(one, role=known[owner][0] if owner in known else OTHER, pid=owner)


def _processes(
    processes: Mapping[int, Mapping[str, Any]], known: Mapping[int, tuple[str, int | None]]
) -> Iterator[Process]:
    for pid, one in processes.items():
        role, rank = known[pid]
        devices, datagrams = tuple(one["devices"]), tuple(one["datagrams"])
        yield Process(pid, role, rank, one["program"], one["shared"], devices, datagrams)
