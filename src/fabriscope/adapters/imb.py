"""Intel MPI Benchmarks 2021: IMB-MPI1, IMB-NBC (non-blocking collectives) and IMB-RMA (one-sided operations).

`t[usec]` is half of a round trip, the mean over the repetitions; PingPong's "Mbytes/sec" is the message size over that,
hence ping-pong bandwidth. Those of Uniband and Biband are the bytes of a window of messages (of both directions in
Biband) over the time until a short message has answered it, hence bandwidth (`readers/imb.py`).

Of the others, each rank's time is the mean over its operations, and t_avg, t_min, t_max are the mean, the least and the
most of the ranks. Before each operation of a collective all ranks meet in a barrier, which is not timed (`-sync on`,
IMB's default); Barrier, Sendrecv and Exchange follow each other at once, as all do with `-sync off`
(src_c/IMB_allreduce.c, IMB_barrier.c, IMB_output.c). Reduce_scatter's size is one rank's share of the vector.

IMB-NBC's `..._pure` tests are timed like that; the others compute while the operation is under way, and their columns
are those of the rank whose total is largest. IMB-RMA says in which mode it runs (`MODE: NON-AGGREGATE`).

Non-aggregate, `t[usec]` is one operation and its flush; aggregate, the bytes of all operations over the time until one
flush has completed them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from fabriscope.adapters import _imb_effort as effort
from fabriscope.adapters import _imb_tests as tests
from fabriscope.adapters._foreign import (
    RANK_TIMES,
    Printed,
    Readings,
    SocketSupport,
    check_time,
    library_path,
    no_row,
    parameters_problem,
    text_of,
)
from fabriscope.adapters._imb_tests import MPI1, NBC, PROGRAMS, RMA, Test, test_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.imb import INSTRUMENT, ImbOptions
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Row
from fabriscope.readers.imb import LAST_LINE, READER

JOB_PATIENCE = 5
"""How many times its expected time a job may take, beside the time limit of a case. IMB chooses its repetitions by a
few that it makes before, which mislead it where a machine is busy; the other jobs are made all the same."""
MODES = {tests.ALONE: "non_aggregate", tests.TOGETHER: "aggregate"}
TYPES = {"byte": "byte", "int32": "int", "float": "float", "double": "double"}
"""Our datatype to IMB's; IMB reduces no bytes."""

SOCKETS = SocketSupport("IMB, whose sockets belong to the MPI library,", nodelay=(True,))


class ImbAdapter:
    """Runs IMB-MPI1, IMB-NBC and IMB-RMA over mpi."""

    name = INSTRUMENT
    programs = PROGRAMS
    tools: ClassVar = {MPI1: "Intel's MPI benchmarks (`fabriscope mpi add intelmpi` brings them)"}
    layers = frozenset({"mpi"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each program, options and sizes of the launch's cases, one after the other."""
        jobs = _jobs([case for case in launch.cases if _problem(case) is None])
        visited = sum(_visited_count(program, group) for (program, *_), group in jobs)
        seconds = launch.budget_ns / max(1, visited) / 1e9
        lasts_s = max(seconds, context.imb.time_s or 0.0)
        return tuple(
            Command(
                (context.program(program), *_options(program, group, seconds, context.imb), *words),
                launch.entry.hosts[0],
                env=library_path(context.mpi),
                rank_hosts=launch.entry.hosts,
                last_line=LAST_LINE,
                is_alone=True,
                limit_s=JOB_PATIENCE * lasts_s * _visited_count(program, group) + context.case_timeout_ns / 1e9,
            )
            for (program, *words), group in jobs
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the means that IMB states for every case that it reached."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        jobs = _jobs([case for case in launch.cases if _problem(case) is None])
        for place, (words, group) in enumerate(jobs):
            outcome, program = outcomes[place] if place < len(outcomes) else None, words[0]
            if outcome is not None:
                _read(outcome, program, [case for others, cases in jobs if others == words for case in cases], readings)
            reached = {case_id for case_id, _ in readings.values}
            missing = [case for case in group if case.case_id not in reached]
            readings.fail(missing, no_row(outcome, program, outcomes))
        return readings.parsed("IMB said nothing of this case")


def _problem(case: Case) -> str | None:
    test = test_of(case)
    if test is None:
        return f"IMB has no {case.benchmark}"
    if test.rank_count not in (None, len(case.entry.hosts)):
        return f"{test.name} of {len(case.entry.hosts)} ranks is another quantity than of {test.rank_count}"
    if test.mean_metric and (len(case.entry.hosts) < 4 or len(case.entry.hosts) % 2):
        return f"{test.call} of several pairs (-multi) takes 4 ranks or more, an even number"
    if problem := parameters_problem(case, f"{test.name} of {test.program}", _values(test)):
        return problem
    share = kind_of(case.benchmark).element_bytes(case.parameter_map) * (len(case.entry.hosts) if test.is_share else 1)
    if case.message_size_bytes % share:
        return f"{test.name} of {case.message_size_bytes} B is no whole number of elements at every rank"
    if test.program != MPI1 and test.has_size and _exponent(case) is None:
        return f"{test.program} knows no sizes but powers of two, and this would be {tests.size_of(case)} B"
    return SOCKETS.problem(case.socket)


def _values(test: Test) -> Mapping[str, tuple[str, ...]]:
    """Return the parameters that a test can be asked for, and their values."""
    values: dict[str, tuple[str, ...]] = {"datatype": test.datatypes} if test.datatypes else {}
    if test.program != RMA:
        values["buffers"] = ("separate",)
    if test.is_reduction:
        values["reduction"] = ("sum",)
    if test.program == RMA:
        return values | {"synchronization": ("flush",), "window_memory": ("create",), "far_check": ("0",)}
    if test.metric:
        values["timing"] = ("barrier", "back_to_back") if test.is_synchronised else ("back_to_back",)
    if test.is_overlapped:
        values["compute"] = ("1",)
    elif test.program == NBC:
        values["compute"] = ("0",)
    if test.mean_metric:
        values["pairing"] = ("half",)
    if test.has_root:
        values["root"] = ("0", "rotating")
    return values


def _is_synchronised(case: Case, test: Test) -> bool:
    return test.is_synchronised and case.parameter_map.get("timing") != "back_to_back"


def _tests(cases: Iterable[Case]) -> list[tuple[Case, Test]]:
    return [(case, test) for case in cases if (test := test_of(case)) is not None]


def _jobs(cases: Sequence[Case]) -> list[tuple[tuple[str, ...], list[Case]]]:
    """Return program and words of each job, and its cases: tests that have one set of sizes.

    IMB runs every test of a job at every size of it, asked for or not; reductions also at those that are no whole
    number of elements, as at the next such size, which then stands twice.
    """
    jobs = []
    for words, group in _by_options(cases).items():
        of_test: dict[str, list[Case]] = {}
        for case, test in _tests(group):
            of_test.setdefault(test.name if test.has_size else "", []).append(case)
        without = of_test.pop("", [])  # beside the first of the others
        of_sizes: dict[tuple[int, ...], list[Case]] = {}
        for of_one in of_test.values():
            of_sizes.setdefault(tuple(sorted(map(tests.size_of, of_one))), []).extend(of_one)
        first, *others = [*of_sizes.values()] or [[]]
        jobs += [(words, of_one) for of_one in ([*without, *first], *others)]
    return jobs


def _by_options(cases: Sequence[Case]) -> Mapping[tuple[str, ...], list[Case]]:
    """Return the cases by program and the options that hold for a whole job.

    Those without a window stand with the first one.
    """
    windows = [_window_words(case) for case, test in _tests(cases) if test.has_window] or [()]
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case, test in _tests(cases):
        window = _window_words(case) if test.has_window else windows[0] if test.program == MPI1 else ()
        groups.setdefault((test.program, *window, *_own_words(case, test)), []).append(case)
    return groups


def _window_words(case: Case) -> tuple[str, ...]:
    return ("-window_size", str(case.window_size))


def _own_words(case: Case, test: Test) -> tuple[str, ...]:
    given = case.parameter_map
    words: list[str] = []
    if "datatype" in given and test.program == MPI1:
        words += ["-red_data_type" if test.is_reduction else "-data_type", TYPES[given["datatype"]]]
    if given.get("root") == "rotating":
        words += ["-root_shift", "on"]
    if test.is_synchronised and not _is_synchronised(case, test):
        words += ["-sync", "off"]
    if test.mean_metric:  # a group for each rank i and i + n/2, all at once
        words += ["-multi", "0", "-map", f"{len(case.entry.hosts) // 2}x2"]
    if test.mode:
        words += ["-aggregate_mode", MODES[test.mode]]
    return tuple(words)


def _options(program: str, cases: Sequence[Case], seconds: float, told: ImbOptions) -> tuple[str, ...]:
    names = dict.fromkeys(test.call for _, test in _tests(cases))
    sizes = sorted({tests.size_of(case) for case, test in _tests(cases) if test.has_size})
    rank_count = len(cases[0].entry.hosts)
    options = [*names]
    if sizes and program == MPI1:
        options += ["-msgsize", ",".join(str(size) for size in sizes)]
    elif sizes:
        options += ["-msglog", f"{sizes[0].bit_length() - 1}:{sizes[-1].bit_length() - 1}"]
    if sizes and program != RMA:
        options += ["-zero_size", "off"]
    options += effort.words(program, seconds, told)
    return (*options, "-npmin", str(rank_count)) if rank_count > 2 else tuple(options)


def _visited_count(program: str, cases: Sequence[Case]) -> int:
    """Return how many points a job visits: of IMB-NBC and IMB-RMA also the powers of two in between."""
    if program == MPI1:
        return len(cases)
    exponents = [_exponent(case) or 0 for case in cases]
    return len({test.name for _, test in _tests(cases)}) * (max(exponents) - min(exponents) + 2)


def _exponent(case: Case) -> int | None:
    """Return of what power of two the case's size is, None if it is of none."""
    size = tests.size_of(case)
    return size.bit_length() - 1 if size > 0 and size & (size - 1) == 0 else None


def _read(outcome: Outcome, program: str, cases: Sequence[Case], readings: Readings) -> None:
    wanted = {(test.table, tests.size_of(case) if test.has_size else 0): (case, test) for case, test in _tests(cases)}
    document = READER.read(text_of(outcome.stdout))
    check_time(sum(map(_least_s, document.rows())), outcome, program)
    if document.version is not None:
        readings.details["version"] = document.version
    for table in document.tables:
        heads = tuple(column.head for column in table.columns)
        if heads and heads != tests.COLUMNS.get(table.name, heads):
            raise ParseError(f"{table.name} has the columns {' '.join(heads)}", where=program)
        for row in table.rows:
            size = int(row.values.get("message_size_bytes", 0))
            if (table.name, size) not in wanted:
                continue
            case, test = wanted[table.name, size]
            tests.check_ranks(case, test, table, program)
            if case.case_id in readings.details:
                raise ParseError(f"{table.name} of {size} B stands twice", where=f"{program}, line {row.line}")
            readings.details[case.case_id] = {"repetitions": int(row.number("repetition_count"))}
            for metric_id, column in _columns_of(case, test).items():
                readings.take_printed(case, metric_id, Printed(document, table, row), column)
    document.check(program)


def _least_s(row: Row) -> float:
    """Return how long the repetitions of a row took at least."""
    times = [row.number(name) for name in ("time_ns", "time_ns_mean", "time_ns_overlapped") if name in row.values]
    return row.number("repetition_count") * times[0] / 1e9 if times and "repetition_count" in row.values else 0.0


def _columns_of(case: Case, test: Test) -> Mapping[str, str]:
    """Return the columns that say something of a case, by metric id."""
    how = "barrier" if _is_synchronised(case, test) else "back_to_back"
    if test.is_overlapped:
        return {
            f"overlap_percent_{how}_most_rank": "overlap_percent",
            f"overlapped_operation_ns_{how}_most_rank_mean": "time_ns_overlapped",
        }
    if test.metric:
        return {f"{test.metric}_{how}_{whose}": column for column, whose in RANK_TIMES.items()}
    if test.mean_metric:
        return {test.mean_metric: "time_ns_mean"}
    columns = {test.time_metric: "time_ns"}
    if case.message_size_bytes:
        columns[test.rate_metric] = "bandwidth_bytes_per_s"
    return {metric_id: column for metric_id, column in columns.items() if metric_id}


ADAPTER = ImbAdapter()
