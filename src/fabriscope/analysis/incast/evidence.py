"""What was counted while streams were sent: by the lab's switch, and by the senders' TCP."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.benchmark_kind import STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counters import RANK
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class Evidence:
    """What was counted while launches of one number of streams ran; None where nobody counted."""

    dropped_frames: int | None = None
    """By the lab's switch, on its way to the host that receives."""
    pauses: int | None = None
    """How often the lab's switch stopped a host that sends."""
    marked_frames: int | None = None
    """Marked by the lab's switch: congestion experienced (ECN)."""
    retransmitted_bytes: int | None = None
    """By the senders' TCP, on the job's connections."""


def evidence_by_entry(run: RunData) -> dict[str, Evidence]:
    """Return what was counted during the launches of each entry of many_to_one, by its id."""
    records = sorted((line for line in run.lines if isinstance(line, LaunchRecord)), key=_began)
    before: Mapping[tuple[str, str], Mapping[str, int]] = {}
    found: dict[str, list[Evidence]] = defaultdict(list)
    for record in records:
        ports = _ports(record)
        case_id = next(iter(record.results), "")
        case = run.manifest.cases.get(case_id)
        if case is not None and kind_of(case.benchmark).pattern == STREAMS and case.entry.fabric is not None:
            switch = _of_switch(ports, before, case.entry.fabric, case.entry.hosts)
            found[case.entry.entry_id].append(Evidence(*switch, _sent_again(run, record)))
        before = ports or before
    return {entry_id: _sum(parts) for entry_id, parts in found.items()}


def _began(record: LaunchRecord) -> int:
    return int(record.started_unix_ns)


def _sum(parts: Sequence[Evidence]) -> Evidence:
    totals = []
    for name in ("dropped_frames", "pauses", "marked_frames", "retransmitted_bytes"):
        numbers = [number for part in parts if (number := getattr(part, name)) is not None]
        totals.append(sum(numbers) if numbers else None)
    return Evidence(*totals)


def _ports(record: LaunchRecord) -> dict[tuple[str, str], dict[str, int]]:
    """Return fabric and host to the counters of the switch's port."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    match record.fabric_counters:
        case {"ports": [*ports]}:
            for port in ports:
                match port:
                    case {"fabric": str() as fabric, "host": str() as host, **counters}:
                        numbers = {str(name): value for name, value in counters.items() if isinstance(value, int)}
                        found[fabric, host] = numbers
    return found


def _of_switch(
    ports: Mapping[tuple[str, str], Mapping[str, int]],
    before: Mapping[tuple[str, str], Mapping[str, int]],
    fabric: str,
    hosts: Sequence[str],
) -> tuple[int | None, int | None, int | None]:
    """Return by how much drops to the receiver, pauses of the senders and marks to the receiver grew; None: unknown.

    The counters go on from launch to launch; where they are smaller than before, the switch was made anew.
    """

    def grown(host: str, name: str) -> int | None:
        now = ports.get((fabric, host), {}).get(name)
        if now is None:
            return None
        earlier = before.get((fabric, host), {}).get(name, 0)
        return now - earlier if now >= earlier else now

    pauses = [count for host in dict.fromkeys(hosts[1:]) if (count := grown(host, "pauses")) is not None]
    return grown(hosts[0], "dropped_frames"), sum(pauses) if pauses else None, grown(hosts[0], "marked_frames")


def _sent_again(run: RunData, record: LaunchRecord) -> int | None:
    """Return what TCP sent again on the connections of the ranks, None where nobody watched."""
    numbers = [
        connection.retransmitted_bytes
        for watch in run.watches(record).values()
        for reading in watch.readings
        for connection in reading.connections
        if connection.role == RANK and connection.is_closed and connection.retransmitted_bytes is not None
    ]
    return sum(numbers) if numbers else None
