"""Programs of no parallel library, and what must be said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.analysis.book_cases import scene
from tests.analysis.hand_watches import Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.expected import meant
from fabriscope.model.counters import Books, Connection, Watch

Change = Callable[[Watch], Watch]


def program(*steps: Callable[[Scene], None]) -> Scene:
    """Return hosts with a program of no parallel library, one process on each."""
    made = scene(*steps)
    for host in made.hosts.values():
        host.processes = [replace(one, rank=None) for one in host.processes]
    return made


def judged(made: Scene, asked: str, change: Change = lambda watch: watch) -> Books:
    watches = {name: change(replace(watch, other_datagrams=())) for name, watch in made.watches().items()}
    return balance(watches, meant(asked, watches)[0])


def sent(books: Books) -> Mapping[tuple[str, str], int | None]:
    return {(one.kind, one.name): one.sent_bytes for one in books.carriers if one.host == "a"}


def stamped(connection: Connection, *, has_stamps: bool, longer: int = 0) -> Connection:
    return replace(connection, has_time_stamps=has_stamps, longer_bytes=longer)


def packets(size: int) -> int:
    """Return in how many packets datagrams of a scene go."""
    return -(-size // 1400)
