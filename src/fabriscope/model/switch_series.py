"""What the lab's switch counted over time, port by port: how full buffers were, what was sent, lost, marked, paused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from fabriscope.model.counters import Watch
from fabriscope.model.limits import Count, DurationNs, UnixNs

Counter = Literal["queue_bytes", "wire_bytes", "dropped_frames", "marked_frames", "pauses", "paused_ns"]
COUNTERS: tuple[Counter, ...] = get_args(Counter)


@dataclass(frozen=True)
class PortSeries:
    """The port to a host: a value for each period in which something happened there."""

    fabric: str
    host: str
    at_unix_ns: tuple[UnixNs, ...]
    """The ends of the periods, by the system clock of the machine that the lab is on."""
    queue_bytes: tuple[Count, ...]
    """The most that waited for the host."""
    wire_bytes: tuple[Count, ...]
    """Delivered to the host, with preamble and gap."""
    dropped_frames: tuple[Count, ...]
    """On their way to the host."""
    marked_frames: tuple[Count, ...]
    """Likewise: congestion experienced (ECN)."""
    pauses: tuple[Count, ...]
    """How often the host was stopped."""
    paused_ns: tuple[Count, ...]

    def __post_init__(self) -> None:
        """Raise ValueError where a period has no value, or ends no later than the one before."""
        if any(later <= earlier for earlier, later in pairwise(self.at_unix_ns)):
            raise ValueError(f"the periods of {self.host} do not follow each other")
        for name in COUNTERS:
            count, wanted = len(getattr(self, name)), len(self.at_unix_ns)
            if count != wanted:
                raise ValueError(f"{name} of {self.host} has {count} of {wanted} values")

    def column(self, counter: Counter) -> tuple[int, ...]:
        """Return the values of a counter."""
        values: tuple[int, ...] = getattr(self, counter)
        return values

    def until(self, end_ns: int) -> PortSeries:
        """Return the periods that ended by a moment."""
        count = bisect_right(self.at_unix_ns, end_ns)
        columns = {name: getattr(self, name)[:count] for name in ("at_unix_ns", *COUNTERS)}
        return PortSeries(self.fabric, self.host, **columns)

    def within(self, counter: Counter, begin_ns: int, end_ns: int) -> tuple[int, ...]:
        """Return the values of the periods that ended after a moment, and not after another."""
        return self.column(counter)[bisect_right(self.at_unix_ns, begin_ns) : bisect_right(self.at_unix_ns, end_ns)]


@dataclass(frozen=True)
class SwitchSeries:
    """All ports of a launch's fabric."""

    period_ns: DurationNs
    since_unix_ns: UnixNs
    """Before this nothing is known: a switch keeps only so much."""
    ports: tuple[PortSeries, ...]

    def of(self, fabric: str) -> Mapping[str, PortSeries]:
        """Return host to the port of a fabric."""
        return {port.host: port for port in self.ports if port.fabric == fabric}


@dataclass(frozen=True)
class Counted:
    """What was counted while a launch ran."""

    watches: Mapping[str, Watch]
    """By host; empty where nobody watched."""
    switch: SwitchSeries | None = None
    """None where no switch of ours carried it, or nothing of it is told over time."""
