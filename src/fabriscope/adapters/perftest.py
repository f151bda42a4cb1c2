"""perftest (ib_send_lat, ib_write_bw and their like) over verbs; one server and one client for each case.

Latencies of send and write are halves of round trips already, those of read and atomics whole operations;
`t_typical` is the median (`readers/perftest.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fabriscope.adapters import _perftest_words
from fabriscope.adapters._foreign import Printed, Readings, asked, buffers_problem, check_time, ending, first_tcp_port
from fabriscope.adapters._perftest_words import (
    DEFAULTS,
    OPTIONS,
    check_size,
    check_title,
    end_words,
    no_clock,
    number_of,
    queue_depth_of,
    queue_words,
    size_problem,
)
from fabriscope.adapters._streams import is_of_streams
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.metrics import unit_of
from fabriscope.readers.base import Document, Table
from fabriscope.readers.perftest import BANDWIDTH, LATENCY, SIZE

LEAST_ITERATIONS = 100
MOST_ITERATIONS = 5_000
"""A launch is the replicate: more of them in one launch would say no more, and on a busy machine take for ever."""
ASSUMED_START_NS = 100_000
ASSUMED_NS_PER_BYTE = 10
"""What a message is taken to need when the iterations are chosen: more than software RDMA takes on an idle machine."""


@dataclass(frozen=True)
class Test:
    """One of perftest's programs, and what its numbers are."""

    program: str
    median: str = ""
    """The metric of t_typical, for a latency test."""
    mean: str = ""
    rate: str = ""
    """The metric of the average bandwidth, for a bandwidth test."""
    options: tuple[str, ...] = ()


TESTS = {
    "ping_pong": Test("ib_send_lat", "latency_ns_separate", "latency_ns_separate_mean"),
    "write_latency": Test("ib_write_lat", "put_latency_ns", "put_latency_ns_mean"),
    "read_latency": Test("ib_read_lat", "get_latency_ns", "get_latency_ns_mean"),
    "fetch_add_latency": Test("ib_atomic_lat", "fetch_and_op_latency_ns", options=("-A", "FETCH_AND_ADD")),
    "compare_swap_latency": Test("ib_atomic_lat", "compare_and_swap_latency_ns", options=("-A", "CMP_AND_SWAP")),
    "bandwidth": Test("ib_send_bw", rate="stream_bandwidth_bytes_per_s"),
    "bidirectional_bandwidth": Test("ib_send_bw", rate="bidirectional_stream_bandwidth_bytes_per_s", options=("-b",)),
    "write_bandwidth": Test("ib_write_bw", rate="put_stream_bandwidth_bytes_per_s"),
    "read_bandwidth": Test("ib_read_bw", rate="get_stream_bandwidth_bytes_per_s"),
    "fetch_add_rate": Test("ib_atomic_bw", rate="fetch_and_op_stream_rate_per_s", options=("-A", "FETCH_AND_ADD")),
}
OF_BANDWIDTH = ("queue_depth", "signal_every")
HALVES = ("ib_send_lat", "ib_write_lat")
"""They print halves of round trips."""
NEVER_INLINE = ("ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw")


class PerftestAdapter:
    """Runs perftest's programs over verbs."""

    name = "perftest"
    programs = tuple(dict.fromkeys(test.program for test in TESTS.values()))
    tools: ClassVar = {"ib_send_lat": "RDMA latency and bandwidth (package perftest)"}
    layers = frozenset({"verbs"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a server and a client for each case that can be measured."""
        cases = _possible(launch)
        if not cases:
            return ()
        client, server = launch.entry.hosts
        commands: list[Command] = []
        for place, case in enumerate(cases):
            tcp_port = str(first_tcp_port(launch, context) + place)
            test = TESTS[case.benchmark]
            both = (context.program(test.program), *_options(case, launch.budget_ns // len(cases)), "-p", tcp_port)
            waiting = (*_perftest_words.UNBUFFERED, *both, *end_words(case, context.fabric, server))
            asking = (*both, *end_words(case, context.fabric, client), context.data_address(server))
            # The server says so shortly before it listens, and the client opens its device before it connects.
            commands.append(Command(waiting, server, ready_pattern=_perftest_words.SERVES, is_server=True))
            commands.append(Command(asking, client, ready_pattern=_perftest_words.HEAD))
        return tuple(commands)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the median latency, or the average bandwidth, of every case whose client came to its end."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        clients = [outcome for outcome in outcomes if not _perftest_words.is_server(outcome)]
        for place, case in enumerate(_possible(launch)):
            outcome = clients[place] if place < len(clients) else None
            table = _perftest_words.result_of(outcome)
            if outcome is not None and table is not None:
                _read(case, table, outcome, readings)
            else:
                program = TESTS[case.benchmark].program
                readings.fail((case,), f"no result of this case: {ending(outcome, program, outcomes)}")
        return readings.parsed("perftest said nothing of this case")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    test = TESTS.get(case.benchmark)
    if is_of_streams(case):
        return f"perftest's streams of {case.benchmark} have instruments of their own: ib_write_bw, ib_send_bw"
    if test is None:
        return f"perftest has no {case.benchmark}"
    if test.program.startswith("ib_atomic") and case.message_size_bytes != 8:
        return "atomics work on 8 bytes"
    if (problem := size_problem(case) or buffers_problem(case, "perftest")) is not None:
        return problem
    for name, value in case.parameters:
        if name not in OPTIONS and name not in DEFAULTS:
            return f"perftest cannot set {name}"
        if name in OF_BANDWIDTH and not test.rate:
            return f"{test.program} cannot set {name}"
        if name == "inline_limit" and test.program in NEVER_INLINE and value != "0":
            return f"{test.program} sends nothing inline"
    return None


def _options(case: Case, budget_ns: int) -> tuple[str, ...]:
    """Return what client and server are both told; -F: no word about the processor's clock."""
    test = TESTS[case.benchmark]
    size = case.message_size_bytes
    iterations = budget_ns // (ASSUMED_START_NS + ASSUMED_NS_PER_BYTE * size)
    options = ["-F", "-n", str(min(max(iterations, LEAST_ITERATIONS), MOST_ITERATIONS)), *test.options]
    if not test.program.startswith("ib_atomic"):
        options += ["-s", str(size)]
    never = ("inline_limit",) if test.program in NEVER_INLINE else ()
    return (*options, *queue_words(case, *never))


def _read(case: Case, table: Table, outcome: Outcome, readings: Readings) -> None:
    (row,) = table.rows
    check_size(row, case)
    test = TESTS[case.benchmark]
    name, head = (BANDWIDTH, "BW_average") if test.rate else (LATENCY, "t_typical")
    value = number_of(row, name, head, test.program)
    if value is None:
        readings.fail((case,), no_clock(row, name, head, test.program))
        return
    _check_asked(case, table, outcome)
    finite = {column: row.number(column) for column in row.values if math.isfinite(row.number(column))}
    readings.details[case.case_id] = finite
    printed = Printed(Document("perftest", None, (), (table,), ()), table, row)
    if test.rate:
        readings.take(case, test.rate, value / row.number(SIZE) if unit_of(test.rate).name == "per_s" else value)
        readings.note(case, test.rate, printed, BANDWIDTH)
        return
    readings.take_printed(case, test.median, printed, LATENCY)
    if test.mean and "latency_ns_mean" in row.values:
        readings.take_printed(case, test.mean, printed, "latency_ns_mean")


def _check_asked(case: Case, table: Table, outcome: Outcome) -> None:
    """Raise ParseError where a result is of another test than the case's, or took longer than its program ran."""
    (row,), test = table.rows, TESTS[case.benchmark]
    check_title(table, test.program, "BW" if test.rate else "Latency")
    count, wanted = row.number("iteration_count"), asked(outcome, "-n")
    if wanted is not None and not math.isnan(count) and count != wanted:
        raise ParseError(f"{count:.0f} iterations were made, and {wanted} asked for", where="perftest")
    depth = queue_depth_of(table)
    deep = case.parameter_map.get("queue_depth")
    if deep is not None and depth is not None and depth not in (int(deep), count):
        raise ParseError(f"its queue depth is {depth}, and {deep} was asked for", where="perftest")
    one_s = row.number(SIZE) / row.number(BANDWIDTH) if test.rate else row.number("latency_ns_mean") / 1e9
    if not math.isnan(count * one_s):
        check_time(count * one_s * (2 if test.program in HALVES else 1), outcome, "perftest")


ADAPTER = PerftestAdapter()
