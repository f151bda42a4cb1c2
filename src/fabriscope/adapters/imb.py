"""Intel MPI Benchmarks 2021: IMB-MPI1 PingPong, Uniband and Biband; one MPI job for each window.

What it prints, here of PingPong and Uniband:

    # Benchmarking PingPong
    # #processes = 2
    #---------------------------------------------------
           #bytes #repetitions      t[usec]   Mbytes/sec
               64       129495         3.51        18.25
    # Benchmarking Uniband
           #bytes #repetitions   Mbytes/sec      Msg/sec
            65536          440      3910.21        59665

`t[usec]` is half of a round trip, the mean over the repetitions; PingPong's "Mbytes/sec" is the message size over that,
hence ping-pong bandwidth; the finer of the two columns gives both of our values. Those of Uniband and Biband are the
bytes of a window of messages (of both directions in Biband) over the time until a short message has answered it, hence
bandwidth. A megabyte is 10^6 bytes; output in which it is not is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from fabriscope.adapters._foreign import Readings, SocketSupport, ending, finer, number, text_of
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.mpi import MpiStack

BENCHMARKS = {"ping_pong": "PingPong", "bandwidth": "Uniband", "bidirectional_bandwidth": "Biband"}
BANDWIDTH_COLUMNS = ("#bytes", "#repetitions", "Mbytes/sec", "Msg/sec")
COLUMNS = {
    "PingPong": ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec"),
    "Uniband": BANDWIDTH_COLUMNS,
    "Biband": BANDWIDTH_COLUMNS,
}
BYTES_PER_MBYTE = 10**6
STEP = 0.01
"""Of times and rates: both are printed with two decimals."""
MOST_REPETITIONS = 1_000_000
"""IMB chooses fewer, so that a size takes no longer than its time."""
MOST_VOLUME_MBYTES = 1_000_000

SOCKETS = SocketSupport("IMB, whose sockets belong to the MPI library,", nodelay=(True,))

_HEAD = re.compile(r"# Benchmarking (?P<benchmark>\w+)\s*")
_VERSION = re.compile(r"Intel\(R\) MPI Benchmarks (?P<version>[\w.]+)")


class ImbAdapter:
    """Runs IMB-MPI1 over mpi."""

    name = "imb"
    programs = ("IMB-MPI1",)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each window size of the launch's cases, one after the other."""
        if launch.entry.layer != "mpi":
            raise LaunchError(f"IMB knows no layer {launch.entry.layer!r}", where=launch.entry.entry_id)
        cases = [case for case in launch.cases if _problem(case) is None]
        seconds = launch.budget_ns / max(1, len(cases)) / 1e9
        return tuple(
            Command(
                (context.program("IMB-MPI1"), *_options(window, group, seconds)),
                launch.entry.hosts[0],
                env=_env(context.mpi),
                rank_hosts=launch.entry.hosts,
                ready_pattern="All processes entering MPI_Finalize",
            )
            for window, group in _by_window(cases).items()
        )

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the means that IMB states for every case that it reached."""
        readings = Readings(launch)
        for case in launch.cases:
            problem = _problem(case)
            if problem is not None:
                readings.skip(case, problem)
        groups = _by_window([case for case in launch.cases if _problem(case) is None])
        for place, group in enumerate(groups.values()):
            outcome = outcomes[place] if place < len(outcomes) else None
            if outcome is not None:
                _read(text_of(outcome.stdout), group, readings)
            reached = {case_id for case_id, _ in readings.values}
            missing = [case for case in group if case.case_id not in reached]
            readings.fail(missing, f"no row of this size: {ending(outcome, 'IMB-MPI1', outcomes)}")
        return readings.parsed("IMB-MPI1 said nothing of this case")


def _problem(case: Case) -> str | None:
    if case.benchmark not in BENCHMARKS:
        return f"IMB-MPI1 has no {case.benchmark}"
    return SOCKETS.problem(case.socket)


def _by_window(cases: Sequence[Case]) -> Mapping[int, list[Case]]:
    """Return the cases by their window; PingPong has none and stands with the first."""
    windows = [case.window_size for case in cases if case.benchmark != "ping_pong"] or [1]
    groups: dict[int, list[Case]] = {}
    for case in cases:
        window = windows[0] if case.benchmark == "ping_pong" else case.window_size
        groups.setdefault(window, []).append(case)
    return groups


def _options(window: int, cases: Sequence[Case], seconds: float) -> tuple[str, ...]:
    names = dict.fromkeys(BENCHMARKS[case.benchmark] for case in cases)
    sizes = sorted({case.message_size_bytes for case in cases})
    options = [*names, "-msgsize", ",".join(str(size) for size in sizes), "-zero_size", "off"]
    options += ["-iter", f"{MOST_REPETITIONS},{MOST_VOLUME_MBYTES}", "-time", f"{seconds:.3f}"]
    return (*options, "-window_size", str(window))


def _env(stack: MpiStack | None) -> Mapping[str, str]:
    """Return where the program finds this MPI's library: IMB comes apart from the MPI that it is run with."""
    prefix = PurePosixPath(stack.mpirun).parent.parent if stack is not None else PurePosixPath("/usr")
    return {} if str(prefix) in ("/usr", "/") else {"LD_LIBRARY_PATH": str(prefix / "lib")}


def _read(text: str, cases: Sequence[Case], readings: Readings) -> None:
    wanted = {(BENCHMARKS[case.benchmark], case.message_size_bytes): case for case in cases}
    version = _VERSION.search(text)
    if version:
        readings.details["version"] = version["version"]
    for benchmark, row in _rows(text):
        size = int(row["#bytes"])
        case = wanted.get((benchmark, size))
        if benchmark == "PingPong":
            _check_units(size, row["t[usec]"], row["Mbytes/sec"])
        if case is None:
            continue
        readings.details[case.case_id] = {"repetitions": int(row["#repetitions"])}
        if benchmark == "PingPong":
            latency_us, rate_mbytes = finer(row["t[usec]"], row["Mbytes/sec"], size)
            readings.take(case, "latency_ns_mean", latency_us * 1e3)
            if size:
                readings.take(case, "ping_pong_bandwidth_bytes_per_s_mean", rate_mbytes * BYTES_PER_MBYTE)
        elif size:
            readings.take(case, f"{case.benchmark}_bytes_per_s", row["Mbytes/sec"] * BYTES_PER_MBYTE)


def _rows(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the benchmark and the named numbers of every row; raises ParseError for other columns."""
    benchmark: str | None = None
    columns: tuple[str, ...] | None = None
    for line in text[: text.rfind("\n") + 1].splitlines():  # a last line without its end may lack digits too
        head = _HEAD.fullmatch(line)
        words = line.split()
        if head:
            benchmark, columns = head["benchmark"], None
        elif benchmark in COLUMNS and words[:1] == ["#bytes"]:
            columns = tuple(words)
            if columns != COLUMNS[benchmark]:
                raise ParseError(f"{benchmark} has the columns {' '.join(words)}", where="IMB-MPI1")
        elif columns is not None and words:
            if len(words) != len(columns):
                columns = None  # "time-out", the end of the table, or a death in the middle of a row
                continue
            yield (
                str(benchmark),
                {name: number(word, name, "IMB-MPI1") for name, word in zip(columns, words, strict=True)},
            )


def _check_units(size: int, latency_us: float, rate_mbytes: float) -> None:
    """Raise ParseError unless rate and time say the same, to the digits that are printed."""
    least = size / (latency_us + STEP) - STEP
    most = size / max(latency_us - STEP, 1e-9) + STEP
    if not least <= rate_mbytes <= most:
        raise ParseError(
            f"{size} B in {latency_us} usec are not {rate_mbytes} Mbytes/sec of 10^6 bytes", where="IMB-MPI1"
        )


ADAPTER = ImbAdapter()
