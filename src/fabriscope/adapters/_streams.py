"""Many to one and many to many by programs that nobody can tell when to start: a server and a client for each stream.

Servers are ready before the first client starts, and all clients are started at once. What is known of a stream's start
are bounds: not sooner after its client was started than the program allows, and not so late that what it still had to
send was not over when the client ended. The middle of these counts as the start, and half of what lies between them as
its error. A program that sends for a while before and after what it counts has that as a margin: as long as starts and
errors are within it, all streams were under way while each was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fabriscope.adapters._foreign import TCP_PORT_COUNT, Readings
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import DEFAULTS, kind_of
from fabriscope.model.case import Case
from fabriscope.model.command import Outcome
from fabriscope.model.errors import LaunchError
from fabriscope.model.measurement import ARRIVED, RANK_START, SampleBlock
from fabriscope.model.stream_programs import STREAM_PROGRAMS


@dataclass(frozen=True)
class Bounds:
    """Between which times what is counted of a stream began, in ns since 1970."""

    first_ns: int
    last_ns: int

    @property
    def middle_ns(self) -> int:
        """Return what counts as the start."""
        return (self.first_ns + self.last_ns) // 2

    @property
    def error_ns(self) -> int:
        """Return by how much that may be wrong."""
        return (self.last_ns - self.first_ns) // 2


@dataclass(frozen=True)
class Counted:
    """For how long each stream is counted, in which intervals, and how long it is sent before and after that."""

    duration_ns: int
    interval_ns: int
    margin_ns: int = 0


def is_of_streams(case: Case) -> bool:
    """Return whether a case is many to one or many to many."""
    return kind_of(case.benchmark).pattern in OF_STREAMS


def stream_count(case: Case) -> int:
    """Return how many clients a case has."""
    return len(case.entry.hosts) - case.entry.receivers if is_of_streams(case) else 1


def ends_of(case: Case) -> list[tuple[str, str]]:
    """Return the hosts that send and receive each stream, in the order of the ranks that send."""
    receivers, senders = case.entry.receivers, case.entry.hosts[case.entry.receivers :]
    return [(sender, case.entry.hosts[place * receivers // len(senders)]) for place, sender in enumerate(senders)]


def seconds_of(case: Case) -> int:
    """Return how much of each stream is counted: whole seconds."""
    return STREAM_PROGRAMS[case.entry.instrument].counted_s(case.parameter_map)


def rounds_problem(case: Case, program: str) -> str | None:
    """Return why a program cannot send the streams of a case as it asks for, None if it can."""
    if case.parameter_map.get("mode", DEFAULTS["mode"]) == DEFAULTS["mode"]:
        return None
    return f"nobody answers {program}'s streams: it has no rounds"


def check_ports(cases: Sequence[Case]) -> None:
    """Raise LaunchError where the streams of a launch need more TCP ports than it has."""
    needed = sum(map(stream_count, cases))
    if needed > TCP_PORT_COUNT:
        raise LaunchError(f"its {needed} streams would need as many ports, and there are {TCP_PORT_COUNT}")


def of_streams(
    outcomes: Sequence[Outcome], first: int, count: int, is_server: Callable[[Outcome], bool]
) -> tuple[list[Outcome | None], list[Outcome | None]]:
    """Return the clients and the servers of a case whose first stream has this number; None for those not started."""
    servers = [one for one in outcomes if is_server(one)]
    clients = [one for one in outcomes if not is_server(one)]
    places = range(first, first + count)
    of_clients, of_servers = (
        [found[place] if place < len(found) else None for place in places] for found in (clients, servers)
    )
    return of_clients, of_servers


def bounds_of(client: Outcome, before_ns: int, after_ns: int) -> Bounds:
    """Return when what is counted of a client's stream can have begun.

    The client needs `before_ns` at least from its start until then, and `after_ns` at least from then to its end.
    """
    first_ns = client.started_unix_ns + before_ns
    return Bounds(first_ns, max(first_ns, client.started_unix_ns + client.elapsed_ns - after_ns))


def take(
    case: Case,
    clients: Sequence[Outcome],
    bounds: Sequence[Bounds],
    arrived: Callable[[int, int], Sequence[int]],
    counted: Counted,
    readings: Readings,
) -> None:
    """Keep when each stream began, and what of it arrived in each interval.

    `bounds` are those of the `clients`, in the order of the ranks that send. `arrived` is asked for a stream by its
    place among them and by how many ns later than the first one it began; the last count is what came afterwards.
    """
    starts_ns = [one.middle_ns for one in bounds]
    errors_ns = sorted((one.error_ns for one in bounds), reverse=True)
    begin_ns, receivers = min(starts_ns), case.entry.receivers
    origin_ns = min(one.started_unix_ns for one in clients)
    common: dict[str, Any] = {"burst": len(readings.details), "start_ns": begin_ns - origin_ns}
    offsets_ns = [*(0 for _ in range(receivers)), *(start - begin_ns for start in starts_ns)]
    blocks = [
        SampleBlock(case.case_id, (offset,), RANK_START, rank=rank, **common) for rank, offset in enumerate(offsets_ns)
    ]
    for place, offset_ns in enumerate(offsets_ns[receivers:]):
        counts = tuple(arrived(place, offset_ns))
        blocks.append(SampleBlock(case.case_id, counts, ARRIVED, rank=receivers + place, **common))
    account = {
        "duration_ns": counted.duration_ns,
        "interval_ns": counted.interval_ns,
        "start_error_ns": sum(errors_ns[:2]),
        "start_unix_ns": origin_ns,
        **({"margin_ns": counted.margin_ns} if counted.margin_ns else {}),
    }
    readings.take_blocks(case, blocks, account)
