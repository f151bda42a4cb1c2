"""The metrics of services that launches start: HDFS."""

from __future__ import annotations

from fabriscope.model.metric import Metric, rate_metric
from fabriscope.model.quantity import Direction, Operations, Ranks

SERVICE_METRICS: tuple[Metric, ...] = (
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
