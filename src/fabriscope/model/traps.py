"""Known traps: what a printed number is easily taken for and is not, by name. `trap_table.py` has all of them.

Whether a number of a log is concerned follows from its program, test and column, and from what stands beside it; three
traps need the wire instead, and are looked for in a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class Stated:
    """A number as a program prints it, with what its log says beside it; None where it says nothing."""

    program: str
    test: str
    column: str
    """By its name in the reader's document."""
    definition: str = ""
    printed_in: str = ""
    """The unit in the log, and what its prefix stands for."""
    version: str | None = None
    said: Mapping[str, float | str] = field(default_factory=dict)
    """Settings of the test and of the program, by name."""
    size_bytes: float | None = None
    largest_size_bytes: float | None = None
    """Of all rows of the table."""
    window: float | None = None
    count: float | None = None
    """Operations that it is taken over."""
    value: float | None = None
    time_s: float | None = None
    """How long the whole test, or job, took."""
    is_launched: bool = False
    """Whether we started the program, and know that its table is whole and what it was told."""


def always(_stated: Stated) -> bool:
    """Return that nothing else matters."""
    return True


@dataclass(frozen=True)
class Trap:
    """One trap."""

    name: str
    programs: tuple[str, ...]
    """Readers' names; none for what needs the wire."""
    columns: str
    """A pattern of `test: column`."""
    sentence: str
    source: str
    """Who found it, or where it can be seen."""
    when: Callable[[Stated], bool] = always


@lru_cache(maxsize=4096)
def placed(program: str, test: str, column: str, traps: tuple[Trap, ...]) -> tuple[Trap, ...]:
    """Return the traps that a column of a test may have."""
    place = f"{test}: {column}"
    return tuple(trap for trap in traps if program in trap.programs and re.fullmatch(trap.columns, place))
