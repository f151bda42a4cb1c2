"""What the adapters of other people's programs share: what a program cannot do, how it ended, what was read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from fabriscope.adapters.base import AdapterContext
from fabriscope.model.benchmarks import DEFAULTS, buffers_of, kind_of
from fabriscope.model.case import Case, SocketOptions
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.model.metrics import unit_of
from fabriscope.model.mpi import MpiStack
from fabriscope.readers.base import Document, Row, Table
from fabriscope.readers.traps import TableTraps

TCP_PORT_COUNT = 100
"""TCP ports reserved for each launch."""
LAUNCH_COUNT = 100
"""Launches until the first one's ports are used again: its connections have left TIME_WAIT by then."""

WALL_TOLERANCE = 0.05
WALL_GRACE_S = 0.1
"""By which a program's own clock may run ahead of ours."""

RANK_TIMES = {
    "time_ns_mean": "mean",
    "time_ns_least_rank_mean": "least_rank_mean",
    "time_ns_most_rank_mean": "most_rank_mean",
}
"""Column of IMB's and OSU's collectives to the end of its metric's id: each rank's mean over its operations, then the
mean, the least or the most of the ranks."""

_STDERR_LINES_KEPT = 5
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_REASON_CHARACTERS = 300
"""Of a line that a program said, in the reason of a failed case."""


def buffers_problem(case: Case, program: str) -> str | None:
    """Return why a program cannot use the buffers that a case asks for, None if it can or the case asks for none."""
    own = buffers_of(case.entry.instrument, case.benchmark).value
    asked = case.parameter_map.get("buffers", own)
    return None if asked == own else f"{program} knows the buffers {own}, not {asked}"


def asked_of(case: Case) -> Mapping[str, str]:
    """Return the parameters of a case, with those defaults of ours that are not other suites' own."""
    kind = kind_of(case.benchmark)
    ours = {"datatype": kind.datatype} if "datatype" in kind.parameters else {}
    if kind.unchecked_metrics:
        ours["far_check"] = DEFAULTS["far_check"]
    return {**ours, **case.parameter_map}


def parameters_problem(case: Case, test: str, known: Mapping[str, Sequence[str]]) -> str | None:
    """Return why a test, by its name, cannot be asked for a case's parameters, None if it can.

    `known` has those that it can be asked for, each with its values.
    """
    for name, value in asked_of(case).items():
        if name not in known:
            return f"{test} knows no {name}"
        if value not in known[name]:
            return f"{test} has the {name} {' or '.join(known[name])}, not {value}"
    return None


@dataclass(frozen=True)
class SocketSupport:
    """Which socket options of a case a program can be asked for."""

    program: str
    nodelay: tuple[bool, ...] = (True, False)
    """The values of TCP_NODELAY that it can work with."""
    buffers: bool = False
    """Whether both buffers can be set, to one size."""
    busy_poll: bool = False
    congestion_control: bool = False
    interface: bool = False

    def problem(self, socket: SocketOptions) -> str | None:
        """Return why the program cannot work with these options, None if it can."""
        if socket.tcp_nodelay not in self.nodelay:
            return f"{self.program} cannot switch TCP_NODELAY {'on' if socket.tcp_nodelay else 'off'}"
        if socket.send_buffer_bytes != socket.receive_buffer_bytes and self.buffers:
            return f"{self.program} sets the send and the receive buffer to one size, never to two"
        wanted = {
            "buffer sizes": socket.send_buffer_bytes or socket.receive_buffer_bytes,
            "busy polling": socket.busy_poll_us,
            "the congestion control": socket.congestion_control,
            "the interface of a socket": socket.interface,
        }
        can = (self.buffers, self.busy_poll, self.congestion_control, self.interface)
        for (what, value), possible in zip(wanted.items(), can, strict=True):
            if value is not None and not possible:
                return f"{self.program} cannot set {what}"
        return None


@dataclass
class Readings:
    """What was read so far of a launch's cases; `parsed` turns it into the adapter's answer."""

    launch: Launch
    values: dict[tuple[str, str], float] = field(default_factory=dict)
    results: dict[str, CaseResult] = field(default_factory=dict)
    details: dict[str, object] = field(default_factory=dict)
    blocks: list[SampleBlock] = field(default_factory=list)
    """Of cases that have more than a value."""
    traps: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Name of a known trap to metric id to the cases whose number it concerns."""
    groups: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """Case id to what is true of all of its streams."""

    def take(self, case: Case, metric_id: str, value: float) -> None:
        """Keep a value, in the metric's unit; raises ParseError for what no measurement can give."""
        if not math.isfinite(value) or value < 0 or (value == 0 and not unit_of(metric_id).can_be_zero):
            instrument = self.launch.entry.instrument
            raise ParseError(f"{metric_id} of {case.message_size_bytes} B is {value}", where=instrument)
        self.values[case.case_id, metric_id] = value

    def take_printed(self, case: Case, metric_id: str, printed: Printed, column: str) -> None:
        """Keep the value of a row's column, with the known traps that it has."""
        self.take(case, metric_id, printed.row.number(column))
        self.note(case, metric_id, printed, column)

    def note(self, case: Case, metric_id: str, printed: Printed, column: str) -> None:
        """Note the known traps of a column that a metric of a case was taken from."""
        table = TableTraps(printed.document, printed.table, case.window_size, is_launched=True)
        for one in printed.table.columns:
            for name in table.of(printed.row, one) if one.name == column else ():
                self.traps.setdefault(name, {}).setdefault(metric_id, []).append(case.case_id)

    def take_blocks(self, case: Case, blocks: Iterable[SampleBlock], account: Mapping[str, int]) -> None:
        """Keep what several streams of a case did, with what is true of all of them (GroupAccount)."""
        self.blocks += blocks
        self.groups[case.case_id] = dict(account)

    def skip(self, case: Case, reason: str) -> None:
        """Note that the program cannot measure this case."""
        self.results.setdefault(case.case_id, CaseResult(case.case_id, "skipped", reason))

    def skip_all(self, problem: Callable[[Case], str | None]) -> None:
        """Note every case of the launch that the program has a problem with."""
        for case in self.launch.cases:
            reason = problem(case)
            if reason is not None:
                self.skip(case, reason)

    def fail(self, cases: Iterable[Case], reason: str) -> None:
        """Note that cases were tried in vain."""
        for case in cases:
            self.results.setdefault(case.case_id, CaseResult(case.case_id, "failed", reason))

    def parsed(self, otherwise: str) -> ParsedLaunch:
        """Return what was read; cases without a value or a reason failed, for the reason `otherwise`."""
        measured = {case_id for case_id, _ in self.values} | {block.case_id for block in self.blocks}
        results = []
        for case in self.launch.cases:
            missing = CaseResult(case.case_id, "failed", otherwise)
            known = self.results.get(case.case_id, missing)
            results.append(CaseResult(case.case_id, "ok") if case.case_id in measured else known)
        blocks = tuple(
            SampleBlock(case_id, (value,), quantity=metric_id, burst=burst)
            for burst, ((case_id, metric_id), value) in enumerate(self.values.items())
        )
        more = {name: value for name, value in (("groups", self.groups), ("traps", self.traps)) if value}
        return ParsedLaunch((*blocks, *self.blocks), tuple(results), {**self.details, **more})


@dataclass(frozen=True)
class Printed:
    """A row where it stands."""

    document: Document
    table: Table
    row: Row


def text_of(data: bytes) -> str:
    """Return a program's words, without the colours that some print to files too."""
    return _COLOUR.sub("", data.decode("utf-8", "replace"))


def first_tcp_port(launch: Launch, context: AdapterContext) -> int:
    """Return the first of the TCP_PORT_COUNT ports that are this launch's own."""
    return context.tcp_port + launch.launch_id % LAUNCH_COUNT * TCP_PORT_COUNT


def library_path(stack: MpiStack | None) -> Mapping[str, str]:
    """Return where a program finds this MPI's library, if it comes apart from the MPI that it is run with."""
    prefix = PurePosixPath(stack.mpirun).parent.parent if stack is not None else PurePosixPath("/usr")
    return {} if str(prefix) in ("/usr", "/") else {"LD_LIBRARY_PATH": str(prefix / "lib")}


def has_crashed(outcome: Outcome) -> bool:
    """Return whether a program ended by itself and badly: what it printed before is not trusted."""
    return outcome.exit_status not in (0, None)


def asked(outcome: Outcome, option: str) -> int | None:
    """Return the whole number that a program was given with an option; None where it was given none."""
    argv = outcome.command.argv
    place = argv.index(option) + 1 if option in argv else len(argv)
    return int(argv[place]) if place < len(argv) and argv[place].isdecimal() else None


def check_time(measured_s: float, outcome: Outcome, where: str) -> None:
    """Raise ParseError where operations are said to have taken longer than their program ran; 0 is not known."""
    ran_s = outcome.elapsed_ns / 1e9
    if ran_s > 0 and measured_s > ran_s * (1 + WALL_TOLERANCE) + WALL_GRACE_S:
        raise ParseError(f"its operations come to {measured_s:.3g} s, and it ran for {ran_s:.3g} s", where=where)


def ending(outcome: Outcome | None, program: str, started: Sequence[Outcome] = ()) -> str:
    """Return how a program ended and what it said last, for the reason of a failed case.

    An `outcome` of None was not started; `started` are those before it, of which the last is to blame.
    """
    if outcome is None:
        before = ending(started[-1], "what had to be ready before it") if started else "nothing was"
        return f"{program} was not started: {before}"
    if outcome.timed_out:
        how = "did not end in time"
    elif outcome.exit_status is None:
        how = "was ended by us"
    elif outcome.exit_status < 0:
        how = f"was ended by signal {-outcome.exit_status}"
    else:
        how = f"ended with exit status {outcome.exit_status}"
    said = text_of(outcome.stderr) or text_of(outcome.stdout)
    lines = [line.strip()[:_REASON_CHARACTERS] for line in said.splitlines() if line.strip()]
    return f"{program} {how}, saying {' | '.join(lines[-_STDERR_LINES_KEPT:]) if lines else 'nothing'}"


def no_row(outcome: Outcome | None, program: str, started: Sequence[Outcome] = ()) -> str:
    """Return why a size has no row: of a program that ended well, that it printed none; of others how they ended."""
    how = ending(outcome, program, started)
    if outcome is None or outcome.timed_out or outcome.exit_status != 0:
        return how if outcome is None else f"{how}, before a row of this size"
    return f"{program} ended well and printed no row of this size: it said {how.partition(', saying ')[2]}"


def cases_of(launch: Launch, benchmark: str) -> dict[int, Case]:
    """Return the launch's cases of a benchmark by their message size."""
    return {case.message_size_bytes: case for case in launch.cases if case.benchmark == benchmark}


def by_socket(cases: Iterable[Case]) -> Mapping[SocketOptions, list[Case]]:
    """Return the cases grouped by their socket options, in the order of their first."""
    groups: dict[SocketOptions, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.socket, []).append(case)
    return groups
