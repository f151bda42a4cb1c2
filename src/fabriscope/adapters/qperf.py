"""qperf's tcp_lat and tcp_bw: means over the run, printed with `-v -uu` in nanoseconds and bytes per second.

    tcp_lat:
        latency        =        4774 ns
        msg_rate       =      209468 /sec
        msg_size       =        1024 bytes
        time           =  1000000000 ns
        timeout        =  5000000000 ns

Its latency is the time over all messages of both directions, so half of a round trip, as a mean: `latency_mean_ns`.
Its tcp_bw counts what the receiver got over a stream without answers: `stream_bandwidth_bytes_per_s`. It never sets
TCP_NODELAY (src/socket.c), so Nagle's algorithm is on; a ping-pong has nothing in flight that it would wait for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters import _foreign
from fabriscope.adapters._foreign import Column, Line
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch

TESTS = {"ping_pong": "tcp_lat", "bandwidth": "tcp_bw"}
LISTEN_PORT_OFFSET = 1
"""Its control connection is on tcp_port, its data on the next."""
LAST_LINE_PATTERN = r"^\s+timeout\s*="


def _line(printed: str, unit: str, ours: str) -> Line:
    return Line(
        re.compile(rf"^ +{printed}\s+=\s+(?P<{ours}>[\d.e+]+) {re.escape(unit)}\s*$", re.MULTILINE), (Column(ours),)
    )


SIZE = _line("msg_size", "bytes", "message_size_bytes")
VALUES = {
    "ping_pong": _line("latency", "ns", "latency_mean_ns"),
    "bandwidth": _line("bw", "bytes/sec", "stream_bandwidth_bytes_per_s"),
}


class QperfAdapter:
    """Runs one client a case against one server."""

    name = "qperf"
    programs = ("qperf",)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the server, then the clients, each of which waits for the one before it."""
        cases = _foreign.able_cases(launch, unable)
        if not cases:
            return ()
        program, address = context.program("qperf"), _foreign.server_address(launch, context)
        control = ("-lp", str(context.tcp_port))
        seconds = str(_foreign.seconds_each(launch, len(cases)))
        clients = []
        for case in cases:
            words = ["-ip", str(context.tcp_port + LISTEN_PORT_OFFSET), "-m", str(case.message_size_bytes)]
            argv = (program, address, *control, *words, "-t", seconds, "-e", "6", "-v", "-vvu", "-uu")
            test = TESTS[case.benchmark]
            clients.append(Command((*argv, test), launch.entry.hosts[0], ready_pattern=LAST_LINE_PATTERN))
        return (Command((program, *control), launch.entry.hosts[-1], is_server=True), *clients)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the mean of each client; raises ParseError."""
        return _foreign.one_client_a_case(launch, outcomes[1:], unable, _read)


def unable(case: Case) -> str | None:
    """Return why qperf cannot do a case."""
    if case.benchmark not in TESTS:
        return f"qperf has no {case.benchmark}"
    if case.message_size_bytes < 1:
        return "qperf's messages have at least 1 byte"
    # Nagle's algorithm is always on there; said above why that is let pass for a case that wants it off.
    return _foreign.not_plain_tcp(case, can_set=frozenset({"tcp_nodelay"}))


def _read(case: Case, outcome: Outcome) -> Mapping[str, float]:
    said = _foreign.text(outcome)
    where = f"qperf output, {case.benchmark} of {case.message_size_bytes} bytes"
    sizes, values = list(SIZE.read(said)), list(VALUES[case.benchmark].read(said))
    if len(sizes) != 1 or len(values) != 1:
        raise ParseError(f"{len(values)} results and {len(sizes)} sizes, not one of each", where=where)
    if sizes[0]["message_size_bytes"] != case.message_size_bytes:
        raise ParseError(f"it measured {sizes[0]['message_size_bytes']:.0f} bytes", where=where)
    return values[0]


ADAPTER = QperfAdapter()
