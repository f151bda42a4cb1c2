"""sockperf 3.7 over TCP: ping-pong and throughput; one client for each case, one server for each set of options.

Latencies are halves of round trips; percentiles are taken over the messages of the valid duration
(`readers/sockperf.py`). It ends with status 0 whatever happens, so only what it says can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    has_crashed,
    text_of,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Row
from fabriscope.readers.sockperf import FIELDS, READER

LEAST_MESSAGE_BYTES = 14
"""Its header."""
LARGEST_MESSAGE_BYTES = 1048575
WARMUP_NS = 450_000_000
"""What it leaves out of a run at its start and end."""

SOCKETS = SocketSupport("sockperf", buffers=True, busy_poll=True)
SUBCOMMANDS = {"ping_pong": "ping-pong", "bandwidth": "throughput"}
NAGLE_BY_DEFAULT = {"ping_pong": False, "bandwidth": True}
LAST_LINES = {"ping_pong": "<MIN> observation", "bandwidth": "Summary: BandWidth"}

RATE_TOLERANCE = 0.01
LEAST_SHARE = 0.25
"""Of the valid duration that the round trips of a ping-pong come to at least; from one to the next little is done."""


class SockperfAdapter:
    """Runs sockperf's ping-pong and throughput over tcp."""

    name = "sockperf"
    programs = ("sockperf",)
    tools: ClassVar = {"sockperf": "socket latency (package sockperf)"}
    layers = frozenset({"tcp"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a server for each set of socket options, and after it its clients, one case each."""
        cases = [case for case in launch.cases if _problem(case) is None]
        seconds = max(1, round((launch.budget_ns / max(1, len(cases)) + WARMUP_NS) / 1e9))
        tcp_port = first_tcp_port(launch, context)
        commands: list[Command] = []
        for place, group in enumerate(by_socket(cases).values()):
            to = ("--tcp", "-i", context.data_address(launch.entry.hosts[1]), "-p", str(tcp_port + place))
            commands.append(_server(group, to, launch, context))
            for case in group:
                what = ("-m", str(case.message_size_bytes), "-t", str(seconds))
                options = _options(case.socket, NAGLE_BY_DEFAULT[case.benchmark])
                argv = (context.program("sockperf"), SUBCOMMANDS[case.benchmark], *to, *what, *options)
                commands.append(Command(argv, launch.entry.hosts[0], ready_pattern=LAST_LINES[case.benchmark]))
        return tuple(commands)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the median and mean latency, or the rate at which the sender's system took the bytes."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        clients = [outcome for outcome in outcomes if not outcome.command.is_server]
        groups = by_socket(case for case in launch.cases if _problem(case) is None)
        for place, case in enumerate(case for group in groups.values() for case in group):
            _read(case, clients[place] if place < len(clients) else None, outcomes, readings)
        return readings.parsed("sockperf said nothing of this case")


def _problem(case: Case) -> str | None:
    if case.benchmark not in SUBCOMMANDS:
        return f"sockperf has no {case.benchmark}"
    if not LEAST_MESSAGE_BYTES <= case.message_size_bytes <= LARGEST_MESSAGE_BYTES:
        return f"sockperf's messages have {LEAST_MESSAGE_BYTES} to {LARGEST_MESSAGE_BYTES} bytes over TCP"
    return buffers_problem(case, "sockperf") or SOCKETS.problem(case.socket)


def _server(cases: Sequence[Case], to: Sequence[str], launch: Launch, context: AdapterContext) -> Command:
    largest = max(case.message_size_bytes for case in cases)
    options = _options(cases[0].socket, nagle_by_default=False)
    argv = (context.program("sockperf"), "server", *to, "-m", str(largest), "--uc-reuseaddr", *options)
    return Command(argv, launch.entry.hosts[1], ready_pattern="to block on socket", is_server=True)


def _options(socket: SocketOptions, nagle_by_default: bool) -> tuple[str, ...]:
    """Return the options; `--tcp-avoid-nodelay` turns the subcommand's default round, whichever it is."""
    options = ["--tcp-avoid-nodelay"] if socket.tcp_nodelay == nagle_by_default else []
    if socket.send_buffer_bytes is not None:
        options += ["--buffer-size", str(socket.send_buffer_bytes)]
    if socket.busy_poll_us is not None:
        options += ["--lls", str(socket.busy_poll_us)]
    return tuple(options)


def _read(case: Case, outcome: Outcome | None, started: Sequence[Outcome], readings: Readings) -> None:
    document = READER.read(text_of(outcome.stdout) if outcome is not None else "")
    test = SUBCOMMANDS[case.benchmark]
    tables = [table for table in document.tables if table.name == test]
    if not any(table.rows for table in tables) and document.problem("refused") is None:
        first = next(iter(FIELDS[test].values())).head
        cuts = [problem.text for problem in document.problems if problem.kind == "cut"]
        missing = cuts[-1] if tables else f"no {first} in its output"
        readings.fail((case,), f"{missing}: {ending(outcome, 'sockperf', started)}")
        return
    if outcome is None or has_crashed(outcome):
        readings.fail((case,), f"no result of this case: {ending(outcome, 'sockperf', started)}")
        return
    document.check("sockperf")
    if len(document.tables) > 1:
        raise ParseError(f"{len(document.tables)} results stand in the output of one client", where="sockperf")
    (row,) = tables[0].rows
    printed = Printed(document, tables[0], row)
    readings.details["version"] = document.version
    readings.details[case.case_id] = dict(row.values)
    check_time(row.number("duration_s"), outcome, "sockperf")
    if case.benchmark == "ping_pong":
        lost, repeated = row.number("lost_count"), row.number("repeated_count")
        if lost or repeated:
            readings.fail((case,), f"{lost:.0f} messages were lost and {repeated:.0f} repeated")
            return
        _check_round_trips(row)
        latency_us = row.number("latency_ns") / 1e3
        readings.take_printed(case, "latency_ns", printed, "latency_ns")
        readings.take_printed(case, "latency_ns_mean", printed, "latency_ns_mean")
        readings.take(case, "ping_pong_bandwidth_bytes_per_s", case.message_size_bytes * 1e6 / latency_us)
    else:
        readings.take(case, "sent_bandwidth_bytes_per_s", _sent_bytes_per_s(case, row))
        readings.note(case, "sent_bandwidth_bytes_per_s", printed, "sent_bandwidth_bytes_per_s")


def _check_round_trips(row: Row) -> None:
    """Raise ParseError where one round trip after the other does not come to the valid duration."""
    count, mean_ns, lasted_s = (row.number(name) for name in ("message_count", "latency_ns_mean", "duration_s"))
    all_s = 2 * count * mean_ns / 1e9
    if not LEAST_SHARE * lasted_s <= all_s <= (1 + RATE_TOLERANCE) * lasted_s + count * 1e-9:
        what = f"{count:.0f} round trips of twice {mean_ns / 1e3:g} usec come to {all_s:.3g} s"
        raise ParseError(f"{what}, and the valid duration to {lasted_s:g} s", where="sockperf")


def _sent_bytes_per_s(case: Case, row: Row) -> float:
    """Return messages times size over the time; raises ParseError if "MBps" is not that in units of 2^20 bytes."""
    sent = row.number("message_count") * case.message_size_bytes / row.number("duration_s")
    printed = row.number("sent_bandwidth_bytes_per_s")
    if abs(printed - sent) > RATE_TOLERANCE * sent:
        raise ParseError(f"{printed:.0f} B/s are printed, and {sent:.0f} B/s were sent", where="sockperf")
    return sent


ADAPTER = SockperfAdapter()
