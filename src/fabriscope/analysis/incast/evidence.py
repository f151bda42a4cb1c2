"""What was counted while streams were sent: by the lab's switch, by the hosts' cards and RDMA ports, and by TCP."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from fabriscope.analysis.values.ways import cables_of
from fabriscope.model.benchmark_kind import BESIDE, OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Entry
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
LOSS_SHARE = 0.001
"""More than this share of what TCP sent was sent again because frames were lost; less, as timers ran out."""
PAUSES = re.compile(r"driver\.rx_(prio[0-7]_pause|global_pause|pause(_frames)?|flow_control_xoff)")
"""Pause frames that a sender's card obeyed: by priority and global (mlx5), global (others, Intel's)."""


@dataclass(frozen=True)
class Evidence:
    """What was counted while launches of one number of streams ran; None where nobody counted."""

    dropped_frames: int | None = None
    """By the lab's switch, on its way to the hosts that receive; of two switches, on their cable too."""
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
    lost_frames: int | None = None
    """On the cables of the lab, to those that receive and those that send: as its plan wants, or as a link was down."""
    tcp_sent_bytes: int | None = None
    """What TCP sent on the connections of which `retransmitted_bytes` tells."""

    @property
    def has_losses(self) -> bool:
        """Return whether frames were lost: by the switch's word, and where it has none by what was sent again.

        A timer that ran out makes TCP and RDMA send again too, without any loss: TCP a packet or two of a stream.
        """
        if self.dropped_frames is not None:
            return self.dropped_frames + (self.lost_frames or 0) > 0
        by_tcp = (self.retransmitted_bytes or 0) > LOSS_SHARE * (self.tcp_sent_bytes or 0)
        return by_tcp or bool(self.rdma_retries)


_Ports = Mapping[tuple[str, str], Mapping[str, int]]
"""Fabric and host to the counters of the switch's port."""


def evidence_by_entry(run: RunData) -> dict[str, Evidence]:
    """Return what was counted during the launches of each entry of many_to_one and many_to_many, by its id."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for record, entry, first, ports, before in _launches(run):
        fabric = entry.fabric or ""
        receivers = entry.hosts[first : first + entry.receivers]
        senders = entry.hosts[first + entry.receivers :]
        there = (*receivers, *cables_of(entry, run.manifest.switches.get(fabric)))
        dropped = _grew(ports, before, fabric, there, "dropped_frames")
        marked = _grew(ports, before, fabric, there, "marked_frames")
        pauses = _grew(ports, before, fabric, senders, "pauses")
        of_victim = _grew(ports, before, fabric, entry.hosts[:first], "pauses")
        watches = run.watches(record)
        if pauses is None:
            pauses = pause_frames(watches, senders, run.manifest.fabrics.get(fabric))
        retries, not_ready, told = (
            ports_grew(watches, senders, names) for names in (RETRIES, NOT_READY, NOTIFICATIONS)
        )
        sent, again = (None, None) if layer_of(entry.layer).needs_rdma else _sent_and_again(watches)
        lost = _lost(ports, before, fabric, (*receivers, *senders))
        found[entry.entry_id].append(
            Evidence(dropped, pauses, marked, again, retries, not_ready, told, of_victim, lost, sent)
        )
    return {entry_id: _sum(parts) for entry_id, parts in found.items()}


def drops_by_receiver(run: RunData) -> dict[tuple[str, str], int]:
    """Return entry id and host to the frames that the lab's switch dropped on its way there; nothing where none counts.

    Of those that receive in many_to_one and many_to_many.
    """
    found: dict[tuple[str, str], int] = defaultdict(int)
    for _, entry, first, ports, before in _launches(run):
        for host in entry.hosts[first : first + entry.receivers]:
            grown = _grew(ports, before, entry.fabric or "", (host,), "dropped_frames")
            if grown is not None:
                found[entry.entry_id, host] += grown
    return dict(found)


def _launches(run: RunData) -> Iterator[tuple[LaunchRecord, Entry, int, _Ports, _Ports]]:
    """Yield each launch of streams over a fabric, its first rank that receives, and the switch's ports, also before."""
    records = sorted((line for line in run.lines if isinstance(line, LaunchRecord)), key=_began)
    before: _Ports = {}
    counting = {id(record) for record in run.journal}  # an attempt that was made again moves the switch's counters only
    for record in records:
        ports = _ports(record)
        case = run.manifest.cases.get(next(iter(record.results), ""))
        pattern = kind_of(case.benchmark).pattern if case is not None else ""
        of_streams = case is not None and pattern in (*OF_STREAMS, BESIDE) and case.entry.fabric is not None
        if case is not None and of_streams and id(record) in counting:
            yield record, case.entry, 2 if pattern == BESIDE else 0, ports, before
        before = ports or before


def _began(record: LaunchRecord) -> int:
    return int(record.started_unix_ns)


def _sum(parts: Sequence[Evidence]) -> Evidence:
    totals = []
    for counted in fields(Evidence):
        numbers = [number for part in parts if (number := getattr(part, counted.name)) is not None]
        totals.append(sum(numbers) if numbers else None)
    return Evidence(*totals)


def _ports(record: LaunchRecord) -> dict[tuple[str, str], dict[str, int]]:
    """Return fabric and host to the counters of the switch's port, and of the cables between switches likewise."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    match record.fabric_counters:
        case {"ports": [*ports]}:
            for port in ports:
                match port:
                    case {"fabric": str() as fabric, "host": str() as host, **counters}:
                        numbers = {str(name): value for name, value in counters.items() if isinstance(value, int)}
                        found[fabric, host] = numbers
    match record.fabric_counters:
        case {"trunks": [*cables]}:
            for cable in cables:
                match cable:
                    case {"fabric": str() as fabric, "from": int() as one, "to": int() as other, "priorities": [*each]}:
                        found[fabric, f"switch{one}>switch{other}"] = _sums(each)
    return found


def _sums(priorities: Sequence[object]) -> dict[str, int]:
    """Return the sums of what was counted by priority; a cable has none of its own."""
    totals: Counter[str] = Counter()
    for one in priorities:
        if isinstance(one, Mapping):
            totals.update({str(name): value for name, value in one.items() if isinstance(value, int)})
    return dict(totals)


def _grew(ports: _Ports, before: _Ports, fabric: str, hosts: Sequence[str], name: str) -> int | None:
    """Return by how much a counter of the ports to these hosts grew together; None where no port has it.

    The counters go on from launch to launch; where one is smaller than before, the switch was made anew.
    """
    growths = []
    for host in dict.fromkeys(hosts):
        now = ports.get((fabric, host), {}).get(name)
        if now is not None:
            earlier = before.get((fabric, host), {}).get(name, 0)
            growths.append(now - earlier if now >= earlier else now)
    return sum(growths) if growths else None


def _lost(ports: _Ports, before: _Ports, fabric: str, hosts: Sequence[str]) -> int | None:
    counted = [_grew(ports, before, fabric, hosts, name) for name in ("lost_frames", "link_down_frames")]
    known = [number for number in counted if number is not None]
    return sum(known) if known else None


def _sent_and_again(watches: Mapping[str, Watch]) -> tuple[int | None, int | None]:
    """Return what TCP sent, and sent again, on the connections of the ranks; None where nobody watched."""
    numbers = [
        (connection.sent_bytes, connection.retransmitted_bytes)
        for watch in watches.values()
        for reading in watch.readings
        for connection in reading.connections
        if connection.role == RANK and connection.is_closed and connection.retransmitted_bytes is not None
    ]
    return (sum(sent for sent, _ in numbers), sum(again for _, again in numbers)) if numbers else (None, None)


def ports_grew(watches: Mapping[str, Watch], senders: Sequence[str], names: Sequence[str]) -> int | None:
    """Return by how much these counters of the RDMA ports of the hosts that send grew; None where no port has them."""
    growths = [
        growth
        for host in dict.fromkeys(senders)
        if (watch := watches.get(host)) is not None and len(watch.readings) > 1
        for port, last in watch.readings[-1].rdma.items()
        for name in names
        if (growth := _growth(watch.readings[0].rdma.get(port, {}), last, name)) is not None
    ]
    return sum(growths) if growths else None


def pause_frames(watches: Mapping[str, Watch], senders: Sequence[str], fabric: Fabric | None) -> int | None:
    """Return the pause frames that the senders' cards counted on the fabric's interfaces, None where none counts."""
    growths = []
    for host in dict.fromkeys(senders):
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
