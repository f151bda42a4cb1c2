"""The same metrics of messages that come from other memory: other numbers, never compared with the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


def from_elsewhere(
    pairs: Iterable[Metric],
    groups: Iterable[Metric],
    programs: Iterable[Metric],
    timed_otherwise: Callable[[Metric], list[Metric]],
) -> Iterator[Metric]:
    """Yield the metrics of our engine by the buffers that their ids do not name, and other programs' that send so.

    `groups` are those of all ranks at once, each of which other timings give too.
    """
    for metric in pairs:
        yield from _of_ours(metric)
    for metric in groups:
        for other in _of_ours(metric):
            yield from (other, *timed_otherwise(other))
    for metric in programs:
        if metric.quantity.what in SENDS_WHAT_CAME:
            yield _sent_from(metric, Buffers.SEPARATE)


def _of_ours(metric: Metric) -> list[Metric]:
    what = metric.quantity.what
    if what in _OF_ONE_KIND:
        return []
    if what in SENDS_WHAT_CAME:
        return [_sent_from(metric, Buffers.SEPARATE), _sent_from(metric, Buffers.ROTATING)]
    return [_sent_from(metric, Buffers.ROTATING)]


def _sent_from(metric: Metric, use: Buffers) -> Metric:
    title, how = SOURCES[use]
    bare = metric.title.removesuffix(f", {SOURCES[Buffers.SAME][0]}")
    return replace(
        metric, quantity=replace(metric.quantity, buffers=use), title=f"{bare}, {title}",
        definition=f"as {metric.metric_id}, but {how}",
    )  # fmt: skip
