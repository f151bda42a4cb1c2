"""The numbers that stand in a text, and whether another follows from them by a unit or by a message's size."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

_TOKEN = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_CLOSE = 1e-9


def is_close(first: float, second: float) -> bool:
    """Return whether two numbers are the same but for rounding."""
    return abs(first - second) <= _CLOSE * abs(second)


class Numbers:
    """The numbers of a text; those of a locale with decimal commas, and with commas between digits, too."""

    def __init__(self, text: bytes) -> None:
        tokens = (token for mark in (b",", b".", b"") for token in _TOKEN.findall(text.replace(b",", mark)))
        self.every = sorted({abs(float(token)) for token in tokens if len(token) < 40})

    def _has(self, number: float) -> bool:
        at = bisect_left(self.every, number * (1 - 2 * _CLOSE))
        return at < len(self.every) and is_close(self.every[at], number)

    def explain(self, value: float, size: int, factors: Sequence[float]) -> bool:
        """Return whether a value is a number in its unit, or follows from one or two by the size of its message."""
        if value == 0 and (self._has(0) or not size):
            return bool(self.every)
        if any(factor and self._has(value / factor) for factor in (*factors, size, size * 1e6, 1, 1e6)):
            return True
        # bytes over the time, and the time from the rate; messages per second times their size
        times = (1e9, 1e6, 8e6 * 1e3 / (1 << 20), 1e6 * size and 1e6, 1e3)
        if value and any(factor and self._has(size * factor / value) for factor in times):
            return True
        # a count over a time: iperf3's bytes, sockperf's messages times their size
        return any(self._has(value * time / factor) for time in self.every if time for factor in (1, size) if factor)

    def differ_by(self, value: float) -> bool:
        """Return whether two of the numbers have this difference, as the begin and the end of an interval."""
        return any(is_close(value, end - begin) for begin in self.every for end in self.every)
