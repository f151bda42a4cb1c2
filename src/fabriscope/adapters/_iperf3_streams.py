"""Streams of many to one and many to many by iperf3: a server and a client for each, all clients started at once.

Nobody can tell iperf3 when to start, so what is known of a stream's start are bounds: not before its client was
started, and not so late that what it took at the receiver was not over when the client ended. The middle of these
counts as the start, and half of what lies between them as its error. When how much arrived is by the server's intervals
of a tenth of a second, which are printed with a few digits; they are scaled to the bytes of the client's report.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fabriscope.adapters._foreign import Readings, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import DEFAULTS, kind_of
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import ARRIVED, RANK_START, SampleBlock
from fabriscope.readers.base import Document
from fabriscope.readers.iperf3 import Interval, intervals

LEAST_S = 3
"""Clients start some milliseconds after one another: of a shorter time that would be too large a share."""
INTERVAL_S = 0.1
"""The shortest that iperf3 prints."""
MOST_APART = 0.05
"""By which the intervals may differ from the whole before they are scaled to it."""


def is_of_streams(case: Case) -> bool:
    """Return whether a case is many to one or many to many."""
    return kind_of(case.benchmark).pattern in OF_STREAMS


def stream_count(case: Case) -> int:
    """Return how many clients a case has."""
    return len(case.entry.hosts) - case.entry.receivers if is_of_streams(case) else 1


def seconds_of(case: Case) -> int:
    """Return how long the streams are sent: whole seconds, LEAST_S or more."""
    return max(LEAST_S, math.ceil(int(case.parameter_map.get("duration_ms", DEFAULTS["duration_ms"])) / 1000))


def commands(case: Case, context: AdapterContext, first_port: int, client_words: Sequence[str]) -> Iterator[Command]:
    """Yield the servers, each of which is waited for, and then the clients, of which the last one is."""
    program, receivers = context.program("iperf3"), case.entry.receivers
    senders = case.entry.hosts[receivers:]
    to_hosts = [case.entry.hosts[index * receivers // len(senders)] for index in range(len(senders))]
    for port, receiver in enumerate(to_hosts, first_port):
        argv = (program, "-s", "-1", "-p", str(port), "-i", str(INTERVAL_S), "-f", "k", "--forceflush")
        yield Command(argv, receiver, ready_pattern="Server listening on", is_server=True)
    for port, (sender, receiver) in enumerate(zip(senders, to_hosts, strict=True), first_port):
        is_last = port == first_port + len(senders) - 1
        words = (program, "-c", context.data_address(receiver), "-p", str(port), "-J", *client_words)
        yield Command(words, sender, ready_pattern=r"^}" if is_last else None)


def take(
    case: Case,
    documents: Sequence[Document],
    clients: Sequence[Outcome],
    servers: Sequence[Outcome],
    readings: Readings,
) -> None:
    """Keep what arrived of each stream in each interval, and when it began; raises ParseError for what contradicts.

    `clients` and `servers` are those of the streams in the order of the ranks that send, with the clients' `documents`.
    """
    seconds = seconds_of(case)
    rows = [document.rows()[0] for document in documents]
    bounds = [_start_bounds_ns(client, row.number("duration_s")) for client, row in zip(clients, rows, strict=True)]
    starts_ns = [(first + last) // 2 for first, last in bounds]
    errors_ns = sorted(((last - first) // 2 for first, last in bounds), reverse=True)
    begin_ns, receivers = min(starts_ns), case.entry.receivers
    common: dict[str, Any] = {
        "burst": len(readings.details),
        "start_ns": begin_ns - min(one.started_unix_ns for one in clients),
    }
    offsets_ns = [*(0 for _ in range(receivers)), *(start - begin_ns for start in starts_ns)]
    blocks = [
        SampleBlock(case.case_id, (offset,), RANK_START, rank=rank, **common) for rank, offset in enumerate(offsets_ns)
    ]
    for rank, (row, server) in enumerate(zip(rows, servers, strict=True), receivers):
        total_bytes = int(row.number("total_bytes"))
        counts = in_bins(intervals(text_of(server.stdout)), total_bytes, offsets_ns[rank] / 1e9, seconds)
        blocks.append(SampleBlock(case.case_id, counts, ARRIVED, rank=rank, **common))
    account = {
        "duration_ns": seconds * 10**9, "interval_ns": round(INTERVAL_S * 1e9), "start_error_ns": sum(errors_ns[:2])
    }  # fmt: skip
    readings.take_blocks(case, blocks, account)


def _start_bounds_ns(client: Outcome, lasted_s: float) -> tuple[int, int]:
    """Return the earliest and the latest time at which a client's stream can have begun.

    `lasted_s` is by the receiver: what waits in the sender's socket at the end arrives after the seconds of the test.
    """
    first_ns = client.started_unix_ns
    return first_ns, max(first_ns, first_ns + client.elapsed_ns - round(lasted_s * 1e9))


def in_bins(parts: Sequence[Interval], total_bytes: int, offset_s: float, seconds: int) -> tuple[int, ...]:
    """Return the bytes of each INTERVAL_S from the first stream's start on, and what came after `seconds`.

    `offset_s` is by how much this stream began later. Whole numbers that come to `total_bytes`.
    """
    said = sum(part.size_bytes for part in parts)
    if not parts or abs(said - total_bytes) > MOST_APART * max(total_bytes, 1):
        raise ParseError(f"the server's intervals have {said:.0f} B, and {total_bytes} B arrived", where="iperf3")
    scale = total_bytes / said if said else 0.0
    times = [offset_s + parts[0].start_s, *(offset_s + part.end_s for part in parts)]
    arrived = [0.0, *itertools.accumulate(part.size_bytes * scale for part in parts)]
    edges = np.arange(round(seconds / INTERVAL_S) + 1) * INTERVAL_S
    until = [round(float(value)) for value in np.interp(edges, times, arrived)]
    return (until[1], *(later - sooner for sooner, later in itertools.pairwise(until[1:])), total_bytes - until[-1])


def of_streams(
    outcomes: Sequence[Outcome], first: int, count: int
) -> tuple[list[Outcome | None], list[Outcome | None]]:
    """Return the clients and the servers of a case whose first stream has this number; None for those not started."""
    servers = [one for one in outcomes if one.command.is_server or "-s" in one.command.argv]
    clients = [one for one in outcomes if one not in servers]
    places = range(first, first + count)
    ends = ([found[place] if place < len(found) else None for place in places] for found in (clients, servers))
    of_clients, of_servers = ends
    return of_clients, of_servers
