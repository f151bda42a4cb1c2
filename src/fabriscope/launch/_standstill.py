"""Which programs of a launch a signal keeps from running (SIGSTOP): whoever waits for them waits in vain.

A program that is only slow is never one of them, whatever else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Collection

LOOKS = 5
"""So many looks in a row must find a program stopped: where we were stopped with it, one may."""
LEAST_BETWEEN_S = 0.2
"""Between two looks, each of which reads the state of every process of this machine."""


class Standstill:
    """Counts in how many looks in a row the groups of some processes were found stopped."""

    def __init__(self, patience_s: float) -> None:
        """Prepare for looks of which LOOKS take `patience_s`; without end there is none."""
        self._every_s = max(patience_s / (LOOKS - 1), LEAST_BETWEEN_S)
        self._next_s = time.monotonic() + self._every_s
        self._counts: dict[int, int] = {}
        self.found: set[int] = set()
        """Groups that were stopped for too long."""

    def is_due(self) -> bool:
        """Return whether it is time for a look; the next one is then due as much later."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + self._every_s
        return True

    def look(self, stopped: Collection[int]) -> None:
        """Take note of the groups that are stopped now."""
        self._counts = {group: self._counts.get(group, 0) + 1 for group in stopped}
        self.found |= {group for group, count in self._counts.items() if count >= LOOKS}
