"""What a stored number is: its quantity, which has a unit.

A metric's id is made of its quantity, and of an id that nobody defined the unit and how it was taken can be read: so
that a number of a program that fabriscope does not know has them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from fabriscope.model.errors import ParseError, shown


class Kind(Enum):
    """Kinds of units: of rates the mean over operations is harmonic; shares and amounts may be 0."""

    TIME = "time"
    RATE = "rate"
    SHARE = "share"
    AMOUNT = "amount"


@dataclass(frozen=True)
class Unit:
    """One unit in which numbers are stored."""

    name: str
    """As names end in it: `ns`, `bytes_per_s`."""
    kind: Kind
    scales: tuple[tuple[float, str], ...]
    """How many of what is printed have a unit of their own, largest first, and how that follows the number."""
    axis_factor: float
    """What turns a stored value into the unit of an axis."""
    axis_title: str
    printed_per_stored: float = 1.0
    """Bits are printed of bytes."""
    larger_is_better: bool = True
    """Unless a metric says otherwise."""
    most: int | None = None
    """The largest value that there can be."""

    @property
    def is_rate(self) -> bool:
        """Return whether values are amounts over time."""
        return self.kind is Kind.RATE

    @property
    def can_be_zero(self) -> bool:
        """Return whether 0 is a value that was measured, and not one that is missing."""
        return self.kind in (Kind.SHARE, Kind.AMOUNT)


UNITS = {
    unit.name: unit
    for unit in (
        Unit(
            "ns", Kind.TIME, ((1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")), 1e-3, "µs", larger_is_better=False
        ),
        Unit(
            "bytes_per_s", Kind.RATE, ((1e9, " Gb/s"), (1e6, " Mb/s"), (1e3, " kb/s"), (1.0, " b/s")), 8e-6, "Mb/s",
            printed_per_stored=8.0,
        ),
        Unit(
            "flop_per_s", Kind.RATE, ((1e12, " Tflop/s"), (1e9, " Gflop/s"), (1e6, " Mflop/s"), (1.0, " flop/s")), 1e-9,
            "Gflop/s",
        ),
        Unit("op_per_s", Kind.RATE, ((1e6, " Mop/s"), (1e3, " kop/s"), (1.0, " op/s")), 1e-3, "kop/s"),
        Unit("per_s", Kind.RATE, ((1e6, " million/s"), (1e3, " thousand/s"), (1.0, "/s")), 1e-3, "thousand/s"),
        Unit("percent", Kind.SHARE, ((1.0, " %"),), 1.0, "%", most=100),
        Unit("ratio", Kind.SHARE, ((1.0, ""),), 1.0, "ratio"),
        Unit("joules", Kind.AMOUNT, ((1e3, " kJ"), (1.0, " J")), 1.0, "J", larger_is_better=False),
        Unit("count", Kind.AMOUNT, ((1.0, ""),), 1.0, "count"),
    )
}  # fmt: skip
"""By the ends of names."""


class Operations(Enum):
    """Over which of a launch's operations a number is taken."""

    MEDIAN = "the median"
    ALL = "everything moved over all time"
    P90 = "the 90th percentile"
    P99 = "the 99th percentile"
    P99_9 = "the 99.9th percentile"
    MEAN = "the mean"
    LEAST_MEAN = "the least of the means of three trials"
    OF_MEANS = "a share that is computed of means"


class Ranks(Enum):
    """Over which ranks or pairs."""

    PAIR = "one pair alone takes part"
    SPAN = "from the first start to the last end"
    MEAN = "their mean"
    LEAST = "the one with the least"
    MOST = "the one with the most"


class Timing(Enum):
    """By which clock; the values are those of the benchmarks' parameter `timing`."""

    OWN_CLOCK = "own_clock"
    """Rank 0's."""
    COMMON_CLOCK = "common_clock"
    BARRIER = "barrier"
    """Each rank times its own call, after a barrier."""
    BACK_TO_BACK = "back_to_back"
    """Each rank times its own calls, one right after the other."""


class Buffers(Enum):
    """From which memory messages are sent; the values are those of the benchmarks' parameter `buffers`."""

    SAME = "same"
    """What has come is sent again, from where it lies (NetPIPE, qperf)."""
    SEPARATE = "separate"
    """From a second buffer that is never written (OSU, IMB)."""
    ROTATING = "rotating"
    """Through pools larger than the last-level cache, always the next place of them."""


SENDS_WHAT_CAME = ("latency", "ping_pong_bandwidth", "multi_pair_latency")
"""What is measured by messages that go to and fro; an id of these that names no buffers is of the same one."""


def unnamed_buffers(what: str) -> Buffers:
    """Return the buffers of which an id says nothing."""
    return Buffers.SAME if what in SENDS_WHAT_CAME else Buffers.SEPARATE


class Direction(Enum):
    """Where the data go."""

    NONE = "a library decides, or nothing is moved"
    ONE_WAY = "one way"
    BOTH_WAYS = "both ways at once"
    THERE_AND_BACK = "a request goes there, and the data come back"
    TO_ONE = "from many to one"
    FROM_ONE = "from one to many"


class Completion(Enum):
    """When an operation is over."""

    ARRIVED = "its data are where they should be"
    LOCAL = "rank 0 is told so, wherever they are"
    NEVER = "nobody answers"


_ENDS = {
    (Operations.LEAST_MEAN, Ranks.PAIR): "_least_mean",
    (Operations.MEAN, Ranks.LEAST): "_least_rank_mean",
    (Operations.MEAN, Ranks.MOST): "_most_rank_mean",
    (Operations.MEAN, Ranks.PAIR): "_mean",
    (Operations.MEAN, Ranks.MEAN): "_mean",
    (Operations.OF_MEANS, Ranks.MOST): "_most_rank",
    (Operations.OF_MEANS, Ranks.MEAN): "_of_means",
}
"""Over which operations and ranks a metric is taken, by the end of its id; the engine's own have none."""
_TAILS = {Operations.P90: "_p90", Operations.P99: "_p99", Operations.P99_9: "_p99_9"}
"""Percentiles, whichever ranks they are of."""
PERCENTILES = tuple(_TAILS)
_OTHER_TIMINGS = (Timing.BARRIER, Timing.BACK_TO_BACK)


@dataclass(frozen=True)
class Quantity:
    """What a number is; two numbers may be compared when their quantities are equal."""

    what: str
    """`latency`, `put_bandwidth` ...: the pattern and what is taken of it."""
    unit: Unit
    operations: Operations = Operations.MEDIAN
    ranks: Ranks = Ranks.PAIR
    timing: Timing = Timing.OWN_CLOCK
    direction: Direction = Direction.NONE
    completion: Completion = Completion.ARRIVED
    buffers: Buffers = Buffers.SEPARATE

    @property
    def metric_id(self) -> str:
        """Return the name in files and tables: `collective_latency_ns_barrier_most_rank_mean`."""
        buffers = "" if self.buffers is unnamed_buffers(self.what) else f"_{self.buffers.value}"
        timing = f"_{self.timing.value}" if self.timing in _OTHER_TIMINGS else ""
        end = _TAILS.get(self.operations) or _ENDS.get((self.operations, self.ranks), "")
        return f"{self.what}_{self.unit.name}{buffers}{timing}{end}".lstrip("_")

    @property
    def larger_is_better(self) -> bool:
        """Return whether more is faster."""
        return self.unit.larger_is_better

    @property
    def directions(self) -> int:
        """Return in how many directions data move at once."""
        return 2 if self.direction is Direction.BOTH_WAYS else 1

    @property
    def is_bounded(self) -> bool:
        """Return whether physics bounds it: data that are known to have arrived, one way or both."""
        if self.completion is not Completion.ARRIVED or self.operations not in (Operations.MEDIAN, Operations.ALL):
            return False
        if self.unit.kind is Kind.TIME:
            return self.direction in (Direction.ONE_WAY, Direction.THERE_AND_BACK)
        return self.unit.name == "bytes_per_s" and self.direction is not Direction.NONE


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_METRIC_ID = re.compile(
    rf"(?:(?P<what>.+?)_)??(?P<unit>{_any_of(UNITS)})(?:_(?P<buffers>{_any_of(one.value for one in Buffers)}))?"
    rf"(?:_(?P<timing>{_any_of(one.value for one in _OTHER_TIMINGS)}))?"
    rf"(?P<end>{_any_of({*_ENDS.values(), *_TAILS.values()})})?"
)


def quantity_of(metric_id: str) -> Quantity:
    """Return what the id of a metric that nobody defined says; raises ParseError for one of no unit."""
    match = _METRIC_ID.fullmatch(metric_id)
    if match is None:
        fix = f"end its name with one of {', '.join(f'_{unit}' for unit in UNITS)}"
        raise ParseError(f"the metric {shown(metric_id)} names no unit that is known", fix=fix)
    unit = UNITS[match["unit"]]
    usual = Operations.ALL if unit.is_rate else Operations.MEDIAN
    ends = {**_ENDS, **{(percentile, Ranks.PAIR): end for percentile, end in _TAILS.items()}}
    operations, ranks = next((key for key, end in ends.items() if end == match["end"]), (usual, Ranks.PAIR))
    timing = Timing(match["timing"] or Timing.OWN_CLOCK)
    if timing in _OTHER_TIMINGS and ranks is Ranks.PAIR:
        ranks = Ranks.MEAN
    what = match["what"] or ""
    buffers = Buffers(match["buffers"]) if match["buffers"] else unnamed_buffers(what)
    return Quantity(what, unit, operations, ranks, timing, buffers=buffers)
