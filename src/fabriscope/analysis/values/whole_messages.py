"""From when on streams are counted of which whole messages alone are seen.

Each message is spread evenly over the time since its stream's one before. That is too early for those that wait for
their turn in a queue, by as much at any moment as waits then: nothing at the start, and at the end up to a message of
each stream. Counted from when as much has arrived as all streams may have under way, it is too early by as much at
either end.

That is of use where messages wait; where they come bit by bit it only adds what either end is wrong by. So it is done
where counting from the start tells more by a quarter of a message of each stream. An aggregate is never more for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

EARLY_SHARE = 0.25
"""Of a message of each stream: what is told too early by more than this is counted from later on."""


def counted_from(by_interval: Iterable[int], interval_ns: int, under_way_bytes: int, duration_ns: int) -> int:
    """Return after how many ns as much has arrived as may be under way, of bytes by interval; half the time at most."""
    arrived = itertools.accumulate(by_interval)
    intervals = next((place for place, count in enumerate(arrived, 1) if count >= under_way_bytes), None)
    latest_ns = duration_ns // 2
    return latest_ns if intervals is None else min(intervals * interval_ns, latest_ns)


def is_too_early(before: float, until: float, share_before: float, least_bytes: int) -> bool:
    """Return whether counting from the start tells too much.

    `before` and `until` are the bytes that had arrived at the later begin, which is that share of the whole time, and
    at the end; `least_bytes` are a message of each stream.
    """
    return until - (until - before) / (1 - share_before) > EARLY_SHARE * least_bytes
