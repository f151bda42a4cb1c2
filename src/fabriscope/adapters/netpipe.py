"""NetPIPE 3.7: NPtcp over TCP, NPopenmpi or NPmpich2 over MPI; one sweep over the sizes.

Each size is tried three times with as many round trips; the time is half of a round trip, the least of the three means
(`readers/netpipe.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from fabriscope.adapters._foreign import (
    Printed,
    Readings,
    SocketSupport,
    buffers_problem,
    by_socket,
    check_time,
    ending,
    first_tcp_port,
    text_of,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Row
from fabriscope.readers.netpipe import READER

TRIAL_COUNT = 3
AUTOMATIC_NS = 750_000_000
"""What NetPIPE takes for a size when it chooses the repeats itself: three trials of a quarter of a second."""
ASSUMED_ROUND_TRIP_NS = 50_000
ASSUMED_RATE_BITS_PER_S = 10 * 10**9

SOCKETS = {
    "tcp": SocketSupport("NPtcp", nodelay=(True,), buffers=True),
    "mpi": SocketSupport("NetPIPE over MPI", nodelay=(True,)),
}
MPI_PROGRAMS = {"openmpi4": "NPopenmpi", "openmpi5": "NPopenmpi", "mpich": "NPmpich2", "intelmpi": "NPmpich2"}


class NetpipeAdapter:
    """Runs NetPIPE's ping-pong over tcp or mpi."""

    name = "netpipe"
    programs = ("NPtcp", "NPopenmpi", "NPmpich2")
    tools: ClassVar = {"NPtcp": "NetPIPE over TCP (package netpipe-tcp)"}
    layers = frozenset(SOCKETS)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a receiver and a transmitter over tcp, one job over mpi; nothing if no case can be measured."""
        layer = launch.entry.layer
        cases = [case for case, reason in _sorted_out(launch) if reason is None]
        if not cases:
            return ()
        options = _options(cases, launch, context)
        if layer == "mpi":
            kind = context.mpi.kind if context.mpi else ""
            program = context.program(MPI_PROGRAMS.get(kind, "NPopenmpi"))
            argv = (program, *options, "-o", "/dev/null")
            return (Command(argv, launch.entry.hosts[0], rank_hosts=launch.entry.hosts),)
        transmitter, receiver = launch.entry.hosts
        argv = (context.program("NPtcp"), "-P", str(first_tcp_port(launch, context)), *options)
        to = ("-h", context.data_address(receiver), "-o", "/dev/null")
        # The receiver says its first line shortly before it listens, and the transmitter does all that the receiver
        # does in between (it reads /etc/protocols) before it connects: it cannot overtake.
        ready = Command(("stdbuf", "-oL", *argv), receiver, ready_pattern="Using no perturbations", is_server=True)
        return (ready, Command((*argv, *to), transmitter))

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return latency (the least of three means) and ping-pong bandwidth of each size that was reached."""
        readings = Readings(launch)
        left: dict[int, Case] = {}
        for case, reason in _sorted_out(launch):
            if reason is None:
                left[case.message_size_bytes] = case
            else:
                readings.skip(case, reason)
        sender = _sender(launch, outcomes)
        if sender is not None:
            # Without perturbations (-p 0) the n-th row has the n-th size of the sweep.
            swept = visited_sizes(*_ends([*left.values()])) if left and "-p" in sender.command.argv else ()
            _read(sender, left, swept, readings)
        return readings.parsed(f"no result of this size: {ending(sender, 'NetPIPE', outcomes)}")


def _sorted_out(launch: Launch) -> list[tuple[Case, str | None]]:
    """Return every case with the reason why NetPIPE cannot measure it in this launch, None if it can."""
    support = SOCKETS[launch.entry.layer]
    possible = [case for case in launch.cases if case.benchmark == "ping_pong" and case.message_size_bytes > 0]
    possible = [case for case in possible if buffers_problem(case, "NetPIPE") is None]
    possible = [case for case in possible if support.problem(case.socket) is None]
    first = next(iter(by_socket(possible).values()), [])
    swept = visited_sizes(*_ends(first)) if first else ()
    return [(case, _reason(case, support, first, swept)) for case in launch.cases]


def _reason(case: Case, support: SocketSupport, first: Sequence[Case], swept: Sequence[int]) -> str | None:
    if case.benchmark != "ping_pong":
        # The streaming mode (-s) of 3.7.2 resets its own connection in the middle of a trial.
        return f"NetPIPE is used for ping_pong only, not for {case.benchmark}"
    if case.message_size_bytes == 0:
        return "NetPIPE's messages have at least one byte"
    problem = buffers_problem(case, "NetPIPE") or support.problem(case.socket)
    if problem is not None:
        return problem
    if case not in first:
        return "NetPIPE measures one set of socket options in a launch, and this case has another than the first"
    if case.message_size_bytes not in swept:
        return f"NetPIPE's sweep from {swept[0]} B does not visit {case.message_size_bytes} B"
    return None


def _ends(cases: Sequence[Case]) -> tuple[int, int]:
    sizes = [case.message_size_bytes for case in cases]
    return min(sizes), max(sizes)


def visited_sizes(lower_bytes: int, upper_bytes: int) -> tuple[int, ...]:
    """Return the sizes of a sweep without perturbations (-l, -u, -p 0): 64, 96, 128, 192, 256, 384 ..."""
    sizes = [lower_bytes]
    size, step = (lower_bytes + 1, 1) if lower_bytes == 1 else (lower_bytes + lower_bytes // 2, lower_bytes // 2)
    while size <= upper_bytes:
        sizes.append(size)
        if len(sizes) % 2 == (lower_bytes > 1) and len(sizes) > 2:
            step *= 2
        size += step
    return tuple(sizes)


def _options(cases: Sequence[Case], launch: Launch, context: AdapterContext) -> tuple[str, ...]:
    lower, upper = _ends(cases)
    options = ["-l", str(lower), "-u", str(upper), "-p", "0"]
    swept = visited_sizes(lower, upper)
    if launch.budget_ns < AUTOMATIC_NS * len(swept):
        options += ["-n", str(repeat_count(swept, launch.budget_ns, _rate(context)))]
    if cases[0].socket.send_buffer_bytes is not None:
        options += ["-b", str(cases[0].socket.send_buffer_bytes)]
    return tuple(options)


def _rate(context: AdapterContext) -> int:
    rate = context.fabric.line_rate_bits_per_s if context.fabric else None
    return rate or ASSUMED_RATE_BITS_PER_S


def repeat_count(sizes: Sequence[int], budget_ns: int, rate_bits_per_s: int) -> int:
    """Return how many round trips a trial may have for the whole sweep to fit the budget, as far as one can guess."""
    sweep_ns = sum(ASSUMED_ROUND_TRIP_NS + 2 * size * 8 * 1e9 / rate_bits_per_s for size in sizes)
    return max(1, int(budget_ns / (TRIAL_COUNT * sweep_ns)))


def _sender(launch: Launch, outcomes: Sequence[Outcome]) -> Outcome | None:
    place = 0 if launch.entry.layer == "mpi" else 1
    return outcomes[place] if len(outcomes) > place else None


def _read(sender: Outcome, cases: Mapping[int, Case], swept: Sequence[int], readings: Readings) -> None:
    document = READER.read(text_of(sender.stderr) + text_of(sender.stdout))
    check_time(sum(map(_least_s, document.rows())), sender, "NetPIPE")
    repeats: dict[int, int] = {}
    for parameter in document.parameters:
        readings.details[parameter.name] = parameter.value
    for place, row in enumerate(document.rows()):
        size = int(row.number("message_size_bytes"))
        if swept and swept[place : place + 1] != (size,):
            where = f"NetPIPE, line {row.line}"
            raise ParseError(f"row {place} is of {size} B, which its sweep does not visit there", where=where)
        if size in cases:
            repeats[size] = int(row.number("round_trips_per_trial"))
            printed = Printed(document, document.tables[0], row)
            readings.take_printed(cases[size], "latency_ns_least_mean", printed, "latency_ns")
            rate_id = "ping_pong_bandwidth_bytes_per_s_least_mean"
            readings.take_printed(cases[size], rate_id, printed, "bandwidth_bytes_per_s")
    document.check("NetPIPE")
    readings.details["round_trips_per_trial"] = repeats


def _least_s(row: Row) -> float:
    """Return how long all trials of a size took at least: the best of them, as often as there were."""
    return TRIAL_COUNT * row.number("round_trips_per_trial") * 2 * row.number("latency_ns") / 1e9


ADAPTER = NetpipeAdapter()
