"""Metrics of many-to-one streams: of what arrived when, and not of how long an operation took."""

from __future__ import annotations

from fabriscope.model.metric import SENDERS, TO_ONE, Metric, Moves, rate_metric
from fabriscope.model.quantity import UNITS, Direction, Quantity, Ranks

OF_STREAMS = (
    rate_metric(
        "aggregate", "Aggregate",
        "all streams to rank 0 together: the bytes that had arrived within the time for which all senders sent, from "
        "the first sender's start, over that time", TO_ONE, Moves(1, is_window=True, flows=SENDERS), ranks=Ranks.SPAN,
    ),
    rate_metric(
        "slowest_stream", "Slowest stream", "the least of what one stream had of that", Direction.NONE,
        ranks=Ranks.LEAST,
    ),
    Metric(
        Quantity("fairness", UNITS["ratio"], ranks=Ranks.SPAN), "Fairness",
        "Jain's index of the streams' rates, (sum x)^2 / (n sum x^2): 1 where all have the same, 1/n where one has all "
        "(Jain, Chiu, Hawe, DEC-TR-301, 1984)",
    ),
)  # fmt: skip
