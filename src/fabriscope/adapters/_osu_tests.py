"""Which of our benchmarks OSU's programs are, and under which metrics their columns are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


_SEPARATE = {"buffers": ("separate",)}


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
    )  # fmt: skip


_FLUSHING = {"synchronization": ("flush",), "window_memory": ("allocate",), "far_check": ("0",)}


def _one_sided(program: str, column: str, metric: str, *, is_atomic: bool = False, has_window: bool = False) -> Test:
    asked: dict[str, tuple[str, ...]] = dict(_FLUSHING)
    asked |= {"datatype": ("int32", "int64"), "reduction": ("sum",)} if is_atomic else {}
    usual = "MPI_LONG_LONG_INT" if is_atomic else ""
    return Test(program, {column: metric}, asked, FLUSHED, 2, has_window=has_window, usual_type=usual)


_TIME, _RATE = "latency_ns", "bandwidth_bytes_per_s"
TESTS = {
    "ping_pong": Test("osu_latency", {_TIME: "latency_ns_separate_mean"}, _SEPARATE, rank_count=2),
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
    "put_latency": _one_sided("osu_put_latency", _TIME, "put_local_completion_ns_mean"),
    "get_latency": _one_sided("osu_get_latency", _TIME, "get_latency_ns_mean"),
    "fetch_and_op_latency": _one_sided("osu_fop_latency", _TIME, "fetch_and_op_latency_ns_mean", is_atomic=True),
    "compare_and_swap_latency": _one_sided(
        "osu_cas_latency", _TIME, "compare_and_swap_latency_ns_mean", is_atomic=True
    ),
    "put_bandwidth": _one_sided("osu_put_bw", _RATE, "put_local_bandwidth_bytes_per_s", has_window=True),
    "get_bandwidth": _one_sided("osu_get_bw", _RATE, "get_bandwidth_bytes_per_s", has_window=True),
}  # fmt: skip
"""Our benchmark to the program; accumulates are left out, since OSU adds bytes, which ours do not."""


def test_of(case: Case) -> Test | None:
    """Return the program that measures what a case asks for."""
    return TESTS.get(case.benchmark)
