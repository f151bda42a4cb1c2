"""The definition of every metric that fabriscope prints; docs/metrics.md explains them at length.

Two numbers may be compared when their metric ids are equal, and otherwise only after a stated conversion.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.model.benchmarks import BENCHMARKS, metrics_of
from fabriscope.model.quantity import TIME, UNITS, Unit, unit_at_end

__all__ = ["MEAN_METRICS", "METRICS", "Metric", "metric_value", "metrics_of", "unit_of"]

TIMINGS = {
    "_barrier": (
        "after a barrier",
        "but timed as OSU does: a barrier, then each rank times its own call; the mean over the ranks",
    ),
    "_back_to_back": (
        "back to back",
        "but timed as IMB does: each rank times its own calls, one right after the other; the mean over the ranks",
    ),
}
"""Ends of the ids of operations of several ranks that are not timed on the common clock: title and definition."""


@dataclass(frozen=True)
class Metric:
    """One definition: the quantity, its unit, and how it is observed."""

    metric_id: str
    title: str
    unit: str
    """The name of the stored unit."""
    larger_is_better: bool
    definition: str


_BASE = (
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
    # Pairs of ranks, all at once.
    Metric(
        "multi_pair_latency_ns", "Multi-pair latency", "ns", False,
        "half of the round trip of ping-pongs that all pairs play at once: the mean over the pairs, then the median",
    ),
    Metric(
        "message_rate_per_s", "Message rate", "per_s", True,
        "every pair sends window_size messages, answered by 4 bytes: the messages of all pairs over the time until the "
        "last pair has finished",
    ),
    Metric(
        "multi_pair_bandwidth_bytes_per_s", "Multi-pair bandwidth", "bytes_per_s", True,
        "the bytes of all pairs' messages over that same time",
    ),
    # Many to one.
    Metric(
        "goodput_bytes_per_s", "Goodput", "bytes_per_s", True,
        "rank 0 asks all others at once, each answers by window_size messages: their bytes over the time until all "
        "have arrived",
    ),
    Metric(
        "incast_time_ns", "Incast time", "ns", False,
        "one such round: from when rank 0 begins to post its receives, before its first question, until the last "
        "answer has arrived",
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
        "bidirectional_stream_bandwidth_bytes_per_s", "Bidirectional stream bandwidth", "bytes_per_s", True,
        "as stream_bandwidth_bytes_per_s, both ways at once: the bytes of both directions (perftest)",
    ),
    Metric(
        "put_stream_bandwidth_bytes_per_s", "Put stream bandwidth", "bytes_per_s", True,
        "puts one after another, so many under way at a time and never none: their bytes over the time until the last "
        "is known to be complete (perftest; IMB-RMA, which has all of them under way)",
    ),
    Metric(
        "get_stream_bandwidth_bytes_per_s", "Get stream bandwidth", "bytes_per_s", True,
        "as put_stream_bandwidth_bytes_per_s, with gets (perftest, IMB-RMA)",
    ),
    Metric(
        "fetch_and_op_stream_rate_per_s", "Fetch-and-op stream rate", "per_s", True,
        "as put_stream_bandwidth_bytes_per_s, with fetch_and_ops: their number over the time (perftest)",
    ),
    Metric(
        "rdma_ping_time_ns_mean", "Mean RDMA ping", "ns", False,
        "rank 1 reads a message from rank 0's memory and writes it back there, each told by messages before and after: "
        "the time of many such pings less that of one, over their number (rping)",
    ),
    Metric(
        "operation_time_ns", "Time per operation", "ns", False,
        "time of one operation of a benchmark that has no metric of its own (a plug-in), as its author defines it",
    ),
    Metric(
        "floor_ns", "Floor", "ns", False,
        "time per operation that does nothing (benchmark empty): what recording itself costs",
    ),
)  # fmt: skip

# Operations of all ranks at once: each is defined once for every timing.
_GROUP = (
    Metric(
        "collective_latency_ns", "Collective latency", "ns", False,
        "from the first rank's start to the last rank's end",
    ),
    Metric(
        "sendrecv_time_ns", "Sendrecv time", "ns", False,
        "every rank sends to the next and receives from the one before: from the first rank's start to the last "
        "rank's end",
    ),
    Metric(
        "sendrecv_bandwidth_bytes_per_s", "Sendrecv bandwidth", "bytes_per_s", True,
        "twice the message size (one sent, one received, as IMB counts) over sendrecv_time_ns",
    ),
    Metric(
        "exchange_time_ns", "Exchange time", "ns", False,
        "every rank exchanges messages with both neighbours: from the first rank's start to the last rank's end",
    ),
    Metric(
        "exchange_bandwidth_bytes_per_s", "Exchange bandwidth", "bytes_per_s", True,
        "four times the message size (two sent, two received, as IMB counts) over exchange_time_ns",
    ),
    Metric(
        "overlap_percent", "Overlap", "percent", True,
        "share of a non-blocking operation that computing hides: 100 (1 - (total - compute) / pure), not below 0, "
        "where total is start, compute and wait together, compute the computation alone, pure the operation alone",
    ),
    Metric(
        "overlapped_operation_ns", "Operation and computation", "ns", False,
        "start of a non-blocking operation, a computation as long as the operation alone, and the wait",
    ),
)  # fmt: skip


# One rank's operations on the other's memory.
_ONE_SIDED = (
    Metric(
        "put_latency_ns", "Put latency", "ns", False,
        "half of the time in which rank 1 sees a put in its memory and answers by one that rank 0 sees in its own",
    ),
    Metric(
        "put_local_completion_ns", "Put, local completion", "ns", False,
        "put and synchronization until rank 0 is told that the put is complete, whether it has arrived or not (OSU)",
    ),
    Metric(
        "get_latency_ns", "Get latency", "ns", False,
        "get and synchronization until rank 0 has what stood in rank 1's memory",
    ),
    Metric(
        "accumulate_latency_ns", "Accumulate latency", "ns", False,
        "as put_latency_ns, with accumulates",
    ),
    Metric(
        "accumulate_local_completion_ns", "Accumulate, local completion", "ns", False,
        "as put_local_completion_ns, with an accumulate",
    ),
    Metric(
        "get_accumulate_latency_ns", "Get-accumulate latency", "ns", False,
        "get_accumulate and synchronization until rank 0 has what stood in rank 1's memory",
    ),
    Metric(
        "fetch_and_op_latency_ns", "Fetch-and-op latency", "ns", False,
        "fetch_and_op of one element and synchronization until rank 0 has what stood in rank 1's memory",
    ),
    Metric(
        "compare_and_swap_latency_ns", "Compare-and-swap latency", "ns", False,
        "compare_and_swap of one element, which succeeds, and synchronization until rank 0 has what stood there",
    ),
    Metric(
        "fetch_and_op_rate_per_s", "Fetch-and-op rate", "per_s", True,
        "window_size fetch_and_ops of one element: their number over the time until rank 0 has what all of them found",
    ),
    Metric(
        "put_bandwidth_bytes_per_s", "Put bandwidth", "bytes_per_s", True,
        "window_size puts, answered by 4 bytes once rank 1 sees them all: their bytes over the time until the answer",
    ),
    Metric(
        "put_local_bandwidth_bytes_per_s", "Put bandwidth, local completion", "bytes_per_s", True,
        "the bytes of window_size puts over the time until rank 0 is told that they are complete (OSU)",
    ),
    Metric(
        "get_bandwidth_bytes_per_s", "Get bandwidth", "bytes_per_s", True,
        "the bytes of window_size gets over the time until rank 0 has them all",
    ),
    Metric(
        "put_bidirectional_bandwidth_bytes_per_s", "Bidirectional put bandwidth", "bytes_per_s", True,
        "window_size puts each way at once: the bytes of both directions over the time until each rank has seen the "
        "other's in its memory",
    ),
    Metric(
        "put_bidirectional_local_bandwidth_bytes_per_s", "Bidirectional put bandwidth, local completion", "bytes_per_s",
        True,
        "window_size puts each way at once: the bytes of both directions over the time until rank 0 is told that they "
        "are complete (OSU)",
    ),
)  # fmt: skip


def _timed_otherwise(metric: Metric) -> list[Metric]:
    """Return what the other timings give; other numbers, never compared with the first."""
    return [
        Metric(
            f"{metric.metric_id}{end}", f"{metric.title} {title}", metric.unit, metric.larger_is_better,
            f"as {metric.metric_id}, {how}",
        )
        for end, (title, how) in TIMINGS.items()
    ]  # fmt: skip


_OF_RANKS = {
    "mean": "the mean over the ranks",
    "least_rank_mean": "the rank with the least",
    "most_rank_mean": "the rank with the most",
}


def _stated(metric: Metric) -> list[Metric]:
    """Return what IMB states of a time of all ranks: each rank's mean over its operations, then one number of them."""
    return [
        Metric(
            f"{metric.metric_id}{end}_{of_ranks}", f"{metric.title} {title}, {of_ranks.replace('_', ' ')}",
            metric.unit, False,
            f"each rank's mean over its own calls, timed as for {metric.metric_id}{end}; {which} (IMB)",
        )
        for end, (title, _) in TIMINGS.items()
        for of_ranks, which in _OF_RANKS.items()
    ]  # fmt: skip


_MEANS = [
    Metric(
        f"{one.metric_id}_mean", f"{one.title}, mean", one.unit, False,
        f"as {one.metric_id}, as the mean over a launch's operations (perftest, IMB-RMA)",
    )
    for one in _ONE_SIDED
    if one.unit == "ns"
]  # fmt: skip
_OVERLAPS = [
    Metric(
        f"overlap_percent{end}_most_rank", f"Overlap {title}, the slowest rank's", "percent", True,
        "of the rank whose operation and computation take longest: 100 (pure + compute - total) over the larger of "
        f"pure and compute, not below 0 nor above 100; each its mean, timed as for overlap_percent{end} (IMB-NBC)",
    )
    for end, (title, _) in TIMINGS.items()
]  # fmt: skip
_ALL = [*_BASE[:9], *(one for metric in _GROUP for one in (metric, *_timed_otherwise(metric))), *_ONE_SIDED, *_BASE[9:]]
_ALL += [one for metric in _GROUP if metric.unit == "ns" for one in _stated(metric)]
_ALL += [*_MEANS, *_OVERLAPS]
METRICS = {metric.metric_id: metric for metric in _ALL}


def unit_of(metric_id: str) -> Unit:
    """Return the stored unit of a metric, of one that is not defined here by the end of its id.

    Raises FabriscopeError for an id that names no unit that is known.
    """
    if metric_id in METRICS:
        return UNITS[METRICS[metric_id].unit]
    return unit_at_end(base_of(metric_id))


def base_of(metric_id: str) -> str:
    """Return the id without the end that names a timing."""
    return next((metric_id.removesuffix(end) for end in TIMINGS if metric_id.endswith(end)), metric_id)


_HALVES = ("latency_ns", "multi_pair_latency_ns", "put_latency_ns", "accumulate_latency_ns")
_BYTES_PER_OPERATION = {
    "ping_pong_bandwidth_bytes_per_s": 2,
    "sendrecv_bandwidth_bytes_per_s": 2,
    "exchange_bandwidth_bytes_per_s": 4,
}
"""In messages."""
_WINDOWS_PER_OPERATION = {
    "bandwidth_bytes_per_s": 1,
    "bidirectional_bandwidth_bytes_per_s": 2,
    "put_bandwidth_bytes_per_s": 1,
    "put_local_bandwidth_bytes_per_s": 1,
    "get_bandwidth_bytes_per_s": 1,
    "put_bidirectional_bandwidth_bytes_per_s": 2,
    "put_bidirectional_local_bandwidth_bytes_per_s": 2,
}
MEAN_METRICS = (
    *_WINDOWS_PER_OPERATION, "multi_pair_bandwidth_bytes_per_s", "message_rate_per_s", "fetch_and_op_rate_per_s",
    "goodput_bytes_per_s",
)  # fmt: skip
"""All bytes over all time (harmonic mean); all others are taken from the median over the burst medians."""


def metric_value(
    metric_id: str,
    operation_ns: float,
    message_size_bytes: int,
    window_size: int,
    pair_count: int = 1,
    sender_count: int = 1,
) -> float:
    """Return the metric of one operation that took `operation_ns` (round trip, window, or nothing).

    Rates of a zero time are NaN. Raises KeyError for a metric id that is not derived from an operation's time.
    """
    base = base_of(metric_id)
    if base in _HALVES:
        return operation_ns / 2
    if unit_of(base).kind == TIME and base in _DERIVED:
        return operation_ns
    moved = {
        **{name: count * message_size_bytes for name, count in _BYTES_PER_OPERATION.items()},
        **{name: count * message_size_bytes * window_size for name, count in _WINDOWS_PER_OPERATION.items()},
        "multi_pair_bandwidth_bytes_per_s": pair_count * message_size_bytes * window_size,
        "message_rate_per_s": pair_count * window_size,
        "goodput_bytes_per_s": sender_count * message_size_bytes * window_size,
        "fetch_and_op_rate_per_s": window_size,
    }[base]
    return moved * 1e9 / operation_ns if operation_ns > 0 else float("nan")


_DERIVED = {one for kind in BENCHMARKS.values() for one in (*kind.metrics, *kind.unchecked_metrics)} | {
    "operation_time_ns",
    "overlapped_operation_ns",
}


def overlap_percent(total_ns: float, compute_ns: float, pure_ns: float) -> float:
    """Return the share of a non-blocking operation that the computation hid, in percent.

    As the OSU benchmarks define it: max(0, 100 (1 - (total - compute) / pure)). NaN where pure is 0.
    """
    return max(0.0, 100.0 * (1 - (total_ns - compute_ns) / pure_ns)) if pure_ns > 0 else float("nan")
