"""qperf 0.4.11 over TCP: tcp_lat and tcp_bw; one client runs all tests of a launch, one after the other.

With `--unify_units` every value has its unit at its smallest. A latency is the test's time over twice its round trips,
hence a mean; a bandwidth is what arrived over the test's time (`readers/qperf.py`). It cannot set TCP_NODELAY, and sets
buffer sizes at the server only, so it measures the system's defaults with Nagle's algorithm on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from fabriscope.adapters._foreign import (
    Readings,
    SocketSupport,
    asked,
    buffers_problem,
    check_time,
    ending,
    first_tcp_port,
    has_crashed,
    text_of,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Row, Table
from fabriscope.readers.qperf import READER

SOCKETS = SocketSupport("qperf", nodelay=(False,))
TESTS = {"ping_pong": "tcp_lat", "bandwidth": "tcp_bw"}
NEEDED = {"tcp_lat": ("latency", "msg_size"), "tcp_bw": ("bw", "msg_size")}
"""The rows that a test states."""
TIME_TOLERANCE = 0.01


class QperfAdapter:
    """Runs qperf's TCP tests."""

    name = "qperf"
    programs = ("qperf",)
    tools: ClassVar = {"qperf": "TCP and RDMA (package qperf)"}
    layers = frozenset({"tcp"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a server and one client, which waits for the server; nothing if no case can be measured."""
        cases = _possible(launch)
        if not cases:
            return ()
        program = context.program("qperf")
        seconds = max(1, round(launch.budget_ns / len(cases) / 1e9))
        sender, receiver = launch.entry.hosts
        tcp_port = first_tcp_port(launch, context)
        argv = [program, context.data_address(receiver), "-lp", str(tcp_port), "-ip", str(tcp_port + 1)]
        argv += ["--unify_units", "--verbose_used", "--verbose_more_stat", "--precision", "9", "--time", str(seconds)]
        for case in cases:
            argv += ["--msg_size", str(case.message_size_bytes), TESTS[case.benchmark]]
        server = Command((program, "-lp", str(tcp_port)), receiver, is_server=True)
        return (server, Command(tuple(argv), sender))

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the mean latency or the stream's bandwidth of every test that ended."""
        readings = Readings(launch)
        cases = _possible(launch)
        for case in launch.cases:
            if case not in cases:
                readings.skip(case, _problem(case) or "")
        client = outcomes[1] if len(outcomes) > 1 else None
        document = READER.read(text_of(client.stdout) if client is not None else "")
        count = len(cases)
        if client is not None and has_crashed(client):
            count -= 1  # it died in the last one, or after it
        for case, table in zip(cases[:count], document.tables, strict=False):
            _read(case, table, readings)
        if client is not None:
            _check_times(client, document.rows())
        if len(document.tables) <= count:
            document.check("qperf")
        return readings.parsed(f"no result of this case: {ending(client, 'qperf', outcomes)}")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    if case.benchmark not in TESTS:
        return f"qperf has no {case.benchmark}"
    if case.message_size_bytes == 0:
        return "qperf's messages have at least one byte"
    return buffers_problem(case, "qperf") or SOCKETS.problem(case.socket)


def _read(case: Case, table: Table, readings: Readings) -> None:
    if table.name != TESTS[case.benchmark]:
        raise ParseError(
            f"the result of {table.name} stands where {TESTS[case.benchmark]} was asked for", where="qperf"
        )
    needed = [column for column in table.columns if column.head in NEEDED[table.name]]
    if len(needed) < len(NEEDED[table.name]):
        return  # it died in this test
    for column in needed:
        if column.factor != 1:
            raise ParseError(f"{column.head} is in another unit than --unify_units gives", where="qperf")
    (row,) = table.rows
    size, latency_ns = row.number("message_size_bytes"), row.number("latency_ns")
    if size != case.message_size_bytes:
        raise ParseError(f"{size:.0f} B were measured, and {case.message_size_bytes} B asked for", where="qperf")
    readings.details[case.case_id] = dict(row.values)
    if table.name == "tcp_bw":
        readings.take(case, "stream_bandwidth_bytes_per_s", row.number("bandwidth_bytes_per_s"))
        return
    if not latency_ns > 0:
        raise ParseError(f"the latency of {case.message_size_bytes} B is {latency_ns} ns", where="qperf")
    readings.take(case, "latency_ns_mean", latency_ns)
    readings.take(case, "ping_pong_bandwidth_bytes_per_s_mean", case.message_size_bytes * 1e9 / latency_ns)


def _check_times(client: Outcome, rows: Sequence[Row]) -> None:
    """Raise ParseError where tests are said to have lasted longer than the program ran, or than was asked for."""
    times = [row.number("duration_s") for row in rows if "duration_s" in row.values]
    check_time(sum(times), client, "qperf")
    wanted_s = asked(client, "--time")
    for row in rows:
        lasted_s = row.number("duration_s")
        if wanted_s is not None and abs(lasted_s - wanted_s) > TIME_TOLERANCE * wanted_s:
            where = f"qperf, line {row.line}"
            raise ParseError(f"the test's time is {lasted_s:g} s, and {wanted_s} s were asked for", where=where)


ADAPTER = QperfAdapter()
