"""perftest (ib_send_lat, ib_write_bw and their like) over verbs; one server and one client for each case.

What a client says at the end of a latency test, and of a bandwidth test:

     #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec] ...
     2       1000          1.54           2.13         1.58               1.58           0.01          ...
     #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
     65536      5000             11025.44            11024.71                  0.176395

Latencies of send and write are halves of round trips already, those of read and atomics whole operations;
`t_typical` is the median. Its "MB/sec" is 2^20 bytes per second, whichever way its versions spell it (MB, MiB);
"Gb/sec" is 10^9 bits. Messages times size must come to the printed bandwidth, or the unit is not what we think.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.adapters._foreign import Readings, ending, first_tcp_port, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.fabric import Fabric
from fabriscope.model.foreign import number, whole
from fabriscope.model.measurement import Launch, ParsedLaunch

LEAST_ITERATIONS = 100
MOST_ITERATIONS = 5_000
"""A launch is the replicate: more of them in one launch would say no more, and on a busy machine take for ever."""
ASSUMED_START_NS = 100_000
ASSUMED_NS_PER_BYTE = 10
"""What a message is taken to need when the iterations are chosen: more than software RDMA takes on an idle machine."""
LARGEST_MESSAGE_BYTES = 1 << 30


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
    "ping_pong": Test("ib_send_lat", "latency_ns", "latency_ns_mean"),
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
OPTIONS = {
    "device": "-d",
    "hca_port": "-i",
    "gid_index": "-x",
    "path_mtu_bytes": "-m",
    "service_level": "-S",
    "traffic_class": "--tclass",
    "inline_limit": "-I",
    "queue_depth": "-t",
    "signal_every": "-Q",
    "ack_timeout": "-u",
}
FLAGS = {("completion", "event"): "-e", ("connection", "manager"): "-R"}
DEFAULTS = {"completion": "polling", "connection": "exchange"}
OF_BANDWIDTH = ("queue_depth", "signal_every")
NEVER_INLINE = ("ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw")

_BYTES_PER_UNIT = {"MB/sec": float(1 << 20), "MiB/sec": float(1 << 20), "Gb/sec": 1e9 / 8}
_BANDWIDTH_STEP = 0.005
_MESSAGES_STEP = 0.5
"""Half of the last digit printed: of the bandwidth in its unit, of the messages per second."""
_RATE_TOLERANCE = 1e-3
_US_PER_UNIT = {"usec": 1.0, "nsec": 1e-3}
"""Of a latency's column; in cycles (`-C`) it is refused, since nobody tells how long one is."""
_COLUMNS = {
    "#bytes": "MsgSize",
    "#iterations": "n_iterations",
    "BW peak": "BW_peak",
    "BW average": "BW_average",
    "Message rate": "MsgRate",
}
"""What the report calls the columns that have another name there."""
_REPORTED = ("MsgSize", "n_iterations", "BW_average", "MsgRate", "t_min", "t_max", "t_typical", "t_avg", "t_stdev")
_HEADS = re.compile(r"#\w+|(?:BW |Message |[\d.]+% )?[\w.%]+\[[^\]]*\]")
_NUMBERS = re.compile(r"\s*[0-9]+\s+[0-9]+(\s+(?:[-+.0-9eE]+|-?nan|-?inf))+\s*")
_NO_NUMBERS = ("nan", "-nan", "inf", "-inf")
"""What it prints where it did not find the processor's clock."""
_REPORT = re.compile(r'"?results"?\s*:\s*\{([^{}]*)\}')
_MEMBER = re.compile(r'(?<![\w.])([\w.]{1,40})"?\s{0,20}:\s{0,20}"?([^\s",]{1,40})"?,?')
_LONGEST_LINE = 1000


class PerftestAdapter:
    """Runs perftest's programs over verbs."""

    name = "perftest"
    programs = tuple(dict.fromkeys(test.program for test in TESTS.values()))
    layers = frozenset({"verbs"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a server and a client for each case that can be measured."""
        cases = _possible(launch)
        client, server = launch.entry.hosts
        commands: list[Command] = []
        for place, case in enumerate(cases):
            tcp_port = str(first_tcp_port(launch, context) + place)
            test = TESTS[case.benchmark]
            both = (context.program(test.program), *_options(case, launch.budget_ns // len(cases)), "-p", tcp_port)
            waiting = ("stdbuf", "-oL", *both, *_ends(case, context.fabric, server))
            asking = (*both, *_ends(case, context.fabric, client), context.data_address(server))
            # The server says so shortly before it listens, and the client opens its device before it connects.
            commands.append(Command(waiting, server, ready_pattern="Waiting for client", is_server=True))
            commands.append(Command(asking, client, ready_pattern="#bytes"))
        return tuple(commands)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the median latency, or the average bandwidth, of every case whose client came to its end."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        clients = [outcome for outcome in outcomes if not outcome.command.is_server]
        for place, case in enumerate(_possible(launch)):
            outcome = clients[place] if place < len(clients) else None
            program = TESTS[case.benchmark].program
            row = _row(text_of(outcome.stdout)) if outcome is not None else None
            if row is None or outcome is None or outcome.exit_status != 0:
                readings.fail((case,), f"no result of this case: {ending(outcome, program, outcomes)}")
                continue
            _read(case, row, readings)
        return readings.parsed("perftest said nothing of this case")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    test = TESTS.get(case.benchmark)
    if test is None:
        return f"perftest has no {case.benchmark}"
    if test.program.startswith("ib_atomic") and case.message_size_bytes != 8:
        return "atomics work on 8 bytes"
    if not 1 <= case.message_size_bytes <= LARGEST_MESSAGE_BYTES:
        return "perftest's messages have 1 byte to 1 GiB"
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
    for name, value in case.parameters:
        if name in OPTIONS and not (name == "inline_limit" and test.program in NEVER_INLINE):
            options += [OPTIONS[name], value]
        elif (name, value) in FLAGS:
            options.append(FLAGS[name, value])
    return tuple(options)


def _ends(case: Case, fabric: Fabric | None, host: str) -> tuple[str, ...]:
    """Return what the fabric says of this end and of what is sent, where the case does not say it itself."""
    port = fabric.rdma_ports.get(host) if fabric is not None else None
    words: dict[str, object] = {}
    if port is not None:
        words |= {"device": port.device, "hca_port": port.hca_port}
        words |= {} if port.gid_index is None else {"gid_index": port.gid_index}
    if fabric is not None:
        words |= {"service_level": fabric.service_level} if fabric.service_level else {}
        words |= {"traffic_class": fabric.traffic_class} if fabric.traffic_class else {}
    given = [word for name in words if name not in case.parameter_map for word in (OPTIONS[name], str(words[name]))]
    is_managed = fabric is not None and fabric.transport == "iwarp" and "connection" not in case.parameter_map
    return (*given, *(["-R"] if is_managed else []))


def _row(text: str) -> Mapping[str, float] | None:
    """Return the result, by the names that the text's columns and the report's members share; None without one.

    The text goes first, since it states its units. A bandwidth has `bytes_per_unit` besides, NaN where nobody does.
    """
    rows = list(_text_rows(text)) or list(_report_rows(text))
    if len(rows) > 1:
        raise ParseError(f"{len(rows)} results stand in the output of one test", where="perftest")
    return rows[0] if rows else None


def _text_rows(text: str) -> Iterator[Mapping[str, float]]:
    heads: list[str] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        if len(line) > _LONGEST_LINE:
            continue
        if "#bytes" in line:
            heads = _HEADS.findall(line)
        elif heads and _NUMBERS.fullmatch(line) and len(line.split()) == len(heads):
            yield _row_of(heads, line.split(), f"perftest, line {line_number}")


def _row_of(heads: Sequence[str], words: Sequence[str], where: str) -> Mapping[str, float]:
    """Return a row by names: latencies in microseconds, rates in the unit that its head states."""
    row: dict[str, float] = {}
    for head, word in zip(heads, words, strict=True):
        stem, _, unit = head.rstrip("]").partition("[")
        name = _COLUMNS.get(stem, stem)
        if name in row:
            raise ParseError(f"the column {stem} stands twice", where=where)
        row[name] = _value(name, word, where) * _scale(name, unit, where)
        if name == "BW_average":
            row["bytes_per_unit"] = _bytes_per(unit, where)
    return row


def _value(name: str, word: str, where: str) -> float:
    if name in ("MsgSize", "n_iterations"):
        return whole(word, name, where)
    return float(word) if word in _NO_NUMBERS else number(word, name, where)


def _scale(name: str, unit: str, where: str) -> float:
    """Return what a column's numbers are multiplied by; raises ParseError for a unit that is not known."""
    if name.startswith("t_"):
        if unit not in _US_PER_UNIT:
            raise ParseError(f"{name} is in {unit or 'no unit'}, which is not known", where=where)
        return _US_PER_UNIT[unit]
    if name == "MsgRate" and unit != "Mpps":
        raise ParseError(f"the rate of messages is in {unit or 'no unit'}, which is not known", where=where)
    return 1.0


def _bytes_per(unit: str, where: str) -> float:
    if unit not in _BYTES_PER_UNIT:
        raise ParseError(f"the bandwidth is in {unit or 'no unit'}, which is not known", where=where)
    return _BYTES_PER_UNIT[unit]


def _report_rows(text: str) -> Iterator[Mapping[str, float]]:
    """Yield what stands in reports (`--out_json_file`), which with 6.06 is no JSON, as its names have no quotes."""
    for results in _REPORT.findall(text):
        members = dict(_MEMBER.findall(results))
        row = {name: _value(name, value, "perftest") for name, value in members.items() if name in _REPORTED}
        if "MsgSize" in row:
            yield {**row, "bytes_per_unit": math.nan} if "BW_average" in row else row


def _read(case: Case, row: Mapping[str, float], readings: Readings) -> None:
    if "MsgSize" not in row:
        raise ParseError("its result does not say of which size it is (#bytes)", where="perftest")
    if row["MsgSize"] != case.message_size_bytes:
        asked = case.message_size_bytes
        raise ParseError(f"{row['MsgSize']:.0f} B were measured, and {asked} B asked for", where="perftest")
    test = TESTS[case.benchmark]
    shown = "BW_average" if test.rate else "t_typical"
    if shown not in row:
        raise ParseError(f"its result has no {shown}, which {test.program} states", where="perftest")
    if not (math.isfinite(row[shown]) and row[shown] > 0):
        # It measures the processor's clock by a straight line, and goes on without one where that fails.
        readings.fail((case,), f"{test.program} prints {row[shown]} as {shown}: it did not find the processor's clock")
        return
    readings.details[case.case_id] = {name: value for name, value in row.items() if math.isfinite(value)}
    if test.rate:
        bytes_per_s = _bytes_per_s(row)
        readings.take(
            case, test.rate, bytes_per_s / row["MsgSize"] if test.rate.endswith("rate_per_s") else bytes_per_s
        )
        return
    readings.take(case, test.median, row["t_typical"] * 1e3)
    if test.mean and "t_avg" in row:
        readings.take(case, test.mean, row["t_avg"] * 1e3)


def _bytes_per_s(row: Mapping[str, float]) -> float:
    """Return the bandwidth from the column that has more digits; raises ParseError where the two disagree.

    Which unit a report is in only its messages can tell.
    """
    if not math.isfinite(row.get("MsgRate", math.nan)):
        raise ParseError("its result has no rate of messages, which the bandwidth is checked by", where="perftest")
    counted, count_step = row["MsgRate"] * 1e6 * row["MsgSize"], _MESSAGES_STEP * row["MsgSize"]
    units = [row["bytes_per_unit"]] if math.isfinite(row["bytes_per_unit"]) else sorted(set(_BYTES_PER_UNIT.values()))
    for unit in units:
        printed, step = row["BW_average"] * unit, _BANDWIDTH_STEP * unit
        if abs(printed - counted) <= step + count_step + _RATE_TOLERANCE * counted:
            return printed if step <= count_step else counted
    raise ParseError(
        f"{row['BW_average']} is printed as the bandwidth, and its messages come to {counted:.0f} B/s", where="perftest"
    )


ADAPTER = PerftestAdapter()
