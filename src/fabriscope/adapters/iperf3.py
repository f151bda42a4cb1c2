"""iperf3 3.12 over TCP: one stream of messages that nobody answers; a server and a client for each case.

Many to one has a server and a client for each stream (_streams.py). Of the client's JSON (`-J`) the summary at
the receiver is read; of a single stream the first second is left out (`-O 1`). A stream has no window and no answer, so
its rate is another metric than our bandwidth; it has no latency at all. With -J it ends with status 0 even where it
failed, and says so in "error".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import ClassVar

from fabriscope.adapters import _iperf3_streams, _streams
from fabriscope.adapters._foreign import (
    Printed,
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
from fabriscope.adapters._streams import is_of_streams, seconds_of, stream_count
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Document
from fabriscope.readers.iperf3 import READER

LARGEST_MESSAGE_BYTES = 1 << 20
"""Its largest block."""
OMITTED_S = 1

SOCKETS = SocketSupport("iperf3", buffers=True, congestion_control=True, interface=True)
ASKED: Mapping[str, str | int] = {"protocol": "TCP", "stream_count": 1, "reverse": 0, "bidirectional": 0}
"""What its report repeats of the test that was asked for, beside what a case or the command says."""
LEAST_SHARE = 0.5
"""Of the time that was asked for, which a stream that came to its end has lasted."""


class Iperf3Adapter:
    """Runs iperf3's TCP stream."""

    name = "iperf3"
    programs = ("iperf3",)
    tools: ClassVar = {"iperf3": "TCP bandwidth (package iperf3)"}
    layers = frozenset({"tcp"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return a server that serves once, and its client, for every case in turn."""
        cases = _possible(launch)
        _streams.check_ports(cases)
        seconds = max(1, round(launch.budget_ns / max(1, len(cases)) / 1e9))
        commands: list[Command] = []
        port = first_tcp_port(launch, context)
        for case in cases:
            if is_of_streams(case):
                words = _client_words(case, "-t", str(seconds_of(case)))
                commands += _iperf3_streams.commands(case, context, port, words)
            else:
                commands += _pair(case, launch, context, port, seconds)
            port += stream_count(case)
        return tuple(commands)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the rate at which the stream's bytes arrived, for every case."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        first = 0
        for case in _possible(launch):
            clients, servers = _streams.of_streams(outcomes, first, stream_count(case), _iperf3_streams.is_server)
            if is_of_streams(case):
                _read_streams(case, clients, servers, outcomes, readings)
            else:
                _read(case, clients[0], outcomes, readings)
            first += stream_count(case)
        return readings.parsed("iperf3 said nothing of this case")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    if case.benchmark != "bandwidth" and not is_of_streams(case):
        return f"iperf3 has no {case.benchmark}"
    if is_of_streams(case) and (problem := _streams.rounds_problem(case, "iperf3")) is not None:
        return problem
    if not 0 < case.message_size_bytes <= LARGEST_MESSAGE_BYTES:
        return f"iperf3's blocks have 1 to {LARGEST_MESSAGE_BYTES} bytes"
    return buffers_problem(case, "iperf3") or SOCKETS.problem(case.socket)


def _pair(case: Case, launch: Launch, context: AdapterContext, tcp_port: int, seconds: int) -> Iterator[Command]:
    program = context.program("iperf3")
    sender, receiver = launch.entry.hosts
    server = (program, "-s", "-1", "-p", str(tcp_port), "--forceflush")
    yield Command(server, receiver, ready_pattern="Server listening on", is_server=True)
    argv = [program, "-c", context.data_address(receiver), "-p", str(tcp_port), "-J"]
    argv += _client_words(case, "-t", str(seconds), "-O", str(OMITTED_S))
    yield Command(tuple(argv), sender, ready_pattern=r"^}")


def _client_words(case: Case, *times: str) -> list[str]:
    """Return what a client is told of its messages, its time and its socket."""
    argv, socket = ["-l", str(case.message_size_bytes), *times], case.socket
    argv += ["-N"] if socket.tcp_nodelay else []
    argv += ["-w", str(socket.send_buffer_bytes)] if socket.send_buffer_bytes is not None else []
    argv += ["-C", socket.congestion_control] if socket.congestion_control is not None else []
    argv += ["--bind-dev", socket.interface] if socket.interface is not None else []
    return argv


def _read(case: Case, outcome: Outcome | None, started: Sequence[Outcome], readings: Readings) -> None:
    document = _document(case, outcome, started)
    if isinstance(document, str):
        readings.fail((case,), document)
        return
    kept = {parameter.name: parameter.value for parameter in document.parameters}
    readings.details[case.case_id] = {"version": document.version, **kept}
    (row,) = document.rows()
    printed = Printed(document, document.tables[0], row)
    readings.take_printed(case, "stream_bandwidth_bytes_per_s", printed, "bandwidth_bytes_per_s")


def _read_streams(
    case: Case,
    clients: Sequence[Outcome | None],
    servers: Sequence[Outcome | None],
    started: Sequence[Outcome],
    readings: Readings,
) -> None:
    documents, hosts = [], case.entry.hosts[case.entry.receivers :]
    for host, client in zip(hosts, clients, strict=True):
        document = _document(case, client, started)
        if isinstance(document, str):
            readings.fail((case,), f"the stream of {host}: {document}")
            return
        documents.append(document)
    readings.details[case.case_id] = {"version": documents[0].version}
    of_clients, of_servers = ([one for one in ends if one is not None] for ends in (clients, servers))
    _iperf3_streams.take(case, documents, of_clients, of_servers, readings)


def _document(case: Case, outcome: Outcome | None, started: Sequence[Outcome]) -> Document | str:
    """Return what a client reports, or why it does not; raises ParseError for a report of something else."""
    document = READER.read(text_of(outcome.stdout) if outcome is not None else "")
    said = document.problem("said")
    if document.problem("cut"):
        return f"no whole JSON report: {ending(outcome, 'iperf3', started)}"
    if said is not None:
        return said.text
    if outcome is None or has_crashed(outcome):
        return f"no result of this case: {ending(outcome, 'iperf3', started)}"
    _check_asked(case, document, outcome)
    document.check("iperf3")
    _check_connected(document, outcome)
    (row,) = document.rows()
    lasted_s, wanted_s = row.number("duration_s"), asked(outcome, "-t")
    check_time(lasted_s, outcome, "iperf3")
    if wanted_s is not None and lasted_s < LEAST_SHARE * wanted_s:
        raise ParseError(f"its stream lasted {lasted_s:g} s, and {wanted_s} s were asked for", where="iperf3")
    return document


def _check_asked(case: Case, document: Document, outcome: Outcome) -> None:
    """Raise ParseError where the report says that it is of another test than the case's; older ones say nothing."""
    wanted: dict[str, str | int | None] = {
        **ASKED,
        "block_size_bytes": case.message_size_bytes,
        "congestion_control": case.socket.congestion_control,
        "asked_buffer_bytes": case.socket.send_buffer_bytes,
        "asked_duration_s": asked(outcome, "-t"),
        "omitted_s": asked(outcome, "-O"),
    }
    for name, want in wanted.items():
        value = document.parameter(name)
        if want is not None and value is not None and value != want:
            raise ParseError(f"its {name} is {shown(value)}, and {want} was asked for", where="iperf3")


def _check_connected(document: Document, outcome: Outcome) -> None:
    """Raise ParseError where the report says that it went to another host than the command's; a name may mean any."""
    argv = outcome.command.argv
    if "-c" not in argv:
        return
    wanted = argv[argv.index("-c") + 1]
    address = _address(wanted)
    for one in document.parameters:
        said = str(one.value)
        is_same = said == wanted or (address is not None and _address(said) == address)
        if not is_same and (one.name == "connecting_to" or (one.name == "remote_host" and address is not None)):
            raise ParseError(f"its {one.name} is {shown(said)}, and {wanted} was asked for", where="iperf3")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, without its interface, as IPv4 where IPv6 only wraps it; None for a name."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


ADAPTER = Iperf3Adapter()
