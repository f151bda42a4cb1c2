"""What carries the bytes of somebody's own program: its hosts are watched while it runs, then the books balanced."""

from __future__ import annotations

import importlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabriscope import __version__
from fabriscope.hosts import counters
from fabriscope.launch import in_front, processes
from fabriscope.launch.on_host.sweep import MARK_VARIABLE
from fabriscope.model.counters import PROVED, UNDECIDED, Books, Expectation, Watch
from fabriscope.model.errors import HostError
from fabriscope.model.proof import Observed, Proof
from fabriscope.running import program_place
from fabriscope.running.program_place import Place

FORMAT = "fabriscope-proof"
VERSION = 1
"""Of the proof as JSON: grows when a field goes, or means something else; new fields alone do not change it."""
_JUDGES = ("fabriscope.analysis.proof.books", "fabriscope.analysis.proof.words")


@dataclass(frozen=True)
class Wish:
    """How a program is to be watched."""

    argv: tuple[str, ...]
    expected: str = ""
    """In the words of `--expect`; empty: whatever carries."""
    interval_s: float = 1.0
    idle_s: float = 0.5
    asks_library: bool = False


def observe(place: Place, wish: Wish, notice: Callable[[str], None]) -> Observed:
    """Measure what goes on without the program, run it, and return what the counters of every host said.

    Raises HostError, LaunchError or ToolMissing before the program runs, for an expectation that the hosts cannot have
    too; once it runs, only what was lost on the way is missing.
    """
    program_place.check(wish.argv)
    mark = secrets.token_hex(16)
    notice(f"what {len(place.hosts)} hosts do without it" if len(place.hosts) > 1 else "what this host does without it")
    idle = _idle(place, wish, mark)
    from fabriscope.analysis.proof import library_words
    from fabriscope.analysis.proof.expected import meant

    meant(wish.expected, idle, place.fabrics)
    env = {**place.env, **(library_words.ASKED_BY if wish.asks_library else {}), MARK_VARIABLE: mark}
    watchers = counters.commands(place.hosts.values(), wish.interval_s, mark)
    with processes.watching(watchers, place.hosts) as (end, group):
        notice("")
        ending = in_front.run(wish.argv, env, access=place.access, group=group, keep_words=wish.asks_library)
        outcomes = end()
    return Observed(
        argv=wish.argv,
        expected=wish.expected,
        hosts=tuple(place.hosts),
        fabrics=place.fabrics,
        started_unix_ns=ending.started_unix_ns,
        elapsed_ns=ending.elapsed_ns,
        exit_status=ending.exit_status,
        was_signalled=ending.was_signalled,
        idle=idle,
        watches={outcome.command.host: counters.parse(outcome) for outcome in outcomes},
        was_asked=wish.asks_library,
        said=ending.said,
    )


def _idle(place: Place, wish: Wish, mark: str) -> Mapping[str, Watch]:
    """Return what the hosts count without the program; raises HostError for one that cannot be watched at all."""
    watchers = counters.commands(place.hosts.values(), max(wish.idle_s, wish.interval_s), mark)
    with processes.watching(watchers, place.hosts) as (end, _):
        until_s = time.monotonic() + wish.idle_s
        for name in _JUDGES:  # now there is nothing else to do; before or afterwards whoever calls would wait
            importlib.import_module(name)
        time.sleep(max(0.0, until_s - time.monotonic()))
        watches = {outcome.command.host: counters.parse(outcome) for outcome in end()}
    blind = {host: watch for host, watch in watches.items() if not watch.readings}
    if blind:
        sentences = [
            HostError(
                f"it cannot be watched: {'; '.join(watch.problems.values()) or 'it said nothing'}", where=f"host {host}"
            )
            for host, watch in blind.items()
        ]
        raise HostError("\n".join(one.sentence() for one in sentences))
    return watches


def judge(observed: Observed, expected: str) -> Proof:
    """Return the verdict on what was observed; `expected` is in the words of `--expect`. Raises HostError."""
    from fabriscope.analysis.proof import library_words

    books = _books(observed, expected)
    words = library_words.read_words(observed.said)
    return Proof(expected, books, words.sentences(), library_words.contradiction(words, books))


def _books(observed: Observed, expected: str, watches: Mapping[str, Watch] | None = None) -> Books:
    """Return the books by the expectation that is proved, of several; else by the first one."""
    from fabriscope.analysis.proof.books import balance
    from fabriscope.analysis.proof.expected import meant

    seen = {host: watch for host, watch in observed.watches.items() if watch.readings} or observed.idle
    every = [
        balance(watches or observed.watches, one, observed.idle) for one in meant(expected, seen, observed.fabrics)
    ]
    if not expected and not any(one.sent_bytes or one.received_bytes for one in every[0].carriers):
        # No counter saw a byte: whether memory carried them is told by what the ranks share.
        every.append(balance(watches or observed.watches, Expectation("shm", ""), observed.idle))
    ranks = {PROVED: 0, UNDECIDED: 1}
    return min(every, key=lambda one: ranks.get(one.verdict, 2))


def as_json(observed: Observed, proof: Proof) -> dict[str, Any]:
    """Return the proof for other programs: bytes, seconds and shares."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "fabriscope_version": __version__,
        "verdict": proof.books.verdict,
        "because": proof.books.because,
        "expected": proof.expected or None,
        "carried_by": proof.books.carried_by or None,
        "share": proof.books.found_share,
        "carriers": [asdict(one) for one in proof.books.carriers],
        "ownerless": [asdict(one) for one in proof.books.ownerless],
        "closure_error": proof.books.closure_error,
        "library": list(proof.library),
        "contradiction": proof.contradiction,
        "command": list(observed.argv),
        "hosts": list(observed.hosts),
        "started_unix_ns": observed.started_unix_ns,
        "elapsed_ns": observed.elapsed_ns,
        "watched_ns": {host: _watched_ns(watch) for host, watch in observed.watches.items()},
        "ownership": {host: watch.ownership or None for host, watch in observed.watches.items()},
        "exit_status": observed.exit_status,
        "problems": {host: dict(watch.problems) for host, watch in observed.watches.items() if watch.problems},
    }


def _watched_ns(watch: Watch) -> int:
    """Return how long a host was watched, from its first reading to its last; 0 where there are none."""
    return watch.readings[-1].at_ns - watch.readings[0].at_ns if watch.readings else 0


def json_text(observed: Observed, proof: Proof) -> str:
    """Return the proof as a JSON file has it."""
    return json.dumps(as_json(observed, proof), indent=1) + "\n"


def keep(observed: Observed, proof: Proof, folder: Path) -> Path:
    """Write everything into a folder, for reading and for judging again; return the page. Raises StoreError."""
    from fabriscope.analysis.proof.traffic import flows
    from fabriscope.reports import proof_page  # what draws takes a third of a second to load
    from fabriscope.store import proofs

    proofs.write(folder, observed)
    with proofs.writing(folder):
        (folder / "proof.json").write_text(json_text(observed, proof))
        over_time = flows(observed.watches, lambda part: _books(observed, proof.expected, part))
        return proof_page.write(observed, proof, over_time, folder)[0]
