"""What IMB's tests are called, the columns that they print, and which of our metrics their numbers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabriscope.model.benchmarks import COLLECTIVES, REDUCTIONS, ROOTED
from fabriscope.model.case import Case
from fabriscope.model.errors import ParseError
from fabriscope.readers.base import Table
from fabriscope.readers.imb import RATE, REPETITIONS, SIZE, TIME

MPI1, NBC, RMA = "IMB-MPI1", "IMB-NBC", "IMB-RMA"
PROGRAMS = (MPI1, NBC, RMA)
ALONE, TOGETHER = "NON-AGGREGATE", "AGGREGATE"
"""IMB-RMA's modes: every operation is complete before the next one begins, or all are completed at the end."""

_TIMES = ("t_min[usec]", "t_max[usec]", "t_avg[usec]")
_WINDOWS = (SIZE, REPETITIONS, RATE, "Msg/sec")
_TRANSFERS = (SIZE, REPETITIONS, TIME, RATE)
_OVERLAPS = ("t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]")


@dataclass(frozen=True)
class Test:
    """One of IMB's tests."""

    name: str
    columns: tuple[str, ...]
    program: str = MPI1
    metric: str = ""
    """Beginning of the ids of the metrics that its times of all ranks are kept under."""
    time_metric: str = ""
    """The metric that rank 0's time for one operation is."""
    rate_metric: str = ""
    """The metric that its rate is."""
    mode: str = ""
    """Of IMB-RMA."""
    is_synchronised: bool = False
    """It waits for all ranks before each operation (unless `-sync off`); else operations follow each other at once."""
    is_overlapped: bool = False
    """It computes while the operation is under way."""
    has_size: bool = True
    has_window: bool = False
    rank_count: int | None = None
    """The only number of ranks for which its numbers have our definition."""
    datatypes: tuple[str, ...] = ()
    """Those that it can be asked for; IMB-MPI1 alone has a choice."""
    is_reduction: bool = False
    has_root: bool = False
    is_share: bool = False
    """Its size is one rank's share of the vector, where ours is the vector."""
    mean_metric: str = ""
    """The metric that the mean of all ranks' times is, of pairs that run at once (`-multi 0`)."""

    @property
    def call(self) -> str:
        """Return what it is asked for by."""
        return self.name.removeprefix("Multi-")

    @property
    def table(self) -> str:
        """Return what names its rows."""
        return f"{self.name} {self.mode}" if self.mode else self.name


def _collective(name: str) -> Test:
    return Test(
        name.capitalize(), (SIZE, REPETITIONS, *_TIMES), metric="collective_latency_ns", is_synchronised=True,
        datatypes=("int32", "float", "double") if name in REDUCTIONS else ("byte", "int32", "float", "double"),
        is_reduction=name in REDUCTIONS, has_root=name in ROOTED, is_share=name == "reduce_scatter",
    )  # fmt: skip


def _nonblocking(name: str, *, is_overlapped: bool) -> Test:
    has_size = name != "barrier"
    times = _OVERLAPS if is_overlapped else _TIMES
    return Test(
        f"I{name}" + ("" if is_overlapped else "_pure"), (*((SIZE,) if has_size else ()), REPETITIONS, *times), NBC,
        metric="collective_latency_ns", is_synchronised=has_size, is_overlapped=is_overlapped, has_size=has_size,
        datatypes=("float",) if name in REDUCTIONS else ("byte",),
        is_reduction=name in REDUCTIONS, has_root=name in ROOTED, is_share=name == "reduce_scatter",
    )  # fmt: skip


def _one_sided(name: str, metric: str, *, mode: str = ALONE, **more: Any) -> Test:
    """Return a test of rank 0 on rank 1's memory, under one lock and with a flush after each operation or after all."""
    says: dict[str, Any] = {"time_metric" if mode == ALONE else "rate_metric": metric}
    return Test(name, _TRANSFERS, RMA, mode=mode, rank_count=2, **says, **more)


_ACCUMULATES: dict[str, Any] = {"datatypes": ("float",), "is_reduction": True}
TESTS = {
    "ping_pong": Test(
        "PingPong",
        _TRANSFERS,
        time_metric="latency_ns_separate_mean",
        rate_metric="ping_pong_bandwidth_bytes_per_s_separate_mean",
    ),
    "bandwidth": Test("Uniband", _WINDOWS, rate_metric="bandwidth_bytes_per_s", has_window=True, rank_count=2),
    "bidirectional_bandwidth": Test(
        "Biband", _WINDOWS, rate_metric="bidirectional_bandwidth_bytes_per_s", has_window=True, rank_count=2
    ),
    "multi_pair_latency": Test(
        "Multi-PingPong", (SIZE, REPETITIONS, *_TIMES, RATE), mean_metric="multi_pair_latency_ns_separate_mean"
    ),
    "sendrecv": Test("Sendrecv", (SIZE, REPETITIONS, *_TIMES, RATE), metric="sendrecv_time_ns"),
    "exchange": Test("Exchange", (SIZE, REPETITIONS, *_TIMES, RATE), metric="exchange_time_ns"),
    "barrier": Test("Barrier", (REPETITIONS, *_TIMES), metric="collective_latency_ns", has_size=False),
    **{name: _collective(name) for name in COLLECTIVES if name != "barrier"},
    **{f"i{name}": _nonblocking(name, is_overlapped=False) for name in COLLECTIVES},
    "put_latency": _one_sided("Unidir_put", "put_local_completion_ns_mean"),
    "get_latency": _one_sided("Unidir_get", "get_latency_ns_mean"),
    "put_bandwidth": _one_sided("Unidir_put", "put_stream_bandwidth_bytes_per_s", mode=TOGETHER),
    "get_bandwidth": _one_sided("Unidir_get", "get_stream_bandwidth_bytes_per_s", mode=TOGETHER),
    "accumulate_latency": _one_sided("Accumulate", "accumulate_local_completion_ns_mean", **_ACCUMULATES),
    "get_accumulate_latency": _one_sided("Get_accumulate", "get_accumulate_latency_ns_mean", **_ACCUMULATES),
    "fetch_and_op_latency": _one_sided("Fetch_and_op", "fetch_and_op_latency_ns_mean", **_ACCUMULATES),
    "compare_and_swap_latency": _one_sided(
        "Compare_and_swap", "compare_and_swap_latency_ns_mean", datatypes=("int32",)
    ),
}
_OVERLAPPED = {f"i{name}": _nonblocking(name, is_overlapped=True) for name in COLLECTIVES}
COLUMNS = {test.table: test.columns for test in (*TESTS.values(), *_OVERLAPPED.values())}


def test_of(case: Case) -> Test | None:
    """Return the test that measures what a case asks for."""
    computes = case.parameter_map.get("compute", "0") != "0"
    return (_OVERLAPPED if computes else TESTS).get(case.benchmark)


def size_of(case: Case) -> int:
    """Return the size in bytes that IMB has to be asked for, and prints in this case's row."""
    return case.message_size_bytes // (len(case.entry.hosts) if TESTS[case.benchmark].is_share else 1)


def check_ranks(case: Case, test: Test, table: Table, program: str) -> None:
    """Raise ParseError where a test of all ranks says that it had other ranks than the case has."""
    said = {one.name: one.value for one in table.parameters}
    count, wanted = said.get("process_count"), case.entry.hosts
    pairs = len(wanted) // 2
    if test.mean_metric and said.get("groups") != "; ".join(f"{rank} {rank + pairs}" for rank in range(pairs)):
        raise ParseError(f"{table.name} had the groups {said.get('groups')}", where=f"{program}, line {table.line}")
    if test.metric and count is not None and count != len(wanted):
        where = f"{program}, line {table.line}"
        raise ParseError(f"{table.name} had {count} processes, and {len(wanted)} were asked for", where=where)
