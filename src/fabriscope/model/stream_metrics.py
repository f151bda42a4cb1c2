"""Metrics of many-to-one streams: of what arrived when, and not of how long an operation took."""

from __future__ import annotations

from fabriscope.model.metric import ONE_WAY, SENDERS, TO_ONE, Metric, Moves, rate_metric, time_metric
from fabriscope.model.quantity import UNITS, Direction, Operations, Quantity, Ranks

OF_STREAMS = (
    rate_metric(
        "aggregate", "Aggregate",
        "all streams together: the bytes that had arrived within the time for which all senders sent, from "
        "the first sender's start, over that time", TO_ONE, Moves(1, is_window=True, flows=SENDERS), ranks=Ranks.SPAN,
    ),
    rate_metric(
        "slowest_stream", "Slowest stream", "the least of what one stream had of that", Direction.NONE,
        ranks=Ranks.LEAST,
    ),
    Metric(
        Quantity("fairness", UNITS["ratio"], ranks=Ranks.SPAN), "Fairness",
        "Jain's index of the streams' rates, (sum x)^2 / (n sum x^2): 1 where all have the same, 1/n where one has all "
        "(Jain, Chiu, Hawe, DEC-TR-301, 1984)", limit=1,
    ),
    rate_metric(
        "one_to_many_bandwidth", "One-to-many bandwidth",
        "rank 0 sends window_size messages to every other rank at once: their bytes over the time until all of them "
        "have answered", Direction.FROM_ONE, Moves(1, is_window=True, flows=SENDERS), ranks=Ranks.SPAN,
    ),
    time_metric(
        "victim_latency", "Latency of a victim",
        "half of a round trip between ranks 0 and 1, the mean of all operations (a pause holds up few of them for "
        "long), while rank 2 receives from all others (congestion incast) or nobody else sends (none)", ONE_WAY, 2,
        operations=Operations.ALL,
    ),
    rate_metric(
        "victim_bandwidth", "Bandwidth of a victim",
        "windows from rank 0 to rank 1 over the time until the answer to each has arrived, beside an incast or without "
        "it", ONE_WAY, Moves(1, is_window=True),
    ),
)  # fmt: skip
