"""The definition of every metric that fabriscope prints; docs/metrics.md explains them at length.

Two numbers may be compared when their metric ids are equal, and otherwise only after a stated conversion.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One definition: the quantity, its unit, and how it is observed."""

    metric_id: str
    title: str
    unit: str
    """The stored unit: `ns` or `bytes_per_s`."""
    larger_is_better: bool
    definition: str


METRICS = {
    metric.metric_id: metric
    for metric in (
        Metric(
            "latency_ns", "Latency", "ns", False,
            "half of the round trip of a ping-pong, as the median over a launch's operations",
        ),
        Metric(
            "ping_pong_bandwidth_bytes_per_s", "Ping-pong bandwidth", "bytes_per_s", True,
            "message size over half of the round trip of a ping-pong",
        ),
        Metric(
            "bandwidth_bytes_per_s", "Bandwidth", "bytes_per_s", True,
            "window_size messages sent at once and answered by 4 bytes: their bytes over the time until the answer",
        ),
        Metric(
            "bidirectional_bandwidth_bytes_per_s", "Bidirectional bandwidth", "bytes_per_s", True,
            "window_size messages each way at once: the bytes of both directions over the time until all arrived",
        ),
        # What other programs state, where it is not one of ours (docs/peers.md).
        Metric(
            "latency_ns_mean", "Mean latency", "ns", False,
            "half of the round trip of a ping-pong, as the mean over a launch's operations (IMB, qperf)",
        ),
        Metric(
            "latency_ns_least_mean", "Least mean latency", "ns", False,
            "half of the round trip of a ping-pong, as the least of the means of three trials (NetPIPE)",
        ),
        Metric(
            "ping_pong_bandwidth_bytes_per_s_mean", "Ping-pong bandwidth, mean", "bytes_per_s", True,
            "message size over latency_ns_mean",
        ),
        Metric(
            "ping_pong_bandwidth_bytes_per_s_least_mean", "Ping-pong bandwidth, best mean", "bytes_per_s", True,
            "message size over latency_ns_least_mean",
        ),
        Metric(
            "stream_bandwidth_bytes_per_s", "Stream bandwidth", "bytes_per_s", True,
            "messages sent one after another and never answered: the bytes that arrived, over the time (iperf3, qperf)",
        ),
        Metric(
            "sent_bandwidth_bytes_per_s", "Sent bandwidth", "bytes_per_s", True,
            "messages sent one after another and never answered: the bytes that the sender's system took, over the "
            "time, whether they arrived or not (sockperf)",
        ),
        Metric(
            "operation_time_ns", "Time per operation", "ns", False,
            "time of one operation of a benchmark that has no metric of its own (a plug-in), as its author defines it",
        ),
        Metric(
            "floor_ns", "Floor", "ns", False,
            "time per operation that does nothing (benchmark empty): what recording itself costs",
        ),
    )
}  # fmt: skip

# The metrics that the recorded operations of a benchmark are turned into; other benchmarks have operation_time_ns.
BENCHMARK_METRICS: dict[str, tuple[str, ...]] = {
    "ping_pong": ("latency_ns", "ping_pong_bandwidth_bytes_per_s"),
    "bandwidth": ("bandwidth_bytes_per_s",),
    "bidirectional_bandwidth": ("bidirectional_bandwidth_bytes_per_s",),
    "empty": ("floor_ns",),
}


def metrics_of(benchmark: str) -> tuple[str, ...]:
    """Return the ids of the metrics of a benchmark, known or a plug-in."""
    return BENCHMARK_METRICS.get(benchmark, ("operation_time_ns",))


def metric_value(metric_id: str, operation_ns: float, message_size_bytes: int, window_size: int) -> float:
    """Return the metric of one operation that took `operation_ns` (round trip, window, or nothing).

    Rates of a zero time are NaN. Raises KeyError for a metric id that is not derived from an operation's time.
    """
    if metric_id == "latency_ns":
        return operation_ns / 2
    if metric_id in ("floor_ns", "operation_time_ns"):
        return operation_ns
    bytes_moved = {
        "ping_pong_bandwidth_bytes_per_s": 2 * message_size_bytes,
        "bandwidth_bytes_per_s": message_size_bytes * window_size,
        "bidirectional_bandwidth_bytes_per_s": 2 * message_size_bytes * window_size,
    }[metric_id]
    return bytes_moved * 1e9 / operation_ns if operation_ns > 0 else float("nan")
