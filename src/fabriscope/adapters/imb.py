"""Intel MPI Benchmarks 2021: IMB-MPI1's tests of two ranks, of neighbours, and of all ranks at once.

What it prints, here of PingPong, Uniband and Allreduce:

    # Benchmarking PingPong
    # #processes = 2
    #---------------------------------------------------
           #bytes #repetitions      t[usec]   Mbytes/sec
               64       129495         3.51        18.25
    # Benchmarking Uniband
           #bytes #repetitions   Mbytes/sec      Msg/sec
            65536          440      3910.21        59665
    # Benchmarking Allreduce
    # #processes = 4
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
               64          100         0.65        60.77        42.41

`t[usec]` is half of a round trip, the mean over the repetitions; PingPong's "Mbytes/sec" is the message size over that,
hence ping-pong bandwidth; the finer of the two columns gives both of our values. Those of Uniband and Biband are the
bytes of a window of messages (of both directions in Biband) over the time until a short message has answered it, hence
bandwidth. A megabyte is 10^6 bytes; output in which it is not is refused.

Of the others, each rank's time is the mean over its operations, and t_avg, t_min, t_max are the mean, the least and the
most of the ranks. Before each operation of a collective all ranks meet in a barrier, which is not timed (`-sync on`,
IMB's default); Barrier, Sendrecv and Exchange follow each other at once, as all do with `-sync off`
(src_c/IMB_allreduce.c, IMB_barrier.c, IMB_output.c). Reduce_scatter's size is one rank's share of the vector.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from fabriscope.adapters import _imb_tables as tables
from fabriscope.adapters._foreign import Readings, SocketSupport, ending, finer, text_of
from fabriscope.adapters._imb_tables import BYTES_PER_MBYTE, PROGRAM, TESTS
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.mpi import MpiStack

STEP = 0.01
"""Of times and rates: both are printed with two decimals."""
MOST_REPETITIONS = 1_000_000
"""IMB chooses fewer, so that a size takes no longer than its time."""
MOST_VOLUME_MBYTES = 1_000_000
TYPES = {"byte": "byte", "int32": "int", "float": "float", "double": "double"}
"""Our datatype to IMB's; IMB reduces no bytes."""

SOCKETS = SocketSupport("IMB, whose sockets belong to the MPI library,", nodelay=(True,))

_VERSION = re.compile(r"Intel\(R\) MPI Benchmarks (?P<version>[\w.]+)")


class ImbAdapter:
    """Runs IMB-MPI1 over mpi."""

    name = "imb"
    programs = (PROGRAM,)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each set of options of the launch's cases, one after the other."""
        if launch.entry.layer != "mpi":
            raise LaunchError(f"IMB knows no layer {launch.entry.layer!r}", where=launch.entry.entry_id)
        cases = [case for case in launch.cases if _problem(case) is None]
        seconds = launch.budget_ns / max(1, len(cases)) / 1e9
        return tuple(
            Command(
                (context.program(PROGRAM), *_options(group, seconds), *words),
                launch.entry.hosts[0],
                env=_env(context.mpi),
                rank_hosts=launch.entry.hosts,
                ready_pattern="All processes entering MPI_Finalize",
            )
            for words, group in _by_options(cases).items()
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the means that IMB states for every case that it reached."""
        readings = Readings(launch)
        readings.skip_all(_problem)
        groups = _by_options([case for case in launch.cases if _problem(case) is None])
        for place, group in enumerate(groups.values()):
            outcome = outcomes[place] if place < len(outcomes) else None
            if outcome is not None:
                _read(text_of(outcome.stdout), group, readings)
            reached = {case_id for case_id, _ in readings.values}
            missing = [case for case in group if case.case_id not in reached]
            readings.fail(missing, f"no row of this size: {ending(outcome, PROGRAM, outcomes)}")
        return readings.parsed(f"{PROGRAM} said nothing of this case")


def _problem(case: Case) -> str | None:
    test = TESTS.get(case.benchmark)
    if test is None:
        return f"{PROGRAM} has no {case.benchmark}"
    if test.rank_count not in (None, len(case.entry.hosts)):
        return f"{test.name} of {len(case.entry.hosts)} ranks is another quantity than of {test.rank_count}"
    for name, value in case.parameters:
        known = _values(test).get(name)
        if known is None:
            return f"{test.name} of {PROGRAM} knows no {name}"
        if value not in known:
            return f"{test.name} of {PROGRAM} has the {name} {' or '.join(known)}, not {value}"
    share = kind_of(case.benchmark).element_bytes(case.parameter_map) * (len(case.entry.hosts) if test.is_share else 1)
    if case.message_size_bytes % share:
        return f"{test.name} of {case.message_size_bytes} B is no whole number of elements at every rank"
    return SOCKETS.problem(case.socket)


def _values(test: tables.Test) -> Mapping[str, tuple[str, ...]]:
    """Return the parameters that a test can be asked for, and their values."""
    if not test.metric:
        return {}
    values: dict[str, tuple[str, ...]] = {
        "timing": ("barrier", "back_to_back") if test.is_synchronised else ("back_to_back",)
    }
    if test.is_synchronised:
        values["datatype"] = tuple(TYPES)[1:] if test.is_reduction else tuple(TYPES)
    if test.is_reduction:
        values["reduction"] = ("sum",)
    if test.has_root:
        values["root"] = ("0", "rotating")
    return values


def _is_synchronised(case: Case) -> bool:
    return TESTS[case.benchmark].is_synchronised and case.parameter_map.get("timing") != "back_to_back"


def _by_options(cases: Sequence[Case]) -> Mapping[tuple[str, ...], list[Case]]:
    """Return the cases by the options that hold for a whole job; those without a window stand with the first one."""
    windows = [_window_words(case) for case in cases if TESTS[case.benchmark].has_window] or [()]
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        window = _window_words(case) if TESTS[case.benchmark].has_window else windows[0]
        groups.setdefault((*window, *_own_words(case)), []).append(case)
    return groups


def _window_words(case: Case) -> tuple[str, ...]:
    return ("-window_size", str(case.window_size))


def _own_words(case: Case) -> tuple[str, ...]:
    test, given = TESTS[case.benchmark], case.parameter_map
    words: list[str] = []
    if "datatype" in given:
        words += ["-red_data_type" if test.is_reduction else "-data_type", TYPES[given["datatype"]]]
    if given.get("root") == "rotating":
        words += ["-root_shift", "on"]
    if test.is_synchronised and not _is_synchronised(case):
        words += ["-sync", "off"]
    return tuple(words)


def _options(cases: Sequence[Case], seconds: float) -> tuple[str, ...]:
    names = dict.fromkeys(TESTS[case.benchmark].name for case in cases)
    sizes = sorted({tables.size_of(case) for case in cases if TESTS[case.benchmark].has_size})
    rank_count = len(cases[0].entry.hosts)
    options = [*names]
    if sizes:
        options += ["-msgsize", ",".join(str(size) for size in sizes), "-zero_size", "off"]
    options += ["-iter", f"{MOST_REPETITIONS},{MOST_VOLUME_MBYTES}", "-time", f"{seconds:.3f}"]
    return (*options, "-npmin", str(rank_count)) if rank_count > 2 else tuple(options)


def _env(stack: MpiStack | None) -> Mapping[str, str]:
    """Return where the program finds this MPI's library: IMB comes apart from the MPI that it is run with."""
    prefix = PurePosixPath(stack.mpirun).parent.parent if stack is not None else PurePosixPath("/usr")
    return {} if str(prefix) in ("/usr", "/") else {"LD_LIBRARY_PATH": str(prefix / "lib")}


def _read(text: str, cases: Sequence[Case], readings: Readings) -> None:
    wanted = {(TESTS[case.benchmark].name, tables.size_of(case)): case for case in cases}
    version = _VERSION.search(text)
    if version:
        readings.details["version"] = version["version"]
    for test, row in tables.rows(text):
        size = int(row.get(tables.SIZE, 0))
        case = wanted.get((test, size))
        if test == "PingPong":
            _check_units(size, row["t[usec]"], row[tables.RATE])
        if case is None:
            continue
        readings.details[case.case_id] = {"repetitions": int(row[tables.REPETITIONS])}
        for metric_id, value in _quantities(case, row).items():
            readings.take(case, metric_id, value)


def _quantities(case: Case, row: Mapping[str, float]) -> Mapping[str, float]:
    """Return what a row says, by metric id."""
    size, metric = case.message_size_bytes, TESTS[case.benchmark].metric
    if metric:
        how = "barrier" if _is_synchronised(case) else "back_to_back"
        return {f"{metric}_{how}_{whose}": row[column] * 1e3 for column, whose in tables.RANK_TIMES.items()}
    if case.benchmark != "ping_pong":
        return {f"{case.benchmark}_bytes_per_s": row[tables.RATE] * BYTES_PER_MBYTE} if size else {}
    latency_us, rate_mbytes = finer(row["t[usec]"], row[tables.RATE], size)
    values = {"latency_ns_mean": latency_us * 1e3}
    if size:
        values["ping_pong_bandwidth_bytes_per_s_mean"] = rate_mbytes * BYTES_PER_MBYTE
    return values


def _check_units(size: int, latency_us: float, rate_mbytes: float) -> None:
    """Raise ParseError unless rate and time say the same, to the digits that are printed."""
    least = size / (latency_us + STEP) - STEP
    most = size / max(latency_us - STEP, 1e-9) + STEP
    if not least <= rate_mbytes <= most:
        raise ParseError(f"{size} B in {latency_us} usec are not {rate_mbytes} Mbytes/sec of 10^6 bytes", where=PROGRAM)


ADAPTER = ImbAdapter()
