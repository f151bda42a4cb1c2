"""Programs that are started at once and run one at a time, in turns too short for the machine to change in between.

A virtual machine's speed changes by 10 to 20 % and back within fractions of a second, whatever runs on it: of programs
that run one after the other each shows the speed that it met. Here all of a program's processes are stopped (SIGSTOP)
but in its own turns, and of its round trips those count that lie wholly within one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

MARK = "ROUND_TRIPS"
"""The environment variable by which a program's processes are known; its value is the path of what they write."""
TURN_S = 0.02
"""Several hundred round trips of small messages; four turns are still shorter than a TCP connection may idle (200 ms)
before it starts slowly again."""
SPEAKS = "-speaks"
"""Behind a mark: the file that says that round trips are heard."""
POLL_S = 0.002

Trips = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class Turns:
    """Whose turn it was when."""

    marks: Mapping[str, str]
    """Program to its mark."""
    spans_ns: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Program to begin and end (CLOCK_MONOTONIC) of its turns, in order."""

    def heard(self) -> dict[str, Trips]:
        """Return each program's round trips, ns, in its own turns, while all were heard that ran at all."""
        trips = {name: _written(Path(mark)) for name, mark in self.marks.items()}
        since = max((one[0, 0] for one in trips.values() if len(one)), default=0)
        until = min((one[-1, 1] for one in trips.values() if len(one)), default=0)
        found = {}
        for name, one in trips.items():
            inside = _inside(one, self.spans_ns[name]) & (one[:, 0] >= since) & (one[:, 1] <= until)
            found[name] = one[inside, 1] - one[inside, 0]
        return found


def take_turns(marks: Mapping[str, str], start: Callable[[str], Future[Any]]) -> Turns:
    """Start one program after the other, then let one run at a time until all have ended, and return the turns.

    The last one that is left runs to its end; so does one that is alone. Each is stopped as soon as it is heard: those
    that take long to start keep nobody's time.
    """
    turns = Turns(marks, {name: [] for name in marks})
    programs: dict[str, Future[Any]] = {}
    members: dict[str, list[int]] = {}
    try:
        for name, mark in marks.items():
            programs[name] = start(name)
            while not programs[name].done() and not Path(f"{mark}{SPEAKS}").exists():
                time.sleep(POLL_S)
            members = _members(marks)
            _signal(members.get(name, []), signal.SIGSTOP)
        while left := [name for name, one in programs.items() if not one.done()]:
            for name in left:
                _signal(members.get(name, []), signal.SIGCONT)
                begin = time.monotonic_ns()
                if len(left) == 1:
                    wait([programs[name]])
                else:
                    time.sleep(TURN_S)
                turns.spans_ns[name].append((begin, time.monotonic_ns()))
                _signal(members.get(name, []), signal.SIGSTOP)
    finally:
        _signal([pid for pids in _members(marks).values() for pid in pids], signal.SIGCONT)
    return turns


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


def _written(mark: Path) -> Trips:
    """Return begin and end, (n, 2), of the process that made most round trips; both ends of a ping-pong see them."""
    written = [np.fromfile(path, dtype=np.int64).reshape(-1, 2) for path in mark.parent.glob(f"{mark.name}.*")]
    return max(written, key=len, default=np.empty((0, 2), np.int64))


def _inside(trips: Trips, spans: list[tuple[int, int]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if not spans:
        return np.zeros(len(trips), np.bool_)
    begins, ends = np.array(spans, np.int64).T
    turn = np.searchsorted(begins, trips[:, 0], side="right") - 1
    return np.asarray((turn >= 0) & (trips[:, 1] <= ends[np.maximum(turn, 0)]))
