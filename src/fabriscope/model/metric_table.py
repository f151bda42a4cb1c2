"""The table of all metrics; docs/metrics.md explains them at length. `metrics.py` is what others ask."""

from dataclasses import replace

from fabriscope.model.application_metrics import APPLICATION_METRICS
from fabriscope.model.metric import (
    BOTH_WAYS,
    LOCAL,
    NS,
    ONE_WAY,
    PAIRS,
    PERCENT,
    SENDERS,
    THERE_AND_BACK,
    TIMINGS,
    TO_ONE,
    Metric,
    Moves,
    rate_metric,
    time_metric,
)
from fabriscope.model.metric_buffers import from_elsewhere
from fabriscope.model.metric_services import SERVICE_METRICS
from fabriscope.model.program_metrics import PROGRAM_METRICS
from fabriscope.model.quantity import Direction, Operations, Quantity, Ranks, Timing
from fabriscope.model.stream_metrics import OF_STREAMS

_WINDOW = Moves(is_window=True)
_OF_PAIRS = (
    time_metric(
        "latency", "Latency, one buffer",
        "half of the round trip of a ping-pong, as the median over a launch's operations; each side sends the buffer "
        "that it received into (NetPIPE, qperf)", ONE_WAY, 2,
    ),
    rate_metric(
        "ping_pong_bandwidth", "Ping-pong bandwidth, one buffer",
        "message size over half of the round trip of a ping-pong", ONE_WAY, Moves(2),
    ),
    rate_metric(
        "bandwidth", "Bandwidth",
        "window_size messages sent at once and answered by 4 bytes: their bytes over the time until the answer",
        ONE_WAY, _WINDOW,
    ),
    rate_metric(
        "bidirectional_bandwidth", "Bidirectional bandwidth",
        "window_size messages each way at once: the bytes of both directions over the time until all arrived",
        BOTH_WAYS, Moves(2, is_window=True),
    ),
    # Pairs of ranks, all at once.
    time_metric(
        "multi_pair_latency", "Multi-pair latency, one buffer",
        "half of the round trip of ping-pongs that all pairs play at once: the mean over the pairs, then the median",
        ONE_WAY, 2, ranks=Ranks.MEAN,
    ),
    rate_metric(
        "message_rate", "Message rate",
        "every pair sends window_size messages, answered by 4 bytes: the messages of all pairs over the time until the "
        "last pair has finished", ONE_WAY, Moves(1, is_window=True, flows=PAIRS), counted="messages",
        ranks=Ranks.SPAN,
    ),
    rate_metric(
        "multi_pair_bandwidth", "Multi-pair bandwidth",
        "the bytes of all pairs' messages over that same time", ONE_WAY, Moves(1, is_window=True, flows=PAIRS),
        ranks=Ranks.SPAN,
    ),
    # Many to one.
    rate_metric(
        "goodput", "Goodput",
        "rank 0 asks all others at once, each answers by window_size messages: their bytes over the time until all "
        "have arrived", TO_ONE, Moves(1, is_window=True, flows=SENDERS), ranks=Ranks.SPAN,
    ),
    time_metric(
        "incast_time", "Incast time",
        "one such round: from when rank 0 begins to post its receives, before its first question, until the last "
        "answer has arrived", TO_ONE, ranks=Ranks.SPAN,
    ),
)  # fmt: skip

# Operations of all ranks at once: each is defined once for every timing.
_OF_GROUPS = tuple(
    replace(metric, quantity=replace(metric.quantity, ranks=Ranks.SPAN, timing=Timing.COMMON_CLOCK))
    for metric in (
    time_metric("collective_latency", "Collective latency", "from the first rank's start to the last rank's end"),
    time_metric(
        "sendrecv_time", "Sendrecv time",
        "every rank sends to the next and receives from the one before: from the first rank's start to the last "
        "rank's end"
    ),
    rate_metric(
        "sendrecv_bandwidth", "Sendrecv bandwidth",
        "twice the message size (one sent, one received, as IMB counts) over sendrecv_time_ns",
        Direction.NONE, Moves(2),
    ),
    time_metric(
        "exchange_time", "Exchange time",
        "every rank exchanges messages with both neighbours: from the first rank's start to the last rank's end",
    ),
    rate_metric(
        "exchange_bandwidth", "Exchange bandwidth",
        "four times the message size (two sent, two received, as IMB counts) over exchange_time_ns",
        Direction.NONE, Moves(4),
    ),
    Metric(
        Quantity("overlap", PERCENT), "Overlap",
        "share of a non-blocking operation that computing hides: 100 (1 - (total - compute) / pure), not below 0, "
        "where total is start, compute and wait together, compute the computation alone, pure the operation alone",
    ),
    time_metric(
        "overlapped_operation", "Operation and computation",
        "start of a non-blocking operation, a computation as long as the operation alone, and the wait"
    ),
    )
)  # fmt: skip

# One rank's operations on the other's memory.
_ONE_SIDED = (
    time_metric(
        "put_latency", "Put latency",
        "half of the time in which rank 1 sees a put in its memory and answers by one that rank 0 sees in its own",
        ONE_WAY, 2,
    ),
    time_metric(
        "put_local_completion", "Put, local completion",
        "put and synchronization until rank 0 is told that the put is complete, whether it has arrived or not (OSU)",
        ONE_WAY, completion=LOCAL,
    ),
    time_metric(
        "get_latency", "Get latency",
        "get and synchronization until rank 0 has what stood in rank 1's memory", THERE_AND_BACK,
    ),
    time_metric("accumulate_latency", "Accumulate latency", "as put_latency_ns, with accumulates", ONE_WAY, 2),
    time_metric(
        "accumulate_local_completion", "Accumulate, local completion",
        "as put_local_completion_ns, with an accumulate", ONE_WAY, completion=LOCAL,
    ),
    time_metric(
        "get_accumulate_latency", "Get-accumulate latency",
        "get_accumulate and synchronization until rank 0 has what stood in rank 1's memory", THERE_AND_BACK,
    ),
    time_metric(
        "fetch_and_op_latency", "Fetch-and-op latency",
        "fetch_and_op of one element and synchronization until rank 0 has what stood in rank 1's memory",
        THERE_AND_BACK,
    ),
    time_metric(
        "compare_and_swap_latency", "Compare-and-swap latency",
        "compare_and_swap of one element, which succeeds, and synchronization until rank 0 has what stood there",
        THERE_AND_BACK,
    ),
    rate_metric(
        "fetch_and_op_rate", "Fetch-and-op rate",
        "window_size fetch_and_ops of one element: their number over the time until rank 0 has what all of them found",
        THERE_AND_BACK, _WINDOW, counted="operations",
    ),
    rate_metric(
        "put_bandwidth", "Put bandwidth",
        "window_size puts, answered by 4 bytes once rank 1 sees them all: their bytes over the time until the answer",
        ONE_WAY, _WINDOW,
    ),
    rate_metric(
        "put_local_bandwidth", "Put bandwidth, local completion",
        "the bytes of window_size puts over the time until rank 0 is told that they are complete (OSU)",
        ONE_WAY, _WINDOW, completion=LOCAL,
    ),
    rate_metric(
        "get_bandwidth", "Get bandwidth", "the bytes of window_size gets over the time until rank 0 has them all",
        THERE_AND_BACK, _WINDOW,
    ),
    rate_metric(
        "put_bidirectional_bandwidth", "Bidirectional put bandwidth",
        "window_size puts each way at once: the bytes of both directions over the time until each rank has seen the "
        "other's in its memory", BOTH_WAYS, Moves(2, is_window=True),
    ),
    rate_metric(
        "put_bidirectional_local_bandwidth", "Bidirectional put bandwidth, local completion",
        "window_size puts each way at once: the bytes of both directions over the time until rank 0 is told that they "
        "are complete (OSU)", BOTH_WAYS, Moves(2, is_window=True), completion=LOCAL,
    ),
)  # fmt: skip


def _timed_otherwise(metric: Metric) -> list[Metric]:
    """Return what the other timings give; other numbers, never compared with the first."""
    return [
        replace(
            metric, quantity=replace(metric.quantity, timing=timing, ranks=Ranks.MEAN), title=f"{metric.title} {title}",
            definition=f"as {metric.metric_id}, {how}",
        )
        for timing, (title, how) in TIMINGS.items()
    ]  # fmt: skip


_OF_RANKS = {
    Ranks.MEAN: ("mean", "the mean over the ranks"),
    Ranks.LEAST: ("least rank mean", "the rank with the least"),
    Ranks.MOST: ("most rank mean", "the rank with the most"),
}


def _stated(metric: Metric) -> list[Metric]:
    """Return what IMB states of a time of all ranks: each rank's mean over its operations, then one number of them."""
    return [
        Metric(
            replace(timed.quantity, operations=Operations.MEAN, ranks=ranks), f"{timed.title}, {title}",
            f"each rank's mean over its own calls, timed as for {timed.metric_id}; {which} (IMB)",
        )
        for timed in _timed_otherwise(metric)
        for ranks, (title, which) in _OF_RANKS.items()
    ]  # fmt: skip


_MEANS = [
    Metric(
        replace(metric.quantity, operations=Operations.MEAN), f"{metric.title}, mean",
        f"as {metric.metric_id}, as the mean over a launch's operations (perftest, IMB-RMA)",
    )
    for metric in _ONE_SIDED if metric.unit is NS
]  # fmt: skip
_OVERLAPS = [
    Metric(
        replace(timed.quantity, operations=Operations.OF_MEANS, ranks=Ranks.MOST), f"{timed.title}, the slowest rank's",
        "of the rank whose operation and computation take longest: 100 (pure + compute - total) over the larger of "
        f"pure and compute, not below 0 nor above 100; each its mean, timed as for {timed.metric_id} (IMB-NBC)",
    )
    for metric in _OF_GROUPS if metric.unit is PERCENT
    for timed in _timed_otherwise(metric)
]  # fmt: skip
_OVERLAPS += [
    Metric(
        replace(timed.quantity, operations=Operations.OF_MEANS), f"{timed.title}, of means",
        f"as {metric.metric_id}, of total, compute and pure each the mean over the ranks' means (OSU)",
    )
    for metric in _OF_GROUPS if metric.unit is PERCENT
    for timed in _timed_otherwise(metric)
]  # fmt: skip
_ALL = [
    *_OF_PAIRS,
    *(timed for metric in _OF_GROUPS for timed in (metric, *_timed_otherwise(metric))),
    *_ONE_SIDED,
    *PROGRAM_METRICS,
    *(stated for metric in _OF_GROUPS if metric.unit is NS for stated in _stated(metric)),
    *_MEANS,
    *_OVERLAPS,
    *from_elsewhere(_OF_PAIRS, _OF_GROUPS, PROGRAM_METRICS, _timed_otherwise),
    *OF_STREAMS,
]
METRICS = {metric.metric_id: metric for metric in (*_ALL, *SERVICE_METRICS, *APPLICATION_METRICS)}
