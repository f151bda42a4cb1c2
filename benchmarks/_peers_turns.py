"""Programs that are started at once and run one at a time, in turns too short for the machine to change in between.

A virtual machine's speed changes by 10 to 20 % and back within fractions of a second, whatever runs on it: of programs
that run one after the other each shows the speed that it met. Here all of a program's processes are stopped (SIGSTOP)
but in its own turns, and of its operations those count that lie wholly within one, at every process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

MARK = "OVERHEARD"
"""The environment variable by which a program's processes are known; its value is the path of what they write."""
TURN_S = 0.02
"""Several hundred operations on small messages; four turns are still shorter than a TCP connection may idle (200 ms)
before it starts slowly again."""
LATER = "OVERHEARD_LATER"
"""The environment variable that says that a process is ready, and may be stopped, only some time after it is heard."""
SPEAKS = "-speaks"
"""Behind a mark: the file that says that operations are heard."""
POLL_S = 0.002
ALWAYS = (0, np.iinfo(np.int64).max)

Result = TypeVar("Result")
Spans = np.ndarray[Any, np.dtype[np.int64]]
"""(n, 2): begin and end (CLOCK_MONOTONIC, ns) of one process's operations, in order."""


@dataclass(frozen=True)
class Operations:
    """What a program did, one value for each operation, in order."""

    spans_ns: Spans
    """From the first process's begin to the last one's end."""
    times_ns: np.ndarray[Any, np.dtype[np.float64]]
    """How long it lasted, by the definition of who gathered it."""


def round_trips(heard: Sequence[Spans]) -> Operations:
    """Return those of the process that made most round trips; both ends of a ping-pong see them."""
    spans = max(heard, key=len, default=np.empty((0, 2), np.int64))
    return Operations(spans, np.asarray(spans[:, 1] - spans[:, 0], np.float64))


def calls_of_all(heard: Sequence[Spans]) -> Operations:
    """Return the operations of which every process makes one call each: the mean over the processes of its own time.

    None if they did not make equally many: then nobody knows which belong together.
    """
    if not heard or len({len(one) for one in heard}) != 1:
        return round_trips(())
    begins, ends = np.moveaxis(np.array(heard), 2, 0)
    spans = np.stack((begins.min(axis=0), ends.max(axis=0)), axis=1)
    return Operations(spans, np.asarray((ends - begins).mean(axis=0), np.float64))


@dataclass
class Turns:
    """Whose turn it was when."""

    marks: Mapping[str, str]
    """Program to its mark."""
    spans_ns: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Program to begin and end (CLOCK_MONOTONIC) of its turns, in order."""

    def heard(self, gather: Callable[[Sequence[Spans]], Operations]) -> dict[str, Operations]:
        """Return each program's operations in its own turns, while all were heard that ran at all."""
        found = {name: gather(_written(Path(mark))) for name, mark in self.marks.items()}
        spoken = [one.spans_ns for one in found.values() if len(one.spans_ns)]
        since = max((spans[0, 0] for spans in spoken), default=0)
        until = min((spans[-1, 1] for spans in spoken), default=0)
        for name, one in found.items():
            spans = one.spans_ns
            inside = _inside(spans, self.spans_ns[name]) & (spans[:, 0] >= since) & (spans[:, 1] <= until)
            found[name] = Operations(spans[inside], one.times_ns[inside])
        return found


def take_turns(marks: Mapping[str, str], run: Callable[[str], Result]) -> tuple[Turns, dict[str, Result]]:
    """Start one program after the other, then let one run at a time until all have ended.

    Return the turns, and what `run` returned, which runs the program of that name to its end. The last one that is left
    runs to its end; one that is alone is never stopped. Each is stopped as soon as it is heard: those that take long to
    start keep nobody's time.
    """
    if len(marks) == 1:
        return Turns(marks, {name: [ALWAYS] for name in marks}), {name: run(name) for name in marks}
    turns = Turns(marks, {name: [] for name in marks})
    programs: dict[str, Future[Result]] = {}
    with ThreadPoolExecutor(len(marks)) as pool:
        try:
            members: dict[str, list[int]] = {}
            for name, mark in marks.items():
                programs[name] = pool.submit(run, name)
                while not programs[name].done() and not Path(f"{mark}{SPEAKS}").exists():
                    time.sleep(POLL_S)
                members = _members(marks)
                _signal(members.get(name, []), signal.SIGSTOP)
            _alternate(turns, members, programs)
        finally:
            _signal([pid for pids in _members(marks).values() for pid in pids], signal.SIGCONT)
    return turns, {name: one.result() for name, one in programs.items()}


def _alternate(turns: Turns, members: Mapping[str, list[int]], programs: Mapping[str, Future[Any]]) -> None:
    while left := [name for name, one in programs.items() if not one.done()]:
        for name in left:
            _signal(members.get(name, []), signal.SIGCONT)
            begin = time.monotonic_ns()
            if len(left) == 1:
                # Again and again: nsenter stops itself after its child, and may do so only after the child went on.
                while wait([programs[name]], TURN_S).not_done:
                    _signal(members.get(name, []), signal.SIGCONT)
            else:
                time.sleep(TURN_S)
            turns.spans_ns[name].append((begin, time.monotonic_ns()))
            _signal(members.get(name, []), signal.SIGSTOP)


def _members(marks: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the processes of each program that has any."""
    words = {f"{MARK}={mark}".encode(): name for name, mark in marks.items()}
    found: dict[str, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for word in set((folder / "environ").read_bytes().split(b"\0")) & words.keys():
                found.setdefault(words[word], []).append(int(folder.name))
    return found


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _written(mark: Path) -> list[Spans]:
    """Return what each process of a program wrote."""
    return [np.fromfile(path, dtype=np.int64).reshape(-1, 2) for path in mark.parent.glob(f"{mark.name}.*")]


def _inside(spans: Spans, turns: list[tuple[int, int]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if not turns:
        return np.zeros(len(spans), np.bool_)
    begins, ends = np.array(turns, np.int64).T
    turn = np.searchsorted(begins, spans[:, 0], side="right") - 1
    return np.asarray((turn >= 0) & (spans[:, 1] <= ends[np.maximum(turn, 0)]))
