"""What the lab's switch counted over time, port by port: how full buffers were, what was sent, lost, marked, paused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from fabriscope.model.counters import Watch
from fabriscope.model.limits import Count, DurationNs, UnixNs

Counter = Literal["queue_bytes", "wire_bytes", "dropped_frames", "marked_frames", "pauses", "paused_ns"]
COUNTERS: tuple[Counter, ...] = get_args(Counter)
_LATER = ("length_ns", "frames")
"""What switches of older versions did not say."""
PERIOD_NS = 10_000_000
"""How long their periods are taken to be."""


@dataclass(frozen=True)
class PortSeries:
    """The port to a host, or a cable between switches in a row: a value for each period in which something happened."""

    fabric: str
    host: str
    """Of a cable `switch1>switch2`: in that direction."""
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
    """How often the host was stopped; of a cable, the switch that sends there."""
    paused_ns: tuple[Count, ...]
    length_ns: tuple[DurationNs, ...] = ()
    """How long the periods were, a value each; nothing where an older switch did not say."""
    frames: tuple[Count, ...] = ()
    """Delivered to the host; nothing where an older switch did not say."""

    def __post_init__(self) -> None:
        """Raise ValueError where a period has no value, or ends no later than the one before."""
        if any(later <= earlier for earlier, later in pairwise(self.at_unix_ns)):
            raise ValueError(f"the periods of {self.host} do not follow each other")
        told = [name for name in _LATER if getattr(self, name)]
        for name in (*COUNTERS, *told):
            count, wanted = len(getattr(self, name)), len(self.at_unix_ns)
            if count != wanted:
                raise ValueError(f"{name} of {self.host} has {count} of {wanted} values")

    def column(self, counter: Counter) -> tuple[int, ...]:
        """Return the values of a counter."""
        values: tuple[int, ...] = getattr(self, counter)
        return values

    def until(self, end_ns: int) -> PortSeries:
        """Return the periods that began before a moment."""
        places = enumerate(self.at_unix_ns)
        count = sum(at_ns - self._length(place) < end_ns for place, at_ns in places)
        columns = {name: getattr(self, name)[:count] for name in ("at_unix_ns", *COUNTERS, *_LATER)}
        return PortSeries(self.fabric, self.host, **columns)

    def within(self, counter: Counter, begin_ns: int, end_ns: int) -> tuple[int, ...]:
        """Return the values of the periods of which some part lies between two moments."""
        first, values = bisect_right(self.at_unix_ns, begin_ns), self.column(counter)
        return tuple(
            values[place]
            for place in range(first, len(values))
            if self.at_unix_ns[place] - self._length(place) < end_ns
        )

    def parts(self, values: Sequence[int], begin_ns: int, end_ns: int, step_ns: int) -> Iterator[tuple[int, int, int]]:
        """Yield number of a step between two moments, share and whole of each period that has a part in it.

        What was counted in a period is taken to be even over it; the shares of one add up to what lies in the steps.
        """
        for place in range(bisect_right(self.at_unix_ns, begin_ns), len(values)):
            ended_ns, length_ns, value = self.at_unix_ns[place], max(self._length(place), 1), values[place]
            began_ns = ended_ns - length_ns
            if began_ns >= end_ns:
                break
            first, last = (
                (max(began_ns, begin_ns) - begin_ns) // step_ns,
                (min(ended_ns, end_ns) - 1 - begin_ns) // step_ns,
            )
            for step in range(first, last + 1):
                edges = (begin_ns + step * step_ns, min(begin_ns + (step + 1) * step_ns, end_ns))
                before, after = (value * (min(max(one, began_ns), ended_ns) - began_ns) // length_ns for one in edges)
                yield step, after - before, value

    def _length(self, place: int) -> int:
        return self.length_ns[place] if self.length_ns else PERIOD_NS


@dataclass(frozen=True)
class SwitchSeries:
    """All ports of a launch's fabric."""

    period_ns: DurationNs
    since_unix_ns: UnixNs
    """Before this nothing is known: a switch keeps only so much."""
    ports: tuple[PortSeries, ...]

    def of(self, fabric: str) -> Mapping[str, PortSeries]:
        """Return host to the port of a fabric, and the cables between its switches likewise."""
        return {port.host: port for port in self.ports if port.fabric == fabric}


@dataclass(frozen=True)
class Counted:
    """What was counted while a launch ran."""

    watches: Mapping[str, Watch]
    """By host; empty where nobody watched."""
    switch: SwitchSeries | None = None
    """None where no switch of ours carried it, or nothing of it is told over time."""
