"""sockperf's ping-pong over TCP: a percentile of half of the round trip.

    sockperf: [Total Run] RunTime=2.000 sec; Warm up time=400 msec; SentMessages=87044; ReceivedMessages=87043
    sockperf: [Valid Duration] RunTime=1.548 sec; SentMessages=66651; ReceivedMessages=66651
    sockperf: ====> avg-latency=11.583 (std-dev=136.032)
    sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
    sockperf: Summary: Latency is 11.583 usec
    sockperf: ---> <MAX> observation = 9336.271
    sockperf: ---> percentile 50.000 =    4.262
    sockperf: ---> <MIN> observation =    3.704

Times are microseconds of half a round trip; the 50th percentile is `latency_ns` as we define it. The first 400 ms and
the last messages are outside its "valid duration".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.adapters import _foreign
from fabriscope.adapters._foreign import NS_PER_US, Column, Line
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch

LEAST_MESSAGE_BYTES = 14
"""Its header."""
MOST_MESSAGE_BYTES = (1 << 20) - 1
"""MAX_TCP_SIZE in its src/defs.h."""
READY_PATTERN = r"Warmup stage"
LAST_LINE_PATTERN = r"<MIN> observation"

MEDIAN = Line(re.compile(r"^sockperf: ---> percentile 50\.000 =\s*(?P<latency_ns>[\d.]+)\s*$", re.MULTILINE),
              (Column("latency_ns", NS_PER_US),))  # fmt: skip
MEAN = Line(re.compile(r"Summary: Latency is (?P<latency_mean_ns>[\d.]+) usec"),
            (Column("latency_mean_ns", NS_PER_US),))  # fmt: skip
COUNTS = Line(
    re.compile(r"\[Valid Duration\].*ReceivedMessages=(?P<operation_count>\d+)"), (Column("operation_count"),)
)
LOST = Line(
    re.compile(r"# dropped messages = (?P<dropped>\d+); # duplicated messages = (?P<duplicated>\d+)"),
    (Column("dropped"), Column("duplicated")),
)


class SockperfAdapter:
    """Runs one client a case against one server."""

    name = "sockperf"
    programs = ("sockperf",)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the server, then the clients, each of which waits for the one before it."""
        cases = _foreign.able_cases(launch, unable)
        if not cases:
            return ()
        program, address = context.program("sockperf"), _foreign.server_address(launch, context)
        where = ("--tcp", "-i", address, "-p", str(context.tcp_port))
        server = (program, "server", *where, "-m", str(MOST_MESSAGE_BYTES))
        seconds = str(_foreign.seconds_each(launch, len(cases)))
        hosts = launch.entry.hosts
        return (
            Command(server, hosts[-1], ready_pattern=READY_PATTERN, is_server=True),
            *(
                Command(
                    (program, "ping-pong", *where, "-m", str(case.message_size_bytes), "-t", seconds),
                    hosts[0],
                    ready_pattern=LAST_LINE_PATTERN,
                )
                for case in cases
            ),
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the median and the mean of each client; raises ParseError."""
        return _foreign.one_client_a_case(launch, outcomes[1:], unable, _read)


def unable(case: Case) -> str | None:
    """Return why sockperf cannot do a case."""
    if case.benchmark != "ping_pong":
        return f"sockperf's {case.benchmark} counts what was sent, not what arrived; we take its ping-pong alone"
    if not LEAST_MESSAGE_BYTES <= case.message_size_bytes <= MOST_MESSAGE_BYTES:
        return f"sockperf's TCP messages have {LEAST_MESSAGE_BYTES} to {MOST_MESSAGE_BYTES} bytes"
    return _foreign.not_plain_tcp(case)


def _read(case: Case, outcome: Outcome) -> Mapping[str, float]:
    said = _foreign.text(outcome)
    where = f"sockperf output, {case.message_size_bytes} bytes"
    values: dict[str, float] = {}
    for what, line in (("counts", COUNTS), ("summary", MEAN), ("percentile 50.000", MEDIAN), ("losses", LOST)):
        found = list(line.read(said))
        if len(found) != 1:
            raise ParseError(f"{len(found)} lines of its {what}, not one", where=where)
        values |= found[0]
    if values["dropped"] or values["duplicated"]:
        raise ParseError(f"it lost {values['dropped']:.0f} messages of a TCP stream", where=where)
    return {name: values[name] for name in ("latency_ns", "latency_mean_ns")}


ADAPTER = SockperfAdapter()
