"""The metrics of services that launches start: HDFS and HBase."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.metric import Metric, rate_metric, time_metric
from fabriscope.model.quantity import Direction, Operations, Ranks
from fabriscope.model.ycsb_workloads import OPERATIONS

_TAKEN = {Operations.MEDIAN: "median", Operations.P99: "99th percentile", Operations.P99_9: "99.9th percentile"}


def latency_ids(operation: str) -> tuple[str, ...]:
    """Return the ids of the metrics of a kind of operation of YCSB, those from its intended start last."""
    return tuple(metric.metric_id for metric in _latencies(operation))


def _latencies(operation: str) -> Iterator[Metric]:
    words = operation.replace("_", "-")
    for what, title, since in (
        ("latency", "latency", "from the call's start"),
        (
            "intended_latency", "latency from the intended start",
            "from when it should have started by the target rate, whether or not the one before it was over",
        ),
    ):  # fmt: skip
        for operations, taken in _TAKEN.items():
            yield time_metric(
                f"ycsb_{operation}_{what}", f"YCSB {words} {title}, {taken}",
                f"one {words} {since} until its answer: the {taken} over all of a run's, by YCSB's HdrHistogram",
                operations=operations,
            )  # fmt: skip


_HDFS_METRICS: tuple[Metric, ...] = (
    rate_metric(
        "hdfs_bandwidth", "HDFS bandwidth",
        "the bytes of all files over the time in which the tasks ran, from when the first file is open until the last "
        "one is closed; replicas are not counted", Direction.NONE, ranks=Ranks.SPAN,
    ),
    rate_metric(
        "dfsio_throughput", "TestDFSIO throughput",
        "the bytes of all files over the sum of the times of all tasks: that of one task (TestDFSIO, Throughput)",
        Direction.NONE, operations=Operations.ALL,
    ),
    rate_metric(
        "dfsio_average_io_rate", "TestDFSIO average IO rate",
        "the mean over the tasks of each one's bytes over its time (TestDFSIO, Average IO rate)", Direction.NONE,
        operations=Operations.ALL,
    ),
)  # fmt: skip
SERVICE_METRICS = (
    *_HDFS_METRICS,
    rate_metric(
        "ycsb_throughput", "YCSB throughput", "all operations of all threads over the time of the run (YCSB, OVERALL)",
        Direction.NONE, operations=Operations.ALL, counted="operations",
    ),
    *(metric for operation in OPERATIONS for metric in _latencies(operation)),
)  # fmt: skip
