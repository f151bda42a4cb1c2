"""How much of streams is told too early, where whole messages alone are seen of them.

Each message is spread evenly over the time since its stream's one before. That is too early for those that wait for
their turn in a queue: nothing at the start, soon up to half a message of each stream, and no more from then on. So what
has arrived is a line from when a message of each has come, and its height at the start came too early.

The line is Theil's and Sen's, since a moment at which whoever looks had to wait for a processor lies far below it:
P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, J. Am. Stat. Assoc. 63 (1968), 1379-1389.
Over less than half a second it says little: there its height counts only where it is above a quarter of a message.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from statistics import median

MOST_SHARE = 0.5
"""Of a message of each stream, which is what whole messages that wait for their turn are too early by."""
CLEAR_SHARE = 0.25
"""Of a message of each stream: more than this is believed of short windows too."""
LONG_INTERVALS = 50
MOST_MOMENTS = 100


def too_early_bytes(arrived: Callable[[int], float], interval_ns: int, duration_ns: int, least_bytes: int) -> float:
    """Return by how much is too much what had arrived until the end, in bytes; never below 0.

    `arrived` returns how much had come this many ns after the start, and `least_bytes` are a message of each stream.
    """
    ends = range(interval_ns, duration_ns + 1, interval_ns)
    full = bisect.bisect_left(ends, float(least_bytes), key=arrived)
    moments = ends[min(full, len(ends) // 2) :]
    if len(moments) < 2:
        return 0.0
    from scipy.stats import theilslopes  # here: nothing else needs it, and loading it takes long

    moments = moments[:: 1 + len(moments) // MOST_MOMENTS]
    told = [arrived(moment) for moment in moments]
    rate = float(theilslopes(told, moments).slope)
    height = median(count - rate * moment for count, moment in zip(told, moments, strict=True))
    is_long = moments[-1] - moments[0] >= LONG_INTERVALS * interval_ns
    if height < CLEAR_SHARE * least_bytes and not is_long:
        return 0.0
    return max(0.0, min(height, MOST_SHARE * least_bytes))
