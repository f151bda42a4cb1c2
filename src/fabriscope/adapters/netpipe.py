"""NetPIPE 3.7: NPtcp over TCP, NPopenmpi or NPmpich2 over MPI; one sweep over the sizes.

The sender writes to standard error, one line a size:

    Send and receive buffers are 16384 and 131072 bytes
    (A bug in Linux doubles the requested buffer sizes)
    Now starting the main loop
      0:       1 bytes  21503 times -->      1.43 Mbps in       5.33 usec
      1:       2 bytes  18745 times -->      1.31 Mbps in      11.62 usec

Each size is tried three times with so many round trips; the time is half of a round trip, the least of the three means.
A "Mbps" is 2^20 bits per second, of the same ping-pong. The finer of the two columns gives both of our values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters._foreign import (
    Readings,
    SocketSupport,
    by_socket,
    ending,
    finer,
    first_tcp_port,
    text_of,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, whole
from fabriscope.model.measurement import Launch, ParsedLaunch

TRIAL_COUNT = 3
AUTOMATIC_NS = 750_000_000
"""What NetPIPE takes for a size when it chooses the repeats itself: three trials of a quarter of a second."""
ASSUMED_ROUND_TRIP_NS = 50_000
ASSUMED_RATE_BITS_PER_S = 10 * 10**9
BITS_PER_MBPS = 1 << 20
TIME_STEP_US = 0.01
RATE_STEP_MBPS = 0.01

SOCKETS = {
    "tcp": SocketSupport("NPtcp", nodelay=(True,), buffers=True),
    "mpi": SocketSupport("NetPIPE over MPI", nodelay=(True,)),
}
MPI_PROGRAMS = {"openmpi4": "NPopenmpi", "openmpi5": "NPopenmpi", "mpich": "NPmpich2", "intelmpi": "NPmpich2"}

_ROW = re.compile(
    r"\s*(?P<index>\d+):\s+(?P<message_size_bytes>\d+) bytes\s+(?P<repeats>\d+) times -->"
    r"\s+(?P<rate_mbps>\S+) Mbps in\s+(?P<latency_us>\S+) usec\s*"
)
_ROW_START = re.compile(r"\s*\d+:\s+(?P<message_size_bytes>\d+) bytes")
_BUFFERS = re.compile(r"Send and receive buffers are (?P<send>\d+) and (?P<receive>\d+) bytes")


class NetpipeAdapter:
    """Runs NetPIPE's ping-pong over tcp or mpi."""

    name = "netpipe"
    programs = ("NPtcp", "NPopenmpi", "NPmpich2")
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
            _read(text_of(sender.stderr) + text_of(sender.stdout), left, swept, readings)
        return readings.parsed(f"no result of this size: {ending(sender, 'NetPIPE', outcomes)}")


def _sorted_out(launch: Launch) -> list[tuple[Case, str | None]]:
    """Return every case with the reason why NetPIPE cannot measure it in this launch, None if it can."""
    support = SOCKETS[launch.entry.layer]
    possible = [case for case in launch.cases if case.benchmark == "ping_pong" and case.message_size_bytes > 0]
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
    problem = support.problem(case.socket)
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


def _read(text: str, cases: Mapping[int, Case], swept: Sequence[int], readings: Readings) -> None:
    repeats = {}
    row_count, size_before = 0, 0
    buffers = _BUFFERS.search(text)
    if buffers:
        readings.details["send_buffer_bytes"] = whole(buffers["send"], "the send buffer", "NetPIPE")
        readings.details["receive_buffer_bytes"] = whole(buffers["receive"], "the receive buffer", "NetPIPE")
    for line_number, line in enumerate(text.splitlines(), start=1):
        row = _ROW.fullmatch(line)
        if row is None:
            if _ROW_START.match(line):
                break  # it died in this size
            continue
        where = f"NetPIPE, line {line_number}"
        size = whole(row["message_size_bytes"], "the size", where, least=1)
        if whole(row["index"], "the row", where) != row_count or size <= size_before:
            before = f"row {row_count - 1} of {size_before} B" if row_count else "the first row"
            raise ParseError(f"row {row['index']} of {size} B stands after {before}", where=where)
        if swept and swept[row_count : row_count + 1] != (size,):
            raise ParseError(f"row {row_count} is of {size} B, which its sweep does not visit there", where=where)
        row_count, size_before = row_count + 1, size
        latency_us = number(row["latency_us"], "usec", where, least=0)
        rate_mbps = number(row["rate_mbps"], "Mbps", where, least=0)
        _check_units(size, latency_us, rate_mbps, where)
        if size in cases:
            repeats[size] = whole(row["repeats"], "times", where)
            latency_us, rate_mbps = finer(latency_us, rate_mbps, size * 8e6 / BITS_PER_MBPS)
            readings.take(cases[size], "latency_ns_least_mean", latency_us * 1e3)
            rate = rate_mbps * BITS_PER_MBPS / 8
            readings.take(cases[size], "ping_pong_bandwidth_bytes_per_s_least_mean", rate)
    readings.details["round_trips_per_trial"] = repeats


def _check_units(size: int, latency_us: float, rate_mbps: float, where: str) -> None:
    """Raise ParseError unless rate and time say the same, to the digits that are printed."""
    least = size * 8e6 / (latency_us + TIME_STEP_US) / BITS_PER_MBPS - RATE_STEP_MBPS
    most = size * 8e6 / max(latency_us - TIME_STEP_US, 1e-9) / BITS_PER_MBPS + RATE_STEP_MBPS
    if not least <= rate_mbps <= most:
        raise ParseError(f"{size} B in {latency_us} usec are not {rate_mbps} Mbps of 2^20 bits per second", where=where)


ADAPTER = NetpipeAdapter()
