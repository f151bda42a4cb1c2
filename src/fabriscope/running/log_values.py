"""Which of our quantities the numbers of a log are; a number with no definition of ours keeps its program's name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabriscope.model.errors import ParseError
from fabriscope.model.metrics import metric_of, unit_of
from fabriscope.readers.base import Column, Document, Row, Table, Value
from fabriscope.readers.osu import RIGHT
from fabriscope.readers.traps import TableTraps

_LAYERS = {
    "osu": "mpi", "imb": "mpi", "iperf3": "tcp", "iperf2": "tcp", "perftest": "verbs", "rping": "verbs", "nccl": "nccl",
}  # fmt: skip
"""Program to the layer that it measures, but for what says that it went over UDP."""
_SIZE = "message_size_bytes"
_COLLECTIVES = (
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "reduce", "allreduce", "reduce_scatter",
    "allgather", "allgatherv", "alltoall", "alltoallv",
)  # fmt: skip
_RANK_TIMES = {
    "time_ns_mean": "collective_latency_ns_barrier_mean",
    "time_ns_least_rank_mean": "collective_latency_ns_barrier_least_rank_mean",
    "time_ns_most_rank_mean": "collective_latency_ns_barrier_most_rank_mean",
}
_OF_BARRIERS = {column: metric_id.replace("_barrier_", "_back_to_back_") for column, metric_id in _RANK_TIMES.items()}
"""osu_barrier has no barrier between the barriers that it times."""
_OURS: Mapping[tuple[str, str], tuple[str, Mapping[str, str]]] = {
    ("osu", "osu_latency"): ("ping_pong", {"latency_ns": "latency_ns_separate_mean"}),
    ("osu", "osu_put_latency"): ("put_latency", {"latency_ns": "put_local_completion_ns_mean"}),
    ("osu", "osu_get_latency"): ("get_latency", {"latency_ns": "get_latency_ns_mean"}),
    **{("osu", f"osu_{name}"): (name, _RANK_TIMES) for name in _COLLECTIVES[1:]},
    ("osu", "osu_barrier"): ("barrier", _OF_BARRIERS),
    ("imb", "PingPong"): (
        "ping_pong",
        {
            "time_ns": "latency_ns_separate_mean",
            "bandwidth_bytes_per_s": "ping_pong_bandwidth_bytes_per_s_separate_mean",
        },
    ),
    ("netpipe", "ping-pong"): (
        "ping_pong",
        {"latency_ns": "latency_ns_least_mean", "bandwidth_bytes_per_s": "ping_pong_bandwidth_bytes_per_s_least_mean"},
    ),
    ("qperf", "tcp_lat"): ("ping_pong", {"latency_ns": "latency_ns_mean"}),
    ("qperf", "tcp_bw"): ("stream", {"bandwidth_bytes_per_s": "stream_bandwidth_bytes_per_s"}),
}
"""Program and table to the benchmark, and column to the metric; only where the definitions are the same."""
_WINDOWED = {
    ("osu", "osu_bw"): ("bandwidth", "bandwidth_bytes_per_s"),
    ("osu", "osu_bibw"): ("bidirectional_bandwidth", "bidirectional_bandwidth_bytes_per_s"),
}
"""Those that are ours once their window is known, which their logs do not say."""
_TELLING = (
    "buffers", "source_buffer", "target_buffer", "window_creation", "synchronization", "datatype", "pair_count",
    "process_count", "number_of_sender_threads", "number_of_receiver_threads", "rank", "printed_by",
    "protocol", "stream_count", "reverse", "bidirectional",
)  # fmt: skip
"""Parameters of tables, and of a report as a whole, that tell curves of one test apart."""
_TELLING_COLUMNS = (
    "test", "operation", "reported_by", "role", "data_type", "variant", "problem_class", "matrix_order", "block_size",
    "process_rows", "process_columns",
)  # fmt: skip
"""Columns that tell rows of one table apart, beside the message size."""
_CHECKS = {"check": ("PASSED",), "validation": (*RIGHT, "skipped"), "verification": ("SUCCESSFUL",)}
"""Columns in which a program says whether the result of the row is right, and what it says where it is."""
_USUAL = {
    ("datatype", "MPI_CHAR"), ("window_creation", "MPI_Win_allocate"), ("synchronization", "MPI_Win_flush"),
    ("protocol", "TCP"), ("stream_count", 1), ("reverse", 0),
}  # fmt: skip
_OF_ONE_PAIR = ("process_count", 2)
"""What IMB says of a test of two ranks, and others leave to the test's name."""
_WORD = re.compile(r"[^a-z0-9]+")


def layer_of_table(document: Document, table: Table) -> str:
    """Return the layer that a table's numbers are of: its program's, UDP where it says so, or else the program."""
    stated = {one.name: one.value for one in (*document.parameters, *table.parameters)}
    layer = _LAYERS.get(document.program, document.program)
    return "udp" if layer == "tcp" and stated.get("protocol") == "UDP" else layer


@dataclass(frozen=True)
class LogValue:
    """One number of a log."""

    benchmark: str
    series: str
    window_size: int
    message_size_bytes: int
    metric_id: str
    value: float
    line: int
    traps: tuple[str, ...] = ()
    """The known traps that it has, by name."""


@dataclass(frozen=True)
class LogTable:
    """The numbers of one table, and what of it was left out."""

    values: tuple[LogValue, ...]
    left_out: tuple[str, ...] = ()


def of_table(document: Document, table: Table, window: int | None, *, knows_ranks: bool) -> LogTable:
    """Return what a table says in our quantities; `window` is what the user says where the log does not.

    What all ranks do together is one of our quantities only where somebody says which ranks those are.
    """
    stated = {one.name: one.value for one in (*document.parameters, *table.parameters)}
    said = stated.get("window_size")
    if isinstance(said, int | float) and said >= 1:
        window = int(said)
    elif (document.program, table.name) not in _WINDOWED:
        window = None
    of_table, traps = _series(document, table), TableTraps(document, table, window)
    found: dict[tuple[str, int, int, str], LogValue] = {}
    twice: dict[tuple[str, int, int, str], int] = {}
    left_out: dict[str, None] = {}
    for row in table.rows:
        if wrong := _wrong(row):
            left_out[f"{table.name}: the result in line {row.line} is not right: {wrong}"] = None
            continue
        words = [_told(name, row.values[name]) for name in _TELLING_COLUMNS if name in row.values]
        series = ", ".join(part for part in (of_table, *words) if part)
        size = int(row.number(_SIZE)) if _SIZE in row.values else int(stated.get(_SIZE) or 0)
        own = int(row.number("window_size")) if "window_size" in row.values else window
        for benchmark, metric_id, column in _of_row(document.program, table, row, own, knows_ranks=knows_ranks):
            value, key = row.number(column.name), (series, size, own or 1, metric_id)
            if key in found:
                twice[key] = row.line
            elif value > 0 or (value == 0 and unit_of(metric_id).can_be_zero):
                told = traps.of(row, column)
                found[key] = LogValue(benchmark, series, own or 1, size, metric_id, value, row.line, told)
            elif size or not unit_of(metric_id).is_rate:
                left_out[f"{table.name}: line {row.line} has {value:g}, which is below what the program prints"] = None
    if twice:
        lines = f"lines {min(found[key].line for key in twice)} to {max(twice.values())}"
        left_out[f"{table.name}: {lines} have several rows of one size, and nothing here tells them apart"] = None
    found = {key: value for key, value in found.items() if key not in twice}
    return LogTable(tuple(found.values()), tuple(left_out))


def _wrong(row: Row) -> str:
    """Return what a program says against a row's own result; nothing where it is right, or nobody looked."""
    for name, right in _CHECKS.items():
        if row.values.get(name, right[0]) not in right:
            return f"{name} {row.values[name]}"
    counts = [name for name in row.values if name.endswith("wrong_count") and row.number(name) > 0]
    return f"{row.number(counts[0]):.0f} elements are wrong" if counts else ""


def _told(name: str, value: Value) -> str:
    return value if isinstance(value, str) else f"{name.replace('_', ' ')} {value:g}"


def _series(document: Document, table: Table) -> str:
    benchmark, _ = _OURS.get((document.program, table.name), ("", {}))
    usual = _USUAL if not benchmark or benchmark in _COLLECTIVES else _USUAL | {_OF_ONE_PAIR}
    told = [
        f"{one.name.replace('_', ' ')} {one.value}"
        for one in {one.name: one for one in (*document.parameters, *table.parameters)}.values()
        if one.name in _TELLING and (one.name, one.value) not in usual
    ]
    return ", ".join(told)


def _of_row(
    program: str, table: Table, row: Row, window: int | None, *, knows_ranks: bool
) -> Iterator[tuple[str, str, Column]]:
    """Yield benchmark, metric id and column of a row's numbers."""
    benchmark, ours = _OURS.get((program, table.name), ("", {}))
    if not benchmark or (benchmark in _COLLECTIVES and not knows_ranks):
        benchmark, ours = _slug(f"{program} {table.name}"), {}
    windowed = _WINDOWED.get((program, table.name))
    for column in table.columns:
        is_setting = column.name in ("window_size", _SIZE) or column.unit in ("", "bytes")
        if is_setting or not math.isfinite(row.number(column.name)):
            continue
        if windowed is not None and window is not None and column.name == "bandwidth_bytes_per_s":
            yield (*windowed, column)
        elif column.name in ours:
            yield benchmark, ours[column.name], column
        elif not ours and (metric_id := _foreign_metric(program, table, column.name)):
            yield benchmark, metric_id, column


def _foreign_metric(program: str, table: Table, column: str) -> str:
    """Return the id of a quantity that only its program defines; nothing for a column whose unit no metric has."""
    metric_id = f"{_slug(f'{program} {table.name}')}_{column}"
    try:
        metric_of(metric_id)
    except ParseError:
        return ""
    return metric_id


def _slug(text: str) -> str:
    words = [word for word in _WORD.split(text.lower()) if word]
    return "_".join(word for place, word in enumerate(words) if word not in words[:place])
