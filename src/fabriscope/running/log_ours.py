"""What a table of a log is of our quantities, and why it is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.case import SocketOptions
from fabriscope.readers.base import Row

TWO, PAIRS, GROUPS, ALL = "two", "pairs", "groups", "all"


@dataclass(frozen=True)
class Ours:
    """What a table is of ours."""

    benchmark: str
    metrics: Mapping[str, str]
    """The reader's columns to metrics."""
    has_window: bool = False
    ranks: str = TWO
    """Who takes part: two ranks, pairs of which the log says how many, groups of two whose ranks it names, or all."""
    datatypes: tuple[str, ...] = ()
    """The only elements of which it is ours, where the log says which; empty for any."""
    is_timed_by_option: bool = False
    """Whether an option decides on the barrier before each operation (IMB's `-sync`)."""
    is_share: bool = False
    """Its size is one rank's share of the vector, where ours is the vector."""
    socket: SocketOptions = field(default_factory=SocketOptions)
    of_sender: Mapping[str, str] = field(default_factory=dict)
    """The same as `metrics`, of rows that the sender reported."""

    def metrics_of(self, row: Row) -> Mapping[str, str]:
        """Return the metrics of a row's columns, by the end that reported it where there are two."""
        return self.of_sender if row.values.get("reported_by") == "sender" else self.metrics


@dataclass(frozen=True)
class Definition:
    """What a table's numbers are kept as."""

    ours: Ours | None = None
    why_not: str = ""
    """Why a table that could be ours keeps its program's own ids; empty where nobody would expect another."""
    size_factor: int = 1
    size_bytes: int | None = None
    """Of its messages, where no row says it."""
    parameters: tuple[tuple[str, str], ...] = ()
    """What our benchmark would be told."""

    @property
    def is_of_two(self) -> bool:
        """Return whether the table's name tells that there were two ranks."""
        return self.ours is not None and self.ours.ranks == TWO
