"""Intel MPI Benchmarks 2018 to 2021: the tables of IMB-MPI1, IMB-NBC, IMB-RMA and IMB-P2P.

    #    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
    # Benchmarking PingPong
    # #processes = 2
           #bytes #repetitions      t[usec]   Mbytes/sec
               64       129495         3.51        18.25
    # Benchmarking Allreduce
    # #processes = 4
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
               64          100         0.65        60.77        42.41

A megabyte is 10^6 bytes; of time and rate, which both have two decimals, the finer gives both. IMB-RMA says in which
mode a test runs (`#    MODE: NON-AGGREGATE`): that is part of the table's name.
"""

from __future__ import annotations

import re

from fabriscope.model.errors import ParseError
from fabriscope.readers.base import Column, Draft, Parameter, Reader, TableDraft, Value, finer, printed_row

SIZE, REPETITIONS, RATE, TIME = "#bytes", "#repetitions", "Mbytes/sec", "t[usec]"
STEP = 0.01
"""Of times and rates: both are printed with two decimals."""
LAST_LINE = "All processes entering MPI_Finalize"

_RANKS = "of the ranks' means over their operations"
COLUMNS = {
    column.head: column
    for column in (
        Column(SIZE, "message_size_bytes", "size", "bytes", "of a message, or of a rank's share", kind="whole"),
        Column(REPETITIONS, "repetition_count", "repetitions", "", "operations that were timed", kind="whole"),
        Column(
            TIME, "time_ns", "time", "ns",
            "of one operation, the mean over the repetitions; of PingPong and PingPing half of a round trip", 1e3,
        ),
        Column(RATE, "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes of an operation over its time", 1e6),
        Column("Msg/sec", "message_rate_per_s", "message rate", "per_s", "messages of all windows over their time"),
        Column("t_min[usec]", "time_ns_least_rank_mean", "least time", "ns", f"the least {_RANKS}", 1e3),
        Column("t_max[usec]", "time_ns_most_rank_mean", "most time", "ns", f"the most {_RANKS}", 1e3),
        Column("t_avg[usec]", "time_ns_mean", "mean time", "ns", f"the mean {_RANKS}", 1e3),
        Column("t_ovrl[usec]", "time_ns_overlapped", "with computing", "ns", "the operation while computing", 1e3),
        Column("t_pure[usec]", "time_ns_pure", "alone", "ns", "the operation alone", 1e3),
        Column("t_CPU[usec]", "compute_ns", "computing", "ns", "the computation alone", 1e3),
        Column("overlap[%]", "overlap_percent", "overlap", "percent", "share of the operation hidden by computing"),
    )
}  # fmt: skip
_VERSION = re.compile(r"Intel\(R\) MPI Benchmarks (?P<version>[\w.]+(?: Update \d+)?)")
_HEAD = re.compile(r"# Benchmarking (?P<test>[\w-]+)\s*")
_MODE = re.compile(r"#\s+MODE: (?P<mode>[A-Z-]+)\s*")
_PROCESSES = re.compile(r"# #processes = (\d{1,9})\s*")


def _fill(draft: Draft) -> None:
    version = _VERSION.search(draft.text)
    draft.version = version["version"] if version else None
    table: TableDraft | None = None
    first_lines: dict[tuple[int, Value], int] = {}
    for line in draft.lines():
        words = line.split()
        if head := _HEAD.fullmatch(line):
            table = draft.table(head["test"])
        elif table is None:
            continue
        elif mode := _MODE.fullmatch(line):
            table.name = f"{table.name.split()[0]} {mode['mode']}"
        elif processes := _PROCESSES.fullmatch(line):
            table.parameters.append(Parameter("process_count", int(processes[1])))
        elif words[:1] in ([SIZE], [REPETITIONS]):
            table.columns = _columns(table, words)
        elif table.columns and words and not words[0].startswith("#"):
            _row(draft, table, words, first_lines)
    if LAST_LINE not in draft.text:
        draft.problem(f"the log ends before {LAST_LINE!r}", "cut")


def _columns(table: TableDraft, words: list[str]) -> tuple[Column, ...]:
    if table.columns or not set(words) <= set(COLUMNS) or len(set(words)) < len(words):
        raise ParseError(f"{table.name} has the columns {' '.join(words)}")
    return tuple(COLUMNS[word] for word in words)


def _row(draft: Draft, table: TableDraft, words: list[str], first_lines: dict[tuple[int, Value], int]) -> None:
    if len(words) != len(table.columns):
        # "time-out", a death in the middle of a row, or what the MPI library says in between
        if words[0].isdecimal():
            draft.problem(f"{words[0]} B of {table.name} have no whole row", "cut")
        return
    printed = printed_row(table.columns, words)
    size = printed.get(SIZE, 0)
    first = first_lines.setdefault((len(draft.tables), size), draft.line)
    if first != draft.line:
        raise ParseError(f"{table.name} of {size} B stands in line {first} already")
    _check_order(table.name, *(float(printed.get(f"t_{which}[usec]", 0.0)) for which in ("min", "max", "avg")))
    if TIME in printed and RATE in printed:
        printed |= _finer(int(size), float(printed[TIME]), float(printed[RATE]))
    draft.row(printed)


def _check_order(name: str, least: float, most: float, mean: float) -> None:
    """Raise ParseError where the mean of the ranks is not between their least and their most."""
    if not least - STEP <= mean <= most + STEP:
        raise ParseError(f"{name} has a mean of {mean} usec between {least} and {most} usec")


def _finer(size: int, time_us: float, rate_mbytes: float) -> dict[str, Value]:
    """Return time and rate with the digits of the finer; raises ParseError unless both say the same."""
    least = size / (time_us + STEP) - STEP
    most = size / max(time_us - STEP, 1e-9) + STEP
    if not least <= rate_mbytes <= most:
        raise ParseError(f"{size} B in {time_us} usec are not {rate_mbytes} Mbytes/sec of 10^6 bytes")
    time_us, rate_mbytes = finer(time_us, rate_mbytes, size)
    return {TIME: time_us, RATE: rate_mbytes}


READER = Reader(
    "imb",
    "IMB-MPI1, IMB-NBC, IMB-RMA",
    re.compile(r"Intel\(R\) MPI Benchmarks |^# Benchmarking \w", re.MULTILINE),
    _fill,
)
