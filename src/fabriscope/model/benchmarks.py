"""What is known of every benchmark: who takes part, which parameters it takes, which metrics it gives.

One table: the plan, the time estimate, the analysis and the reports ask it. A benchmark that is not in it (a plug-in)
is one between two ranks with a size and a window, whose metric is `operation_time_ns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fabriscope.model.application_benchmarks import APPLICATIONS
from fabriscope.model.benchmark_kind import DATATYPE_BYTES, GROUP, OF_STREAMS, PAIRS, SERVICE, BenchmarkKind
from fabriscope.model.metric_services import latency_ids
from fabriscope.model.quantity import SENDS_WHAT_CAME, Buffers, quantity_of
from fabriscope.model.stream_benchmarks import CONGESTION, STREAM_BENCHMARKS, UNCONGESTED, UNDER_INCAST
from fabriscope.model.ycsb_workloads import WORKLOADS

REDUCTIONS = ("reduce", "allreduce", "reduce_scatter")
MOVES = ("bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv")
COLLECTIVES = ("barrier", *MOVES[:5], "reduce", "allreduce", "reduce_scatter", *MOVES[5:])
ROOTED = ("bcast", "gather", "gatherv", "scatter", "scatterv", "reduce")

LEAST_FILE_BYTES = 1 << 20
"""Of what is written to a file system and read from it: with less, starting is what would be timed."""
BITWISE = ("band", "bor")
FLOATING = ("float", "double")
ONE_SIDED_REDUCTIONS = ("replace", "no_op")
VISIBLE_REDUCTIONS = ("sum", "max", "replace")
"""Those whose every operation changes the target's memory, so that a far check sees it."""

DEFAULTS = {
    "timing": "common_clock",
    "buffers": "separate",
    "root": "0",
    "reduction": "sum",
    "compute": "0",
    "far_check": "1",
    "synchronization": "flush",
    "window_memory": "allocate",
    "mode": "streams",
    "duration_ms": "300",
    CONGESTION: UNDER_INCAST,
}
"""What a parameter is when a case does not name it; `datatype` and `pairing` depend on the benchmark, and so do
`buffers`: a ping-pong that names none, as of a run before there was a choice, sent the buffer that it received into."""

ONE_BUFFER_PROGRAMS = ("netpipe", "qperf", "sockperf")
"""Programs whose ping-pong sends the buffer that was received into; of sockperf the server does."""

TOLD_BY_METRIC = ("timing", "compute", "far_check", "buffers")
"""Parameters whose values have metrics of their own: no label has to tell them apart."""


def _collective(name: str) -> Iterable[BenchmarkKind]:
    """Return a collective and its non-blocking form."""
    taken = ["datatype", "buffers"] if name != "barrier" else []
    taken += ["reduction"] if name in REDUCTIONS else []
    taken += ["root"] if name in ROOTED else []
    common = {
        "pattern": GROUP,
        "metrics": ("collective_latency_ns",),
        "has_size": name != "barrier",
        "least_size": 1,
        "datatype": "float" if name in REDUCTIONS else "byte",
        "is_reduction": name in REDUCTIONS,
        "needs_mpi": True,
    }
    yield BenchmarkKind(name, name, parameters=(*taken, "timing"), **common)  # type: ignore[arg-type]
    yield BenchmarkKind(f"i{name}", f"i{name}", parameters=(*taken, "timing", "compute"), **common)  # type: ignore[arg-type]


def _neighbours(name: str) -> BenchmarkKind:
    metrics = (f"{name}_time_ns", f"{name}_bandwidth_bytes_per_s")
    return BenchmarkKind(name, name, GROUP, ("buffers", "timing"), metrics, needs_mpi=True)


def _one_sided(name: str, title: str, parameters: tuple[str, ...] = (), **more: Any) -> BenchmarkKind:
    """Return an operation of one rank on the memory of the other; those that only write have a far check."""
    unit = "bandwidth_bytes_per_s" if name.endswith("bandwidth") else "latency_ns"
    stem = name.rpartition("_")[0]
    unchecked = f"{stem}_local_{unit}" if name.endswith("bandwidth") else f"{stem}_local_completion_ns"
    taken = ("synchronization", "window_memory", *parameters)
    return BenchmarkKind(
        name, title, parameters=taken, metrics=(f"{stem}_{unit}",), has_window=name.endswith("bandwidth"),
        least_size=1, needs_mpi=True, unchecked_metrics=(unchecked,) if "far_check" in parameters else (), **more,
    )  # fmt: skip


_TYPED = ("datatype", "reduction")
_ONE_SIDED = (
    _one_sided("put_latency", "put", ("far_check",)),
    _one_sided("get_latency", "get"),
    _one_sided("accumulate_latency", "accumulate", (*_TYPED, "far_check"), datatype="float", is_reduction=True),
    _one_sided("get_accumulate_latency", "get_accumulate", _TYPED, datatype="float", is_reduction=True),
    _one_sided(
        "fetch_and_op_latency", "fetch_and_op", _TYPED, datatype="int64", is_reduction=True, is_of_one_element=True
    ),
    _one_sided("compare_and_swap_latency", "compare_and_swap", ("datatype",), datatype="int64", is_of_one_element=True),
    _one_sided("put_bandwidth", "put bandwidth", ("far_check",)),
    _one_sided("get_bandwidth", "get bandwidth"),
    _one_sided("put_bidirectional_bandwidth", "bidirectional put bandwidth", ("far_check",)),
)


def _rdma(name: str, title: str, metric_id: str, **more: Any) -> BenchmarkKind:
    """Return an RDMA operation; those of atomics have one size."""
    has_window = name.endswith(("bandwidth", "rate"))
    return BenchmarkKind(
        name, title, metrics=(metric_id,), has_window=has_window, least_size=1, needs_verbs=True, **more
    )


_ATOMIC: dict[str, Any] = {"datatype": "int64", "is_of_one_element": True}
_RDMA = (
    _rdma("write_latency", "RDMA write", "put_latency_ns"),
    _rdma("read_latency", "RDMA read", "get_latency_ns"),
    _rdma("fetch_add_latency", "RDMA fetch-and-add", "fetch_and_op_latency_ns", **_ATOMIC),
    _rdma("compare_swap_latency", "RDMA compare-and-swap", "compare_and_swap_latency_ns", **_ATOMIC),
    _rdma("write_bandwidth", "RDMA write bandwidth", "put_local_bandwidth_bytes_per_s"),
    _rdma("read_bandwidth", "RDMA read bandwidth", "get_bandwidth_bytes_per_s"),
    _rdma("fetch_add_rate", "RDMA fetch-and-add rate", "fetch_and_op_rate_per_s", **_ATOMIC),
)


def _of_hdfs(operation: str) -> BenchmarkKind:
    """Return an operation of TestDFSIO; its size is that of each file."""
    return BenchmarkKind(
        f"hdfs_{operation}", f"HDFS {operation}", SERVICE, layer="hdfs", least_size=LEAST_FILE_BYTES,
        metrics=("hdfs_bandwidth_bytes_per_s", "dfsio_throughput_bytes_per_s", "dfsio_average_io_rate_bytes_per_s"),
    )  # fmt: skip


def _of_hbase(workload: str) -> BenchmarkKind:
    """Return a workload of YCSB; its size is that of a record."""
    latencies = (id_ for operation in WORKLOADS[workload].operations for id_ in latency_ids(operation))
    return BenchmarkKind(
        f"hbase_{workload}", f"HBase {workload.upper() if len(workload) == 1 else workload}", SERVICE, layer="hbase",
        least_size=1, metrics=("ycsb_throughput_per_s", *latencies),
    )  # fmt: skip


BENCHMARKS: dict[str, BenchmarkKind] = {
    kind.name: kind
    for kind in (
        BenchmarkKind(
            "ping_pong", "ping-pong", parameters=("buffers",), metrics=("latency_ns", "ping_pong_bandwidth_bytes_per_s")
        ),
        BenchmarkKind(
            "bandwidth", "bandwidth", parameters=("buffers",), metrics=("bandwidth_bytes_per_s",), has_window=True
        ),
        BenchmarkKind(
            "bidirectional_bandwidth", "bidirectional bandwidth", parameters=("buffers",),
            metrics=("bidirectional_bandwidth_bytes_per_s",), has_window=True,
        ),
        BenchmarkKind("empty", "floor", metrics=("floor_ns",)),
        BenchmarkKind(
            "multi_pair_latency", "multi-pair latency", PAIRS, ("pairing", "buffers"), ("multi_pair_latency_ns",)
        ),
        BenchmarkKind(
            "message_rate", "message rate", PAIRS, ("pairing", "buffers"),
            ("message_rate_per_s", "multi_pair_bandwidth_bytes_per_s"), has_window=True,
        ),
        BenchmarkKind(
            "incast", "incast", GROUP, metrics=("goodput_bytes_per_s", "incast_time_ns"), has_window=True, window=1,
            least_size=1,
        ),
        *STREAM_BENCHMARKS,
        *(_neighbours(name) for name in ("sendrecv", "exchange")),
        *(kind for name in COLLECTIVES for kind in _collective(name)),
        *_ONE_SIDED,
        *_RDMA,
        *(_of_hdfs(operation) for operation in ("write", "read", "append")),
        *(_of_hbase(workload) for workload in WORKLOADS),
        *APPLICATIONS,
    )
}  # fmt: skip


def kind_of(benchmark: str) -> BenchmarkKind:
    """Return what is known of a benchmark; of a plug-in, that it has two ranks, a size and a window."""
    return BENCHMARKS.get(benchmark) or BenchmarkKind(benchmark, benchmark, has_window=True)


def metrics_of(benchmark: str, parameters: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the ids of the metrics of a benchmark with these parameters, the one that is compared first.

    Another timing is another definition, hence another id: `..._barrier`, `..._back_to_back`. So are other buffers:
    `..._separate`, `..._rotating`. With `compute=1` the operation is the start, the computation and the wait together,
    and the metric is the overlap. With `far_check=0` nobody looks whether the data have arrived, and the ids say so.
    """
    given = parameters or {}
    kind = kind_of(benchmark)
    metrics = kind.metrics
    if kind.unchecked_metrics and given.get("far_check", DEFAULTS["far_check"]) == "0":
        metrics = kind.unchecked_metrics
    if given.get("compute", "0") != "0":
        metrics = ("overlap_percent", "overlapped_operation_ns")
    if "buffers" in given:
        metrics = tuple(_of_buffers(metric_id, Buffers(given["buffers"])) for metric_id in metrics)
    timing = given.get("timing", DEFAULTS["timing"])
    if timing != DEFAULTS["timing"]:
        metrics = tuple(f"{metric_id}_{timing}" for metric_id in metrics)
    return metrics


def _of_buffers(metric_id: str, buffers: Buffers) -> str:
    return replace(quantity_of(metric_id), buffers=buffers).metric_id


def sends_what_came(benchmark: str) -> bool:
    """Return whether a benchmark's messages go to and fro, so that what came can be sent again."""
    return quantity_of(kind_of(benchmark).metrics[0]).what in SENDS_WHAT_CAME


def drains_windows(benchmark: str, parameters: Mapping[str, str]) -> bool:
    """Return whether a window has arrived before the next one is sent; free streams of many to one do not wait."""
    return kind_of(benchmark).pattern not in OF_STREAMS or parameters.get("mode", DEFAULTS["mode"]) == "rounds"


def buffers_of(program: str, benchmark: str) -> Buffers:
    """Return the buffers that another program uses in a benchmark."""
    sends_same = program in ONE_BUFFER_PROGRAMS and sends_what_came(benchmark)
    return Buffers.SAME if sends_same else Buffers.SEPARATE


PARAMETERS: dict[str, tuple[tuple[str, ...], str]] = {
    "datatype": (
        tuple(DATATYPE_BYTES),
        "element type; reductions and accumulates have float, fetch_and_op and compare_and_swap int64, the others byte",
    ),
    "reduction": (
        ("sum", "prod", "max", "min", *BITWISE, *ONE_SIDED_REDUCTIONS),
        "operation of reductions and accumulates, replace and no_op of one-sided ones alone; sum",
    ),
    "root": (("0", "rotating"), "root of bcast, gather, scatter, reduce: rank 0, or every rank in turn; 0"),
    "timing": (
        ("common_clock", "barrier", "back_to_back"),
        "first start to last end on a common clock, or as OSU, or as IMB times; common_clock",
    ),
    "buffers": (
        tuple(use.value for use in Buffers),
        "messages are sent from a second buffer that is never written, from the one that was received into (of "
        "messages that go to and fro), or through pools larger than the last-level cache; separate",
    ),
    "pairing": (("half", "neighbour"), "rank i with i + n/2, or 2i with 2i + 1; so that partners are on two hosts"),
    "mode": (
        ("streams", "rounds"),
        "many_to_one, many_to_many: each sender as fast as it can, or all wait for the slowest in each round; streams",
    ),
    CONGESTION: ((UNCONGESTED, UNDER_INCAST), "a victim: while nobody else sends, or beside an incast; both"),
    "compute": (("0", "1"), "1: compute while a non-blocking collective is under way, for the overlap; 0"),
    "synchronization": (("lock", "lock_all", "flush", "fence", "pscw"), "of one-sided operations; flush"),
    "window_memory": (("allocate", "create", "dynamic"), "how the window of one-sided operations is made; allocate"),
    "far_check": (
        ("0", "1"),
        "0: one-sided writes until the origin is told that they are complete, wherever they are; 1",
    ),
}
"""Every parameter of a benchmark in a plan: its values, and what it says (with its default)."""
MEASURES = ("duration_ms", "incast_size_bytes", "victim_traffic_class")
"""Parameters that any number will do for; a plan has words of its own for them, with their units."""


def choices_of(parameter: str, benchmark: str) -> tuple[str, ...]:
    """Return the values of a parameter that a benchmark can have: one-sided reductions are no collective's."""
    choices, _ = PARAMETERS[parameter]
    if parameter == "buffers" and not sends_what_came(benchmark):
        return tuple(choice for choice in choices if choice != Buffers.SAME.value)
    if parameter != "reduction" or kind_of(benchmark) in _ONE_SIDED:
        return choices
    return tuple(choice for choice in choices if choice not in ONE_SIDED_REDUCTIONS)


def parameter_label(name: str, value: str) -> str:
    """Return how a curve is called by a swept parameter: `double`, `sum`, `root rotating`."""
    return value if name in ("datatype", "reduction") else f"{name.replace('_', ' ')} {value}"


def is_possible(parameters: Mapping[str, str], kind: BenchmarkKind) -> bool:
    """Return whether MPI has the operation, and whether it can be timed as it is asked for."""
    datatype = parameters.get("datatype", kind.datatype)
    if kind.name == "compare_and_swap_latency" and datatype in FLOATING:
        return False
    checked = bool(kind.unchecked_metrics) and parameters.get("far_check", DEFAULTS["far_check"]) == "1"
    if kind.name == "put_bidirectional_bandwidth" and not checked:
        return parameters.get("synchronization", DEFAULTS["synchronization"]) in ("fence", "pscw")
    return not kind.is_reduction or _is_reducible(datatype, parameters, kind, checked)


def _is_reducible(datatype: str, parameters: Mapping[str, str], kind: BenchmarkKind, checked: bool) -> bool:
    """Return whether the reduction goes with the datatype: no bits of floats, no sums of bytes."""
    reduction = parameters.get("reduction", DEFAULTS["reduction"])
    if checked and reduction not in VISIBLE_REDUCTIONS:
        return False
    if reduction in ONE_SIDED_REDUCTIONS:
        return kind in _ONE_SIDED and (reduction == "replace" or kind.name != "accumulate_latency")
    return datatype not in FLOATING if reduction in BITWISE else datatype != "byte"
