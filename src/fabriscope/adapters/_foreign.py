"""What the adapters of other people's programs share: lines as data, and how a client's end becomes results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.adapters.base import LOOPBACK_ADDRESS, AdapterContext
from fabriscope.model.case import Case, SocketOptions
from fabriscope.model.command import Outcome
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock

NS_PER_US = 1e3
NS_PER_S = 1e9
BYTES_PER_MIB = 1 << 20

_STDERR_LINES_KEPT = 3

Unable = Callable[[Case], str | None]
"""Returns why a program cannot do a case, None if it can."""


@dataclass(frozen=True)
class Column:
    """One number of a line."""

    name: str
    """Its group in the pattern; ours, with our unit."""
    factor: float = 1.0
    """From the unit that is printed to ours."""


@dataclass(frozen=True)
class Line:
    """A line of a program's output: its shape, and what its numbers are."""

    pattern: re.Pattern[str]
    columns: tuple[Column, ...]

    def read(self, text: str) -> Iterator[dict[str, float]]:
        """Yield the numbers of every line that has this shape, in our units."""
        for match in self.pattern.finditer(text):
            yield {one.name: float(match[one.name]) * one.factor for one in self.columns}


def able_cases(launch: Launch, unable: Unable) -> tuple[Case, ...]:
    """Return the cases that a program can do, in the launch's order."""
    return tuple(case for case in launch.cases if unable(case) is None)


def server_address(launch: Launch, context: AdapterContext) -> str:
    """Return the data address of the last rank, which serves; the first one measures."""
    entry = launch.entry
    return LOOPBACK_ADDRESS if entry.placement == "intra" else context.data_address(entry.hosts[-1])


def not_plain_tcp(case: Case, *, nodelay: bool = True, can_set: frozenset[str] = frozenset()) -> str | None:
    """Return why a program that measures plain TCP between two ranks cannot do a case."""
    if case.entry.layer != "tcp":
        return f"it measures TCP, not {case.entry.layer}"
    if len(case.entry.hosts) != 2:
        return f"it has two ranks, not {len(case.entry.hosts)}"
    defaults = SocketOptions()
    names = ("send_buffer_bytes", "receive_buffer_bytes", "busy_poll_us", "congestion_control", "interface")
    for name in names:
        if name not in can_set and getattr(case.socket, name) != getattr(defaults, name):
            return f"it cannot be given {name}"
    if case.socket.tcp_nodelay != nodelay and "tcp_nodelay" not in can_set:
        return f"it always runs with tcp_nodelay {'on' if nodelay else 'off'}"
    return None


def text(outcome: Outcome) -> str:
    """Return what a command printed, standard output first."""
    return (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")


def bad_end(outcome: Outcome | None) -> str | None:
    """Return how a client's run ended if it did not end well; None for an end with status 0."""
    if outcome is None:
        return "it was not started: the one before it did not end well"
    name = outcome.command.argv[0].rsplit("/", 1)[-1]
    if outcome.exit_status == 0:
        return None
    if outcome.timed_out:
        how = "did not end in time"
    elif outcome.exit_status is None:
        how = "was ended by us"
    elif outcome.exit_status < 0:
        how = f"was ended by signal {-outcome.exit_status}"
    else:
        how = f"ended with exit status {outcome.exit_status}"
    said = [line.strip() for line in text(outcome).splitlines() if line.strip()][-_STDERR_LINES_KEPT:]
    return f"{name} {how}" + (f", saying: {' | '.join(said)}" if said else ", saying nothing")


def collected(
    launch: Launch,
    values: Mapping[str, Mapping[str, float]],
    reasons: Mapping[str, CaseResult],
    details: Mapping[str, object] | None = None,
) -> ParsedLaunch:
    """Return one block for each case's quantities, `ok` where there are any, and else the reason."""
    blocks = [
        SampleBlock(case.case_id, (value,), quantity)
        for case in launch.cases
        for quantity, value in values.get(case.case_id, {}).items()
    ]
    results = [
        CaseResult(case.case_id, "ok") if case.case_id in values else reasons[case.case_id] for case in launch.cases
    ]
    return ParsedLaunch(tuple(blocks), tuple(results), dict(details or {}))


def one_client_a_case(
    launch: Launch,
    clients: Sequence[Outcome],
    unable: Unable,
    read: Callable[[Case, Outcome], Mapping[str, float]],
    details: Mapping[str, object] | None = None,
) -> ParsedLaunch:
    """Return what the clients said, one for each able case in order; `read` raises ParseError."""
    values: dict[str, Mapping[str, float]] = {}
    reasons: dict[str, CaseResult] = {}
    waiting = iter(clients)
    for case in launch.cases:
        reason = unable(case)
        if reason is not None:
            reasons[case.case_id] = CaseResult(case.case_id, "skipped", reason)
            continue
        outcome = next(waiting, None)
        problem = bad_end(outcome)
        if outcome is None or problem is not None:
            reasons[case.case_id] = CaseResult(case.case_id, "failed", problem)
        else:
            values[case.case_id] = read(case, outcome)
    return collected(launch, values, reasons, details)


def seconds_each(launch: Launch, case_count: int) -> int:
    """Return the whole seconds that each case may take: no less than 1, which is the least these programs know."""
    return max(1, round(launch.budget_ns / NS_PER_S / max(case_count, 1)))
