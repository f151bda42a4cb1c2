"""What our libraries need of the process is told before they are loaded: memory, and threads that may be started."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fabriscope.model import surroundings
from fabriscope.model.errors import ToolMissing

RUN = Path(__file__).parent / "store" / "data" / "run-before-ranks"


@pytest.mark.parametrize("limit", [100_000, 300_000])
@pytest.mark.parametrize("command", ["show", "verify"])
def test_too_small_a_limit_of_writable_memory_is_told_at_once(command: str, limit: int) -> None:
    argv = ["bash", "-c", f'ulimit -d {limit}; "$@"', "bash", sys.executable, "-m", "fabriscope", command, str(RUN)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 7, done.stderr
    assert f"writable memory is limited to {limit >> 10} MiB (ulimit -d), and " in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("may_start", [0, 5])
def test_too_few_threads_are_told(may_start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[threading.Thread]()
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if len(started) == may_start:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    with pytest.raises(ToolMissing, match=f"{may_start} more threads may be started, and .* needed") as told:
        surroundings.check()
    assert f"and {16 + 4 * len(os.sched_getaffinity(0))} are needed" in told.value.what
    assert not any(thread.is_alive() for thread in started)


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [("COLUMNS", "0", "80"), ("LINES", "-5", "24"), ("COLUMNS", "wide", "1"), ("SOURCE_DATE_EPOCH", "", "0")],
)
def test_a_variable_without_a_meaning_is_taken_out(
    name: str, bad: str, good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    for value, left in ((bad, None), (good, good)):
        monkeypatch.setenv(name, value)
        surroundings.check()
        assert os.environ.get(name) == left


def test_on_a_terminal_without_a_width_an_answer_is_told() -> None:
    argv = [sys.executable, "-m", "fabriscope", "show", str(RUN)]
    env = {**os.environ, "COLUMNS": "0", "SOURCE_DATE_EPOCH": "yesterday"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env=env)
    assert (done.returncode, "latency" in done.stdout) == (0, True), done.stderr


def test_fewer_threads_of_polars_need_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def all_start(count: int) -> int:
        asked.append(count)
        return count

    monkeypatch.setattr(surroundings, "_startable", all_start)
    for count in ("1", "9"):
        monkeypatch.setenv("POLARS_MAX_THREADS", count)
        surroundings.check()
    assert asked[1] - asked[0] == 3 * 8
