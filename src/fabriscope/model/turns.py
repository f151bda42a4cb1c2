"""Launches that measure in turns: started together, and exactly one of them measures at any time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fabriscope.model.limits import Count, DurationNs, Items, Ordinal

TURN_NS = 20_000_000
"""Several bursts, and shorter than a machine's speed stays at one level."""

MOST_TURNS = 10_000_000
"""Of one launch: a day of the shortest ones, and more than a line of the journal is read for."""

_GROUP_LETTERS = 12


@dataclass(frozen=True)
class TurnPlace:
    """The place of a launch in its group."""

    table_path: str
    """The file that the ranks 0 share, on the first host of all of them."""
    member: int
    """From 0."""
    member_count: int
    turn_ns: int = TURN_NS

    @property
    def group(self) -> str:
        """Return what the group is known by: cycles of one group alone are neighbours in time."""
        return self.table_path[-_GROUP_LETTERS:]

    def items(self) -> dict[str, int | str]:
        """Return what the engine's specification says of it."""
        return {
            "turn_table": self.table_path,
            "turn_member": self.member,
            "turn_member_count": self.member_count,
            "turn_ns": self.turn_ns,
        }


@dataclass(frozen=True)
class TurnsTaken:
    """What a launch tells of its turns."""

    member: Count = 0
    member_count: Ordinal = 1
    turn_ns: DurationNs = 0
    turn_count: Count = 0
    rested_ns: DurationNs = 0
    """Time in which the launch waited for the others of its group."""
    shared_burst_count: Count = 0
    """Bursts that do not count: the launch had been stopped, and others measured meanwhile."""
    turns: Annotated[tuple[tuple[Count, Count], ...], Items(MOST_TURNS)] = ()
    """Cycle of the group and begin in ns on the launch's own clock, of each turn; empty in older runs."""


@dataclass(frozen=True)
class Sharing:
    """Which launches of a block form a group, and which measure alone."""

    groups: tuple[tuple[int, ...], ...]
    """Positions in the block; a group has two launches or more."""
    alone: Mapping[int, str] = field(default_factory=dict)
    """Position to why the launch shares no time with others."""
