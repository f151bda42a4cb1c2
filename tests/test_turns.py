"""Programs that run in turns: which operations count, and that everybody ends."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks._peers_turns import MARK, Turns, calls_of_all, round_trips, take_turns

CALL_COUNT = 200
PROGRAM = f"""
import array, os, time
mark, calls = os.environ["OVERHEARD"], []
for number in range({CALL_COUNT}):
    begin = time.monotonic_ns()
    time.sleep(0.0005)
    calls.append((begin, time.monotonic_ns()))
    if number == 5:
        open(mark + "-speaks", "w").close()
array.array("q", [instant for call in calls for instant in call]).tofile(open(mark + f".{{os.getpid()}}", "wb"))
"""


def _write(path: Path, *spans: tuple[int, int]) -> None:
    np.array(spans, np.int64).tofile(path)


def test_a_call_counts_that_lies_in_a_turn_at_every_rank(tmp_path: Path) -> None:
    mark = str(tmp_path / "ours")
    _write(Path(f"{mark}.1"), (10, 14), (15, 19), (30, 32), (35, 39), (90, 92))
    _write(Path(f"{mark}.2"), (11, 17), (16, 21), (18, 34), (34, 36), (90, 94))
    turns = Turns({"ours": mark}, {"ours": [(9, 20), (30, 40)]})
    heard = turns.heard(calls_of_all)["ours"]
    assert heard.spans_ns.tolist() == [[10, 17], [34, 39]]
    assert heard.times_ns.tolist() == [5.0, 3.0]


def test_only_the_time_counts_in_which_all_were_heard(tmp_path: Path) -> None:
    early, late = str(tmp_path / "early"), str(tmp_path / "late")
    _write(Path(f"{early}.1"), (0, 1), (2, 3), (20, 21))
    _write(Path(f"{late}.1"), (10, 11), (30, 31))
    marks = {"early": early, "late": late, "silent": str(tmp_path / "silent")}
    heard = Turns(marks, {"early": [(0, 25)], "late": [(0, 40)], "silent": []}).heard(round_trips)
    assert heard["early"].spans_ns.tolist() == [[20, 21]]
    assert heard["late"].spans_ns.tolist() == [[10, 11]]
    assert len(heard["silent"].times_ns) == 0


def test_of_a_ping_pong_one_end_counts(tmp_path: Path) -> None:
    mark = str(tmp_path / "ping")
    _write(Path(f"{mark}.1"), (0, 4))
    _write(Path(f"{mark}.2"), (0, 4), (4, 9))
    assert Turns({"ping": mark}, {"ping": [(0, 9)]}).heard(round_trips)["ping"].times_ns.tolist() == [4.0, 5.0]


def test_ranks_that_made_unequally_many_calls_say_nothing() -> None:
    one, two = np.array([[0, 1], [1, 2]]), np.array([[0, 1]])
    assert len(calls_of_all([one, two]).times_ns) == 0
    assert len(calls_of_all([]).times_ns) == 0


def test_one_runs_at_a_time_until_all_have_ended(tmp_path: Path) -> None:
    marks = {name: str(tmp_path / name) for name in ("first", "second")}

    def run(name: str) -> int:
        argv = [sys.executable, "-c", PROGRAM]
        return subprocess.run(argv, env={**os.environ, MARK: marks[name]}, timeout=120, check=False).returncode

    turns, statuses = take_turns(marks, run)
    assert statuses == {"first": 0, "second": 0}
    spans = sorted(span for of_program in turns.spans_ns.values() for span in of_program)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
    for name, other in (("first", "second"), ("second", "first")):
        calls = np.fromfile(next(tmp_path.glob(f"{name}.*")), np.int64).reshape(-1, 2)
        assert len(calls) == CALL_COUNT
        ran = [
            (call, turn) for call in calls for turn in turns.spans_ns[other] if turn[0] <= call[0] <= call[1] <= turn[1]
        ]
        assert not ran, f"{name} went on in the turns of {other}"


def test_one_that_stops_itself_when_it_is_alone_is_told_to_go_on(tmp_path: Path) -> None:
    marks = {name: str(tmp_path / name) for name in ("short", "long")}
    more = {"short": "", "long": "\ntime.sleep(1)\nimport signal\nos.kill(os.getpid(), signal.SIGSTOP)\n"}

    def run(name: str) -> int:
        argv = [sys.executable, "-c", PROGRAM + more[name]]
        return subprocess.run(argv, env={**os.environ, MARK: marks[name]}, timeout=120, check=False).returncode

    assert take_turns(marks, run)[1] == {"short": 0, "long": 0}


def test_a_program_that_fails_keeps_nobody_stopped(tmp_path: Path) -> None:
    marks = {name: str(tmp_path / name) for name in ("lives", "fails")}

    def run(name: str) -> int:
        if name == "fails":
            raise RuntimeError("it was never heard")
        argv = [sys.executable, "-c", PROGRAM]
        return subprocess.run(argv, env={**os.environ, MARK: marks[name]}, timeout=120, check=False).returncode

    with pytest.raises(RuntimeError, match="never heard"):
        take_turns(marks, run)
    assert list(tmp_path.glob("lives.*"))
