"""The same metrics of messages that come from other memory: other numbers, never compared with the first."""

from __future__ import annotations

from dataclasses import replace

from fabriscope.model.metric import Metric
from fabriscope.model.quantity import SENDS_WHAT_CAME, Buffers

SOURCES = {
    Buffers.SAME: ("one buffer", "each side sends the buffer that it received into (NetPIPE, qperf)"),
    Buffers.SEPARATE: ("separate buffers", "sent from a second buffer that is never written (OSU, IMB)"),
    Buffers.ROTATING: (
        "rotating buffers",
        "every message comes from the next place of a pool larger than the last-level cache, and goes to the next of "
        "another one",
    ),
}
"""From which memory messages come: title and definition."""
_OF_ONE_KIND = ("goodput", "incast_time")


def from_elsewhere(metric: Metric) -> list[Metric]:
    """Return a metric of our engine by the buffers that its id does not name."""
    what = metric.quantity.what
    if what in _OF_ONE_KIND:
        return []
    if what in SENDS_WHAT_CAME:
        return [_sent_from(metric, Buffers.SEPARATE), _sent_from(metric, Buffers.ROTATING)]
    return [_sent_from(metric, Buffers.ROTATING)]


def sent_separately(metric: Metric) -> Metric:
    """Return a metric of another program as one that sends from a second buffer states it."""
    return _sent_from(metric, Buffers.SEPARATE)


def _sent_from(metric: Metric, use: Buffers) -> Metric:
    title, how = SOURCES[use]
    return replace(
        metric, quantity=replace(metric.quantity, buffers=use), title=f"{metric.title}, {title}",
        definition=f"as {metric.metric_id}, but {how}",
    )  # fmt: skip
