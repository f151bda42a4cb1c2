"""sockperf 3.7 over TCP: ping-pong and throughput; one client for each case, one server for each set of options.

What the ping-pong's client says, with colours in it:

    sockperf: == version #3.7-no.git ==
    sockperf: [Total Run] RunTime=2.000 sec; Warm up time=400 msec; SentMessages=87044; ReceivedMessages=87043
    sockperf: [Valid Duration] RunTime=1.548 sec; SentMessages=66651; ReceivedMessages=66651
    sockperf: ====> avg-latency=11.583 (std-dev=136.032)
    sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
    sockperf: ---> percentile 50.000 =    4.262

Latencies are halves of round trips in microseconds; percentiles are taken over the messages of the valid duration.
It ends with status 0 whatever happens, so only what it says can tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabriscope.adapters._foreign import (
    Readings,
    SocketSupport,
    by_socket,
    ending,
    first_tcp_port,
    has_crashed,
    text_of,
)
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number
from fabriscope.model.measurement import Launch, ParsedLaunch

LEAST_MESSAGE_BYTES = 14
"""Its header."""
LARGEST_MESSAGE_BYTES = 1048575
WARMUP_NS = 450_000_000
"""What it leaves out of a run at its start and end."""

SOCKETS = SocketSupport("sockperf", buffers=True, busy_poll=True)
SUBCOMMANDS = {"ping_pong": "ping-pong", "bandwidth": "throughput"}
NAGLE_BY_DEFAULT = {"ping_pong": False, "bandwidth": True}
LAST_LINES = {"ping_pong": "<MIN> observation", "bandwidth": "Summary: BandWidth"}

_NUMBER = r"\s*(\S+?)(?=[;\s)\]]|$)"
PING_PONG_FIELDS = {
    "message_count": re.compile(r"\[Valid Duration\].*ReceivedMessages=" + _NUMBER),
    "latency_us_mean": re.compile(r"avg-latency=" + _NUMBER),
    "summary_us": re.compile(r"Summary: Latency is" + _NUMBER + " usec"),  # the one line that states the unit
    "latency_us": re.compile(r"---> percentile 50\.000 =" + _NUMBER),
    "latency_us_p99": re.compile(r"---> percentile 99\.000 =" + _NUMBER),
    "latency_us_least": re.compile(r"---> <MIN> observation =" + _NUMBER),  # stands last: what is above is whole
    "lost": re.compile(r"dropped messages =" + _NUMBER),
    "repeated": re.compile(r"duplicated messages =" + _NUMBER),
}
THROUGHPUT_FIELDS = {
    "message_count": re.compile(r"Total of" + _NUMBER + " messages sent"),
    "duration_s": re.compile(r"messages sent in" + _NUMBER + " sec"),
    "rate_mib_per_s": re.compile(r"BandWidth is" + _NUMBER + " MBps"),
}
RATE_TOLERANCE = 0.01
_VERSION = re.compile(r"== version #(\S+)")


class SockperfAdapter:
    """Runs sockperf's ping-pong and throughput over tcp."""

    name = "sockperf"
    programs = ("sockperf",)
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
    return SOCKETS.problem(case.socket)


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
    text = text_of(outcome.stdout) if outcome is not None else ""
    declared = PING_PONG_FIELDS if case.benchmark == "ping_pong" else THROUGHPUT_FIELDS
    found = {name: said for name, pattern in declared.items() if (said := pattern.findall(text))}
    if set(found) != set(declared):
        missing = next(name for name in declared if name not in found)
        readings.fail((case,), f"no {missing} in its output: {ending(outcome, 'sockperf', started)}")
        return
    if outcome is None or has_crashed(outcome):
        readings.fail((case,), f"no result of this case: {ending(outcome, 'sockperf', started)}")
        return
    twice = next((name for name, said in found.items() if len(said) > 1), None)
    if twice is not None:
        raise ParseError(f"{twice} stands {len(found[twice])} times in the output of one client", where="sockperf")
    values = {name: number(said[0], name, "sockperf", least=0) for name, said in found.items()}
    version = _VERSION.search(text)
    readings.details["version"] = version[1] if version else None
    readings.details[case.case_id] = values
    if case.benchmark == "ping_pong":
        if values["lost"] or values["repeated"]:
            readings.fail((case,), f"{values['lost']:.0f} messages were lost and {values['repeated']:.0f} repeated")
            return
        _check_latencies(values)
        readings.take(case, "latency_ns", values["latency_us"] * 1e3)
        readings.take(case, "latency_ns_mean", values["latency_us_mean"] * 1e3)
        readings.take(case, "ping_pong_bandwidth_bytes_per_s", case.message_size_bytes * 1e6 / values["latency_us"])
    else:
        readings.take(case, "sent_bandwidth_bytes_per_s", _sent_bytes_per_s(case, values))


def _check_latencies(values: dict[str, float]) -> None:
    """Raise ParseError for latencies that contradict each other, or of which none is more than nothing."""
    if values["summary_us"] != values["latency_us_mean"]:
        both = f"{values['latency_us_mean']} and, in usec, {values['summary_us']}"
        raise ParseError(f"its mean latency is {both}", where="sockperf")
    if not 0 < values["latency_us_least"] <= values["latency_us"] <= values["latency_us_p99"]:
        three = ", ".join(f"{values[name]}" for name in ("latency_us_least", "latency_us", "latency_us_p99"))
        raise ParseError(f"the least, the median and the 99th percentile are {three} usec", where="sockperf")


def _sent_bytes_per_s(case: Case, values: dict[str, float]) -> float:
    """Return messages times size over the time; raises ParseError if "MBps" is not that in units of 2^20 bytes."""
    if not values["duration_s"] > 0:
        raise ParseError(f"its messages were sent in {values['duration_s']} s", where="sockperf")
    sent = values["message_count"] * case.message_size_bytes / values["duration_s"]
    printed = values["rate_mib_per_s"] * (1 << 20)
    if abs(printed - sent) > RATE_TOLERANCE * sent:
        raise ParseError(f"{printed:.0f} B/s are printed, and {sent:.0f} B/s were sent", where="sockperf")
    return sent


ADAPTER = SockperfAdapter()
