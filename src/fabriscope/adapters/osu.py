"""OSU micro-benchmarks (7.4, and 5.3 by its sources): pairs, collectives, one-sided operations and a flush.

osu_latency prints half of a round trip, the mean over the iterations; osu_bw and osu_bibw the bytes of windows of
messages over the time until each is answered, 1 MB = 10^6 bytes; osu_multi_lat and osu_mbw_mr the mean over the pairs,
and the sum of all pairs over the mean of their times. Messages come from a second buffer that is never written.

Of a collective each rank times its own call, and a barrier that is not timed stands before the next one; the columns
(`-f`) are the mean, the least and the most of the ranks' means. osu_barrier's calls follow each other at once. A
non-blocking one is timed alone and then beside a computation of that length; its overlap is of the ranks' mean times.

`-c` writes the buffers before each operation and adds barriers: what is timed with it is something else. So a program
is started once more for it, with few iterations, and only its Pass or Fail is taken.

Sizes double from the least to the largest that a program is told (`-m`), and what lies between is measured too. The
number of iterations is fixed before (`-i`), of all sizes at once: sizes above 8 KiB have a job of their own, as OSU
itself has fewer iterations there. Source: the programs of 7.4, and `set_num_iterations` of its `osu_util.c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fabriscope.adapters._foreign import (
    Printed,
    Readings,
    SocketSupport,
    asked,
    asked_of,
    check_time,
    has_crashed,
    library_path,
    no_row,
    parameters_problem,
    text_of,
)
from fabriscope.adapters._osu_tests import TESTS, Test, test_of
from fabriscope.adapters._osu_time import least_s
from fabriscope.adapters._osu_validation import invalid
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ToolMissing
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch
from fabriscope.model.metrics import percentile_id
from fabriscope.model.osu import INSTRUMENT, PERCENTILES, OsuOptions, iterations_for
from fabriscope.readers.base import Table
from fabriscope.readers.osu import READER

LARGE_BYTES = 8192
"""Above it OSU has its `iterations_large` (LARGE_MESSAGE_SIZE)."""
LEAST_ITERATIONS, MOST_ITERATIONS = 10, 10_000
"""The most is OSU's own number for small messages."""
WARM_UP_SHARE = 10
"""One iteration in so many more is not timed, as OSU's own numbers have it for windows and collectives."""
TYPICAL_NS, TYPICAL_BYTES_PER_S = 100_000, 50e6
"""Of an operation between hosts where the wire's rate is not known, rather long: a launch is to keep its budget."""
PATIENCE = 5
"""How many times its expected time a job may take, beside the time limit of a case."""
VALIDATING = "-c"
TYPES = {"byte": "MPI_CHAR", "int32": "MPI_INT", "float": "MPI_FLOAT", "int64": "MPI_LONG_LONG_INT"}
"""Our datatype to MPI's."""
TOLD = ("int32", "float")
"""Those that `-T` knows, beside the bytes that are moved without it."""

PROGRAMS = tuple(test.program for test in TESTS.values())
SOCKETS = SocketSupport("OSU, whose sockets belong to the MPI library,", nodelay=(True,))


class OsuAdapter:
    """Runs the OSU micro-benchmarks over mpi."""

    name = INSTRUMENT
    tools: ClassVar = {"osu_latency": "the OSU micro-benchmarks; a plan may name their folder (`osu: /path`)"}
    layers = frozenset({"mpi"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each program, its options, and the sizes that double from its least one."""
        jobs = _jobs(launch)
        visited = sum(len(job.visited) for job in jobs)
        made: list[Command] = []
        for job in jobs:
            seconds = job.seconds(launch, visited)
            if job.test.can_validate and context.osu is not None and context.osu.options.is_validated:
                effort = ("-i", str(LEAST_ITERATIONS), "-x", "0", VALIDATING)
                made.append(_command(job, effort, seconds, launch, context))
            made.append(_command(job, _effort(job, seconds, context), seconds, launch, context))
        return tuple(made)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return what OSU states for every case that it reached."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        left = list(outcomes)
        for job in _jobs(launch):
            check = left.pop(0) if left and VALIDATING in left[0].command.argv else None
            outcome = left.pop(0) if left else None
            wrong = invalid(check, job.test.program, job.cases) if check is not None else {}
            for case_id, reason in wrong.items():
                readings.results[case_id] = CaseResult(case_id, "failed", reason)
            if outcome is not None:
                _read(outcome, job, [case for case in job.cases if case.case_id not in wrong], readings)
            reached = {case_id for case_id, _ in readings.values}
            missing = [case for case in job.cases if case.case_id not in reached]
            readings.fail(missing, no_row(outcome, job.test.program, outcomes))
        return readings.parsed("OSU said nothing of this case")


@dataclass(frozen=True)
class _Job:
    """One start of one program."""

    test: Test
    cases: tuple[Case, ...]

    @property
    def visited(self) -> list[int]:
        """Return the sizes in bytes that it measures, asked for or not; one of 0 where there are no sizes."""
        sizes = sorted(case.message_size_bytes for case in self.cases)
        found = [sizes[0]]
        while found[-1] < sizes[-1]:
            found.append(found[-1] * 2 or 1)
        return found

    @property
    def datatype(self) -> str:
        """Return the element type, in our words; empty where nobody asks."""
        return asked_of(self.cases[0]).get("datatype", "byte") if self.test.usual_type else ""

    def seconds(self, launch: Launch, visited_count: int) -> float:
        """Return this job's share of a launch's budget, by the number of sizes that all jobs visit."""
        return launch.budget_ns / 1e9 * len(self.visited) / visited_count


def _jobs(launch: Launch) -> list[_Job]:
    groups: dict[tuple[object, ...], list[Case]] = {}
    for case in launch.cases:
        test = test_of(case)
        if test is None or _problem(case) is not None:
            continue
        window = case.window_size if test.has_window else 1
        size = case.message_size_bytes
        odd = size // (size & -size) if size else 1
        key = (test.program, window, asked_of(case).get("datatype"), odd, size > LARGE_BYTES)
        groups.setdefault(key, []).append(case)
    return [_Job(TESTS[group[0].benchmark], tuple(group)) for group in groups.values()]


def _problem(case: Case) -> str | None:
    test, ranks = test_of(case), len(case.entry.hosts)
    if test is None:
        return f"OSU is not asked for {case.benchmark}"
    if test.rank_count not in (None, ranks):
        return f"{test.program} takes {test.rank_count} ranks, not {ranks}"
    if test.own_type and "datatype" in case.parameter_map:
        return f"{test.program} moves {test.own_type} alone: leave datatype out, and its number has an id of its own"
    if problem := parameters_problem(case, test.program, test.parameters):
        return problem
    if test.has_size and case.message_size_bytes == 0 and test.program not in ("osu_latency", "osu_multi_lat"):
        return f"{test.program} has no messages of 0 B"
    return SOCKETS.problem(case.socket)


def _command(
    job: _Job, effort: tuple[str, ...], seconds: float, launch: Launch, context: AdapterContext
) -> Command:  # fmt: skip
    build = context.osu
    path = build.programs.get(job.test.program) if build is not None else None
    if build is None or path is None:
        fix = "load its module, or name the folder that it was built or unpacked in: `osu: /path`"
        raise ToolMissing(f"{job.test.program} is not on this machine", fix=fix)
    sizes = job.visited
    words = [*job.test.words]
    if job.test.has_size:
        words += ["-m", f"{sizes[0]}:{sizes[-1]}" if sizes[0] else str(sizes[-1])]
    if job.test.has_window:
        words += ["-W", str(job.cases[0].window_size)]
    if job.datatype in TOLD and build.knows_types:
        words += ["-T", TYPES[job.datatype]]
    return Command(
        (path, *words, *effort),
        launch.entry.hosts[0],
        env=library_path(context.mpi),
        rank_hosts=launch.entry.hosts,
        is_alone=True,
        limit_s=PATIENCE * seconds + context.case_timeout_ns / 1e9,
        last_line=rf"^{sizes[-1]}\s+\S" if job.test.has_size else r"^\s*\d+\.\d+",
    )


def _effort(job: _Job, seconds: float, context: AdapterContext) -> tuple[str, ...]:
    """Return how many iterations are made and what is told of them."""
    options = context.osu.options if context.osu is not None else OsuOptions()
    count = options.iterations or _iterations(job, seconds, context)
    words = ("-i", str(count), "-x", str(max(1, count // WARM_UP_SHARE)))
    told = [str(one) for one in options.percentiles if count >= iterations_for(one)]
    has_tail = any(test is not None and test.tail[0] for test in map(test_of, job.cases))
    return (*words, f"-z{','.join(told)}") if told and has_tail else words


def _iterations(job: _Job, seconds: float, context: AdapterContext) -> int:
    """Return how many iterations of each size fit a time, by what the wire or else a typical one takes."""
    rate = context.fabric.line_rate_bits_per_s if context.fabric is not None else None
    bytes_per_s = min(rate / 8, TYPICAL_BYTES_PER_S) if rate else TYPICAL_BYTES_PER_S
    ranks = len(job.cases[0].entry.hosts)
    messages = job.cases[0].window_size if job.test.has_window else ranks if job.test.is_collective else 1
    pairs = max(1, ranks // 2) if job.test.rank_count is None and not job.test.is_collective else 1
    turns = 3 if "compute" in job.test.parameters else 1  # alone, and beside a computation of that length
    once_s = turns * sum(
        TYPICAL_NS / 1e9 * ranks / 2 + 2 * size * messages * pairs / bytes_per_s for size in job.visited
    )
    return min(MOST_ITERATIONS, max(LEAST_ITERATIONS, round(seconds / once_s)))


def _read(outcome: Outcome, job: _Job, cases: Sequence[Case], readings: Readings) -> None:
    program = job.test.program
    document = READER.read(text_of(outcome.stdout))
    document.check(program)
    if has_crashed(outcome):
        return
    iterations = asked(outcome, "-i")
    check_time(least_s(document, job.test, job.cases[0], iterations or 0), outcome, program)
    if document.version is not None:
        readings.details["version"] = document.version
    for table in document.tables:
        if table.name != program:
            continue
        if wrong := _wrong_type(job, table):
            readings.fail(job.cases, wrong)
            continue
        for row in table.rows:
            size = int(row.values.get("message_size_bytes", 0))
            for case in cases:
                test = test_of(case)
                if test is not None and (size == case.message_size_bytes or not test.has_size):
                    _take(case, test, Printed(document, table, row), iterations, readings)


def _wrong_type(job: _Job, table: Table) -> str:
    """Return what is wrong with the elements of a table; before 7.1 none says which they are."""
    if not job.datatype:
        return ""
    stated = next((one.value for one in table.parameters if one.name == "datatype"), job.test.usual_type)
    wanted = TYPES[job.datatype]
    return "" if stated == wanted else f"{job.test.program} moved {stated}, and {wanted} was asked for"


def _take(case: Case, test: Test, printed: Printed, iterations: int | None, readings: Readings) -> None:
    """Keep what a row says; no percentile that so few iterations do not tell, whether it was asked for or not."""
    start, median_id = test.tail
    told = [one for one in PERCENTILES if start and (iterations is None or iterations >= iterations_for(one))]
    tails = {f"{start}_p{one}": percentile_id(median_id, one) for one in told}
    for column, metric_id in {**test.columns, **tails}.items():
        if column in printed.row.values:
            readings.take_printed(case, metric_id, printed, column)


ADAPTER = OsuAdapter()
