"""rping over the RDMA connection manager: whether two hosts reach each other's memory, and about how long a ping takes.

It prints no time at all, and of a ping (`-v`) what came back. So each case has two clients, one of a single ping and
one of many, each with a server of its own; the difference of their whole times over the difference of their pings is
the time of a ping, and start, connection and end drop out of it. A ping is no ping-pong: the client says where its data
are (a send), the server reads them by RDMA and says so, the client says where they may be written, the server writes
them back and says so. `-V` compares what came back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from fabriscope.adapters._foreign import Readings, ending, first_tcp_port, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.rping import READER

METRIC = "rdma_ping_time_ns_mean"
LEAST_BYTES, MOST_BYTES = 23, 65535
"""Of a message. rping says that it takes 23 to 65536, and refuses 65536."""
LEAST_PINGS, MOST_PINGS = 100, 5_000
ASSUMED_PING_NS = 500_000
"""What a ping is taken to need when their number is chosen: more than software RDMA takes on an idle machine."""

# rping is silent while it begins to listen. $1: its port, a number of RDMA's own. Where nobody can tell, three seconds.
_LISTENS = """
for _ in $(seq 30); do
  rdma resource show cm_id 2>/dev/null | grep -q "LISTEN.*:$1 " && break
  sleep 0.1
done
echo listening
"""
# And while it ends; the next one begins when this one has.
_TO_ITS_END = '"$@"; status=$?; echo ended; exit $status'


class RpingAdapter:
    """Runs rping of rdmacm-utils over verbs."""

    name = "rping"
    programs = ("rping",)
    tools: ClassVar = {"rping": "RDMA between two hosts (package rdmacm-utils)"}
    layers = frozenset({"verbs"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return two servers and two clients for each case that can be measured."""
        cases = _possible(launch)
        first_port = first_tcp_port(launch, context)
        return tuple(
            command
            for place, case in enumerate(cases)
            for many, count in enumerate((1, _ping_count(launch.budget_ns // len(cases))))
            for command in _client_and_server(case, context, first_port + 2 * place + many, count)
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the time of a ping of every case both of whose clients had their data back unchanged."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        clients = [outcome for outcome in outcomes if _TO_ITS_END in outcome.command.argv]
        for place, case in enumerate(_possible(launch)):
            _read(case, clients[2 * place : 2 * place + 2], outcomes, readings)
        return readings.parsed("rping said nothing of this case")


def _possible(launch: Launch) -> list[Case]:
    return [case for case in launch.cases if _problem(case) is None]


def _problem(case: Case) -> str | None:
    if case.benchmark != "ping_pong":
        return f"rping has no {case.benchmark}"
    if not LEAST_BYTES <= case.message_size_bytes <= MOST_BYTES:
        return f"rping's messages have {LEAST_BYTES} to {MOST_BYTES} bytes"
    return f"rping cannot set {case.parameters[0][0]}" if case.parameters else None


def _ping_count(budget_ns: int) -> int:
    return min(max(budget_ns // ASSUMED_PING_NS, LEAST_PINGS), MOST_PINGS)


def _client_and_server(case: Case, context: AdapterContext, port: int, count: int) -> Iterator[Command]:
    client, server = case.entry.hosts
    address = context.data_address(server)
    both = ("-a", address, "-p", str(port), "-C", str(count), "-S", str(case.message_size_bytes), "-V")
    program = context.program("rping")
    yield Command((program, "-s", *both), server, is_server=True)
    yield Command(("/bin/sh", "-c", _LISTENS, "sh", str(port)), server, ready_pattern="listening")
    asking = (program, "-c", "-I", context.data_address(client), *both, *(["-v"] if count == 1 else []))
    yield Command(("/bin/sh", "-c", _TO_ITS_END, "sh", *asking), client, ready_pattern="ended")


def _read(case: Case, clients: Sequence[Outcome], outcomes: Sequence[Outcome], readings: Readings) -> None:
    for outcome in clients:
        if outcome.exit_status != 0:
            readings.fail((case,), f"no answer: {ending(outcome, 'rping', outcomes)}")
            return
    if len(clients) < 2:
        readings.fail((case,), f"no result of this case: {ending(None, 'rping', outcomes)}")
        return
    one, many = clients
    pings = [row for row in READER.read(text_of(one.stdout)).rows() if row.values["ping"] == 0]
    if not pings:
        readings.fail((case,), f"rping shows no data of its ping: {ending(one, 'it', outcomes)}")
        return
    seen = len(f"rdma-ping-0: {pings[0].values['data']}") + 1
    if seen != case.message_size_bytes:
        where = f"rping, line {pings[0].line}"
        raise ParseError(f"{seen} B came back, and {case.message_size_bytes} B were sent", where=where)
    more_count = int(many.command.argv[many.command.argv.index("-C") + 1]) - 1
    more_ns = many.elapsed_ns - one.elapsed_ns
    readings.details[case.case_id] = {
        "ping_count": more_count + 1,
        "one_ns": one.elapsed_ns,
        "many_ns": many.elapsed_ns,
    }
    if more_ns <= 0:
        readings.fail((case,), f"{more_count + 1} pings took no longer than one: starting took longer than they did")
        return
    readings.take(case, METRIC, more_ns / more_count)


ADAPTER = RpingAdapter()
