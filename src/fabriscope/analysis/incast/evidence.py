"""What was counted while streams were sent: by the lab's switch, by the hosts' cards and RDMA ports, and by TCP."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from fabriscope.model.benchmark_kind import BESIDE, STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counters import RANK, Watch
from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import layer_of
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData

RETRIES = ("hw.completer_retry_err", "hw.packet_seq_err", "hw.local_ack_timeout_err")
"""A sender began to send again, after a NAK or as its timer ran out: rxe's name, then mlx5's for either."""
NOT_READY = ("hw.rcvd_rnr_err", "hw.rnr_nak_retry_err")
"""A sender was told that the receiver had posted no buffer: rxe, mlx5."""
NOTIFICATIONS = ("hw.rp_cnp_handled",)
"""A sender slowed down as it was notified of congestion (DCQCN): mlx5."""
PAUSES = re.compile(r"driver\.rx_(prio[0-7]_pause|global_pause|pause(_frames)?|flow_control_xoff)")
"""Pause frames that a sender's card obeyed: by priority and global (mlx5), global (others, Intel's)."""


@dataclass(frozen=True)
class Evidence:
    """What was counted while launches of one number of streams ran; None where nobody counted."""

    dropped_frames: int | None = None
    """By the lab's switch, on its way to the host that receives."""
    pauses: int | None = None
    """How often the lab's switch stopped a host that sends; elsewhere, pause frames that the senders' cards counted."""
    marked_frames: int | None = None
    """Marked by the lab's switch: congestion experienced (ECN)."""
    retransmitted_bytes: int | None = None
    """By the senders' TCP, on the job's connections; None over RDMA, where they carry only the wiring-up."""
    rdma_retries: int | None = None
    """How often the senders' RDMA ports began to send again."""
    not_ready_retries: int | None = None
    """How often they were told that the receiver was not ready (RNR)."""
    notifications: int | None = None
    """How often they were notified of congestion (CNP)."""
    victim_pauses: int | None = None
    """How often the lab's switch stopped the hosts of a bystander; of many to one alone there is none."""

    @property
    def has_losses(self) -> bool:
        """Return whether frames were lost: by the switch's word, and where it has none by what was sent again.

        A timer that ran out makes TCP and RDMA send again too, without any loss.
        """
        if self.dropped_frames is not None:
            return self.dropped_frames > 0
        return bool(self.retransmitted_bytes or self.rdma_retries)


def evidence_by_entry(run: RunData) -> dict[str, Evidence]:
    """Return what was counted during the launches of each entry of many_to_one, by its id."""
    records = sorted((line for line in run.lines if isinstance(line, LaunchRecord)), key=_began)
    before: Mapping[tuple[str, str], Mapping[str, int]] = {}
    found: dict[str, list[Evidence]] = defaultdict(list)
    for record in records:
        ports = _ports(record)
        case_id = next(iter(record.results), "")
        case = run.manifest.cases.get(case_id)
        pattern = kind_of(case.benchmark).pattern if case is not None else ""
        if case is not None and pattern in (STREAMS, BESIDE) and case.entry.fabric is not None:
            fabric, first = case.entry.fabric, 2 if pattern == BESIDE else 0
            hosts = case.entry.hosts[first:]
            dropped, pauses, marked = _of_switch(ports, before, fabric, hosts)
            _, of_victim, _ = _of_switch(ports, before, fabric, ("", *case.entry.hosts[:first]))
            watches = run.watches(record)
            if pauses is None:
                pauses = pause_frames(watches, hosts, run.manifest.fabrics.get(fabric))
            retries, not_ready, told = (
                ports_grew(watches, hosts, names) for names in (RETRIES, NOT_READY, NOTIFICATIONS)
            )
            again = None if layer_of(case.entry.layer).needs_rdma else _sent_again(watches)
            found[case.entry.entry_id].append(
                Evidence(dropped, pauses, marked, again, retries, not_ready, told, of_victim)
            )
        before = ports or before
    return {entry_id: _sum(parts) for entry_id, parts in found.items()}


def _began(record: LaunchRecord) -> int:
    return int(record.started_unix_ns)


def _sum(parts: Sequence[Evidence]) -> Evidence:
    totals = []
    for counted in fields(Evidence):
        numbers = [number for part in parts if (number := getattr(part, counted.name)) is not None]
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


def _sent_again(watches: Mapping[str, Watch]) -> int | None:
    """Return what TCP sent again on the connections of the ranks, None where nobody watched."""
    numbers = [
        connection.retransmitted_bytes
        for watch in watches.values()
        for reading in watch.readings
        for connection in reading.connections
        if connection.role == RANK and connection.is_closed and connection.retransmitted_bytes is not None
    ]
    return sum(numbers) if numbers else None


def ports_grew(watches: Mapping[str, Watch], hosts: Sequence[str], names: Sequence[str]) -> int | None:
    """Return by how much these counters of the RDMA ports of all hosts but the first, which receives, grew.

    None where no port has them.
    """
    growths = [
        growth
        for host in dict.fromkeys(hosts[1:])
        if (watch := watches.get(host)) is not None and len(watch.readings) > 1
        for port, last in watch.readings[-1].rdma.items()
        for name in names
        if (growth := _growth(watch.readings[0].rdma.get(port, {}), last, name)) is not None
    ]
    return sum(growths) if growths else None


def pause_frames(watches: Mapping[str, Watch], hosts: Sequence[str], fabric: Fabric | None) -> int | None:
    """Return the pause frames that the senders' cards counted on the fabric's interfaces, None where none counts."""
    growths = []
    for host in dict.fromkeys(hosts[1:]):
        watch = watches.get(host)
        interface = fabric.interfaces.get(host, "") if fabric is not None else ""
        if watch is None or len(watch.readings) < 2:
            continue
        first, last = (reading.interfaces.get(interface, {}) for reading in (watch.readings[0], watch.readings[-1]))
        growths += [
            growth for name in last if PAUSES.fullmatch(name) and (growth := _growth(first, last, name)) is not None
        ]
    return sum(growths) if growths else None


def _growth(first: Mapping[str, int], last: Mapping[str, int], name: str) -> int | None:
    """Return by how much a counter grew; None where it is in only one of the readings, or was made anew."""
    if name not in first or name not in last or last[name] < first[name]:
        return None
    return last[name] - first[name]
