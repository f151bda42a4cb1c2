"""What was seen of a program that ran, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.counters import Books, Watch


@dataclass(frozen=True)
class Observed:
    """One program, and what the counters of its hosts said while it ran."""

    argv: tuple[str, ...]
    expected: str
    """As it was asked, in the words of `--expect`; empty: whatever carries."""
    hosts: tuple[str, ...]
    started_unix_ns: int
    elapsed_ns: int
    exit_status: int
    was_signalled: bool
    idle: Mapping[str, Watch]
    watches: Mapping[str, Watch]
    fabrics: Mapping[str, str] = field(default_factory=dict)
    """A lab's names for its interfaces."""
    was_asked: bool = False
    """Whether the communication library was asked to say what it uses."""
    said: str = ""
    """What the program wrote, where it was."""


@dataclass(frozen=True)
class Proof:
    """The verdict on what carried a program's bytes."""

    expected: str
    """As it was asked; empty: whatever carries."""
    books: Books
    library: tuple[str, ...] = ()
    """What the communication library said of itself, a sentence each."""
    contradiction: str | None = None
    """Where the library's word and the books differ."""
