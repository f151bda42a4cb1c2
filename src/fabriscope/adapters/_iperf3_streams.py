"""Streams of many to one and many to many by iperf3: its commands, and what arrived when.

How much arrived when is by the server's intervals of a tenth of a second, which are printed with a few digits; they are
scaled to the bytes of the client's report.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from fabriscope.adapters import _streams
from fabriscope.adapters._foreign import Readings, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.readers.base import Document
from fabriscope.readers.iperf3 import Interval, intervals

INTERVAL_S = 0.1
"""The shortest that iperf3 prints."""
MOST_APART = 0.05
"""By which the intervals may differ from the whole before they are scaled to it."""


def is_server(outcome: Outcome) -> bool:
    """Return whether a process was a server; a stored command says it by its words alone."""
    return outcome.command.is_server or "-s" in outcome.command.argv


def commands(case: Case, context: AdapterContext, first_port: int, client_words: Sequence[str]) -> Iterator[Command]:
    """Yield the servers, each of which is waited for, and then the clients, of which the last one is."""
    program, ends = context.program("iperf3"), _streams.ends_of(case)
    for port, (_, receiver) in enumerate(ends, first_port):
        argv = (program, "-s", "-1", "-p", str(port), "-i", str(INTERVAL_S), "-f", "k", "--forceflush")
        yield Command(argv, receiver, ready_pattern="Server listening on", is_server=True)
    for port, (sender, receiver) in enumerate(ends, first_port):
        is_last = port == first_port + len(ends) - 1
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
    How long a stream lasted is by its receiver: what waits in the sender's socket at the end arrives after the seconds
    of the test.
    """
    seconds = _streams.seconds_of(case)
    rows = [document.rows()[0] for document in documents]
    bounds = [
        _streams.bounds_of(client, 0, round(row.number("duration_s") * 1e9))
        for client, row in zip(clients, rows, strict=True)
    ]

    def arrived(place: int, offset_ns: int) -> tuple[int, ...]:
        parts = intervals(text_of(servers[place].stdout))
        return in_bins(parts, int(rows[place].number("total_bytes")), offset_ns / 1e9, seconds)

    counted = _streams.Counted(seconds * 10**9, round(INTERVAL_S * 1e9))
    _streams.take(case, clients, bounds, arrived, counted, readings)


def in_bins(parts: Sequence[Interval], total_bytes: int, offset_s: float, seconds: int) -> tuple[int, ...]:
    """Return the bytes of each INTERVAL_S from the first stream's start on, and what came after `seconds`.

    `offset_s` is by how much this stream began later. Whole numbers that come to `total_bytes`.
    """
    import numpy as np  # of a plan nothing else is reckoned in here

    said = sum(part.size_bytes for part in parts)
    if not parts or abs(said - total_bytes) > MOST_APART * max(total_bytes, 1):
        raise ParseError(f"the server's intervals have {said:.0f} B, and {total_bytes} B arrived", where="iperf3")
    scale = total_bytes / said if said else 0.0
    times = [offset_s + parts[0].start_s, *(offset_s + part.end_s for part in parts)]
    arrived = [0.0, *itertools.accumulate(part.size_bytes * scale for part in parts)]
    edges = np.arange(round(seconds / INTERVAL_S) + 1) * INTERVAL_S
    until = [round(float(value)) for value in np.interp(edges, times, arrived)]
    return (until[1], *(later - sooner for sooner, later in itertools.pairwise(until[1:])), total_bytes - until[-1])
