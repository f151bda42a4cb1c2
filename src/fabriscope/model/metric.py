"""What a metric is: its quantity, and how our engine's times are turned into it. `metric_table.py` has all of them."""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.model.quantity import (
    UNITS,
    Completion,
    Direction,
    Operations,
    Quantity,
    Ranks,
    Timing,
    Unit,
    unnamed_buffers,
)

TIMINGS = {
    Timing.BARRIER: (
        "after a barrier",
        "but timed as OSU does: a barrier, then each rank times its own call; the mean over the ranks",
    ),
    Timing.BACK_TO_BACK: (
        "back to back",
        "but timed as IMB does: each rank times its own calls, one right after the other; the mean over the ranks",
    ),
}
"""How operations of several ranks are timed that are not timed on the common clock: title and definition."""
PAIRS, SENDERS = "pairs", "senders"


@dataclass(frozen=True)
class Moves:
    """What one operation moves, where a metric is that over the operation's time."""

    messages: int = 1
    is_window: bool = False
    """Whether `messages` counts windows of messages."""
    flows: str = ""
    """What moves at once: `pairs`, `senders`; empty for one pair."""


@dataclass(frozen=True)
class Metric:
    """One definition: the quantity, and how it is observed."""

    quantity: Quantity
    title: str
    definition: str
    ways: int = 1
    """How many times the message crosses in one operation, of which a time is one."""
    moves: Moves | None = None
    """Of rates that our engine's times are turned into."""
    counted: str = ""
    """What a rate without a unit counts."""
    limit: int | None = None
    """The largest value that there can be, where its unit has no end."""

    @property
    def metric_id(self) -> str:
        """Return its name in files and tables."""
        return self.quantity.metric_id

    @property
    def words(self) -> str:
        """Return its title inside a sentence: names such as HDFS keep their capitals."""
        return " ".join(word.lower() if word == word.capitalize() else word for word in self.title.split(" "))

    @property
    def unit(self) -> Unit:
        """Return the stored unit."""
        return self.quantity.unit

    @property
    def larger_is_better(self) -> bool:
        """Return whether more is faster."""
        return self.quantity.larger_is_better

    @property
    def most(self) -> int | None:
        """Return the largest value that there can be, where there is one."""
        return self.limit or self.unit.most

    @property
    def sign(self) -> int:
        """Return 1 where more is faster, -1 where less is."""
        return 1 if self.quantity.larger_is_better else -1

    @property
    def axis_title(self) -> str:
        """Return the unit of an axis: `Mb/s`, `thousand messages/s`."""
        return self.unit.axis_title.replace("/s", f" {self.counted}/s") if self.counted else self.unit.axis_title


NS, BYTES, PER_S, PERCENT = UNITS["ns"], UNITS["bytes_per_s"], UNITS["per_s"], UNITS["percent"]


ONE_WAY, BOTH_WAYS, THERE_AND_BACK, TO_ONE = (
    Direction.ONE_WAY, Direction.BOTH_WAYS, Direction.THERE_AND_BACK, Direction.TO_ONE
)  # fmt: skip
LOCAL, NEVER = Completion.LOCAL, Completion.NEVER


def time_metric(
    what: str, title: str, definition: str, direction: Direction = Direction.NONE, ways: int = 1, *,
    operations: Operations = Operations.MEDIAN, ranks: Ranks = Ranks.PAIR, completion: Completion = Completion.ARRIVED,
) -> Metric:  # fmt: skip
    buffers = unnamed_buffers(what)
    quantity = Quantity(what, NS, operations, ranks, direction=direction, completion=completion, buffers=buffers)
    return Metric(quantity, title, definition, ways)


def rate_metric(
    what: str, title: str, definition: str, direction: Direction, moves: Moves | None = None, *,
    operations: Operations = Operations.ALL, ranks: Ranks = Ranks.PAIR, completion: Completion = Completion.ARRIVED,
    counted: str = "",
) -> Metric:  # fmt: skip
    """Return a rate of bytes, or of what is counted; what follows from the time of one operation follows its median."""
    if moves is not None and not moves.is_window:
        operations = Operations.MEDIAN
    unit = PER_S if counted else BYTES
    buffers = unnamed_buffers(what)
    quantity = Quantity(what, unit, operations, ranks, direction=direction, completion=completion, buffers=buffers)
    return Metric(quantity, title, definition, moves=moves, counted=counted)
