"""qperf 0.4.11 over TCP: tcp_lat and tcp_bw; one client runs all tests of a launch, one after the other.

With `--unify_units` every value has its unit at its smallest:

    tcp_lat:
        latency         =     2549.04 ns
        msg_rate        =      392304 /sec
        msg_size        =          64 bytes
        loc_send_msgs   =      196152
    tcp_bw:
        bw          =  2463634503 bytes/sec
        msg_size    =     1048576 bytes

`latency` is the test's time over twice its round trips, hence a mean; `bw` is what arrived over the test's time. It
cannot set TCP_NODELAY, and sets buffer sizes at the server only, so it measures the system's defaults with Nagle's
algorithm on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriscope.adapters._foreign import Readings, SocketSupport, ending, first_tcp_port, has_crashed, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number
from fabriscope.model.measurement import Launch, ParsedLaunch

SOCKETS = SocketSupport("qperf", nodelay=(False,))
TESTS = {"ping_pong": "tcp_lat", "bandwidth": "tcp_bw"}
UNITS = {
    "latency": "ns",
    "bw": "bytes/sec",
    "msg_size": "bytes",
    "loc_send_msgs": "",
    "recv_msgs": "",
}
"""The rows that are read, each with the one unit in which it is understood."""
NEEDED = {"tcp_lat": ("latency", "msg_size"), "tcp_bw": ("bw", "msg_size")}

_HEAD = re.compile(r"(?P<test>[a-z_]+):\s*")
_ROW = re.compile(r"\s+(?P<name>\w+)\s+=\s+(?P<value>\S+)\s*(?P<unit>.*?)\s*")


class QperfAdapter:
    """Runs qperf's TCP tests."""

    name = "qperf"
    programs = ("qperf",)
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
        sections = list(_sections(text_of(client.stdout))) if client is not None else []
        if client is not None and has_crashed(client):
            sections = sections[: len(cases) - 1]  # it died in the last one, or after it
        for case, (test, rows) in zip(cases, sections, strict=False):
            _read(case, test, rows, readings)
        return readings.parsed(f"no result of this case: {ending(client, 'qperf', outcomes)}")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    if case.benchmark not in TESTS:
        return f"qperf has no {case.benchmark}"
    if case.message_size_bytes == 0:
        return "qperf's messages have at least one byte"
    return SOCKETS.problem(case.socket)


def _sections(text: str) -> Iterator[tuple[str, dict[str, tuple[str, str]]]]:
    """Yield each test with its rows: name to value and unit."""
    test: str | None = None
    rows: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        head, row = _HEAD.fullmatch(line), _ROW.fullmatch(line)
        if head:
            if test is not None:
                yield test, rows
            test, rows = head["test"], {}
        elif row and test is not None:
            if row["name"] in rows:
                raise ParseError(f"{row['name']} stands twice in the result of {test}", where="qperf")
            rows[row["name"]] = (row["value"], row["unit"])
    if test is not None:
        yield test, rows


def _read(case: Case, test: str, rows: Mapping[str, tuple[str, str]], readings: Readings) -> None:
    if test != TESTS[case.benchmark]:
        raise ParseError(f"the result of {test} stands where {TESTS[case.benchmark]} was asked for", where="qperf")
    if any(name not in rows for name in NEEDED[test]):
        return  # it died in this test
    values = {}
    for name in (name for name in UNITS if name in rows):
        value, unit = rows[name]
        if unit != UNITS[name]:
            raise ParseError(f"{name} is in {unit or 'no unit'}, not in {UNITS[name] or 'no unit'}", where="qperf")
        values[name] = number(value, name, "qperf", least=0)
    if values["msg_size"] != case.message_size_bytes:
        asked = case.message_size_bytes
        raise ParseError(f"{values['msg_size']:.0f} B were measured, and {asked} B asked for", where="qperf")
    readings.details[case.case_id] = values
    if test == "tcp_bw":
        readings.take(case, "stream_bandwidth_bytes_per_s", values["bw"])
        return
    if not values["latency"] > 0:
        raise ParseError(f"the latency of {case.message_size_bytes} B is {values['latency']} ns", where="qperf")
    readings.take(case, "latency_ns_mean", values["latency"])
    readings.take(case, "ping_pong_bandwidth_bytes_per_s_mean", case.message_size_bytes * 1e9 / values["latency"])


ADAPTER = QperfAdapter()
