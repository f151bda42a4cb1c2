"""Which of our benchmarks OSU's programs are, and under which metrics their columns are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fabriscope.adapters._foreign import RANK_TIMES
from fabriscope.model.benchmarks import COLLECTIVES, REDUCTIONS, ROOTED
from fabriscope.model.case import Case

FLUSHED = ("-w", "allocate", "-s", "flush")
"""Of one-sided tests: the window's memory, and what ends an operation, as our own are measured unless a plan says."""


@dataclass(frozen=True)
class Test:
    """One program."""

    program: str
    columns: Mapping[str, str]
    """The reader's name of a column to the metric that it is."""
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a case may ask for, and the values that the program has."""
    words: tuple[str, ...] = ()
    """What it is always told."""
    rank_count: int | None = None
    """The only number of ranks that it takes."""
    is_collective: bool = False
    has_size: bool = True
    has_window: bool = False
    usual_type: str = "MPI_CHAR"
    """The elements that it moves where it cannot be told any; none is asked about where this is empty."""
    own_type: str = ""
    """The elements that it always moves, whatever ours are: a case that names none may have it."""
    tail: tuple[str, str] = ("", "")
    """What its columns of percentiles (`-z`) begin with, and the metric that their 50th is; nothing for rates."""
    can_validate: bool = True
    """Whether it looks at what has arrived (`-c`)."""


_SEPARATE = {"buffers": ("separate",)}
_ALONE = {"mean": "", "least_rank_mean": "_least_rank_mean", "most_rank_mean": "_most_rank_mean"}


def _collective(name: str) -> Test:
    timing = "back_to_back" if name == "barrier" else "barrier"
    asked: dict[str, tuple[str, ...]] = {"timing": (timing,)}
    if name != "barrier":
        types = (*(() if name in REDUCTIONS else ("byte",)), "int32", "float")
        asked |= {**_SEPARATE, "datatype": types}
    asked |= {"reduction": ("sum",)} if name in REDUCTIONS else {}
    asked |= {"root": ("0",)} if name in ROOTED else {}
    columns = {column: f"collective_latency_ns_{timing}_{whose}" for column, whose in RANK_TIMES.items()}
    return Test(
        f"osu_{name}", columns, asked, ("-f",), is_collective=True, has_size=name != "barrier",
        usual_type="" if name == "barrier" else "MPI_FLOAT" if name in REDUCTIONS else "MPI_CHAR",
        tail=("time_ns_rank_mean", f"collective_latency_ns_{timing}"), can_validate=name != "barrier",
    )  # fmt: skip


def _nonblocking(name: str, *, is_overlapped: bool) -> Test:
    """Return one of the two halves of a program: the operation alone, or beside a computation as long as that.

    Of ibarrier alone the operations follow each other at once; before all others there is a barrier.
    """
    blocking = _collective(name)
    timing = "back_to_back" if name == "barrier" and not is_overlapped else "barrier"
    asked = {**blocking.parameters, "timing": (timing,), "compute": ("1" if is_overlapped else "0",)}
    alone = {f"time_ns_pure{_ALONE[whose]}": f"collective_latency_ns_{timing}_{whose}" for whose in _ALONE}
    beside = {
        "overlap_percent": "overlap_percent_barrier_of_means",
        "time_ns_overlapped": "overlapped_operation_ns_barrier_mean",
    }
    return replace(
        blocking, program=f"osu_i{name}", columns=beside if is_overlapped else alone, parameters=asked,
        usual_type="" if name == "barrier" else "MPI_CHAR",
        tail=("time_ns_rank_mean", "overlapped_operation_ns_barrier") if is_overlapped else ("", ""),
    )  # fmt: skip


_TIME, _RATE = "latency_ns", "bandwidth_bytes_per_s"
_ATOMIC = ("int32", "int64")
_FLUSHING = {"synchronization": ("flush",), "window_memory": ("allocate",), "far_check": ("0",)}


def _adding(*datatypes: str, usual: str = "MPI_LONG_LONG_INT") -> dict[str, Any]:
    """Return what is told of a test whose program can be told a type, and looks at its sums."""
    asked = {**_FLUSHING, "datatype": datatypes, "reduction": ("sum",)}
    return {"parameters": asked, "usual_type": usual, "can_validate": True}


def _one_sided(program: str, column: str, metric: str, **more: Any) -> Test:
    tail = (column, metric.removesuffix("_mean")) if column == _TIME else ("", "")
    words: dict[str, Any] = {"parameters": _FLUSHING, "usual_type": "", "can_validate": False, "tail": tail, **more}
    return Test(program, {column: metric}, words=FLUSHED, rank_count=2, **words)


TESTS = {
    "ping_pong": Test(
        "osu_latency", {_TIME: "latency_ns_separate_mean"}, _SEPARATE, rank_count=2,
        tail=(_TIME, "latency_ns_separate"),
    ),
    "bandwidth": Test("osu_bw", {_RATE: "bandwidth_bytes_per_s"}, _SEPARATE, rank_count=2, has_window=True),
    "bidirectional_bandwidth": Test(
        "osu_bibw", {_RATE: "bidirectional_bandwidth_bytes_per_s"}, _SEPARATE, rank_count=2, has_window=True
    ),
    "multi_pair_latency": Test(
        "osu_multi_lat", {_TIME: "multi_pair_latency_ns_separate_mean"}, {**_SEPARATE, "pairing": ("half",)}
    ),
    "message_rate": Test(
        "osu_mbw_mr",
        {"message_rate_per_s": "message_rate_per_s_mean", _RATE: "multi_pair_bandwidth_bytes_per_s_mean"},
        {**_SEPARATE, "pairing": ("half",)}, has_window=True,
    ),
    **{name: _collective(name) for name in COLLECTIVES},
    **{f"i{name}": _nonblocking(name, is_overlapped=False) for name in COLLECTIVES},
    "put_latency": _one_sided("osu_put_latency", _TIME, "put_local_completion_ns_mean"),
    "get_latency": _one_sided("osu_get_latency", _TIME, "get_latency_ns_mean"),
    "accumulate_latency": _one_sided(
        "osu_acc_latency", _TIME, "accumulate_local_completion_ns_mean", **_adding("int32", "float", usual="MPI_CHAR")
    ),
    "get_accumulate_latency": _one_sided(
        "osu_get_acc_latency", _TIME, "get_accumulate_of_characters_ns_mean", own_type="MPI_CHAR",
        parameters={**_FLUSHING, "datatype": ("float",), "reduction": ("sum",)}, tail=("", ""),
    ),
    "fetch_and_op_latency": _one_sided("osu_fop_latency", _TIME, "fetch_and_op_latency_ns_mean", **_adding(*_ATOMIC)),
    "compare_and_swap_latency": _one_sided(
        "osu_cas_latency", _TIME, "compare_and_swap_latency_ns_mean", **_adding(*_ATOMIC)
    ),
    "put_bandwidth": _one_sided("osu_put_bw", _RATE, "put_local_bandwidth_bytes_per_s", has_window=True),
    "get_bandwidth": _one_sided("osu_get_bw", _RATE, "get_bandwidth_bytes_per_s", has_window=True),
}  # fmt: skip
"""Our benchmark to the program."""
_OVERLAPPED = {f"i{name}": _nonblocking(name, is_overlapped=True) for name in COLLECTIVES}


def test_of(case: Case) -> Test | None:
    """Return the program that measures what a case asks for, and which of its columns."""
    computes = case.parameter_map.get("compute", "0") != "0"
    return (_OVERLAPPED if computes else TESTS).get(case.benchmark)
