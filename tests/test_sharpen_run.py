"""Sharpening on a real lab: a far fast network against a near slow one, a kill inside a round, a resume."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from tests.test_run import Runner, runner

import fabriscope
from fabriscope.lab.state import remove_left_overs

__all__ = ["runner"]

PLAN = """
name: crossing
hosts: node[1-2]
fabrics:
  near: {lab: {preset: local, rate: 10Mb/s}}
  far: {lab: {preset: local, rate: 1Gb/s, delay: 10ms}}
benchmarks: {ping_pong: {sizes: [256, 64KiB]}}
floor: false
counters: false
launches: 5
sharpen: 1
budget: 4s
"""
"""Far enough apart, and often enough, that a launch that a busy machine holds up leaves no verdict open."""


def added(runner: Runner) -> list[int]:
    """Return of every line of the journal the round that it adds, or 0."""
    return [json.loads(line).get("added", 0) for line in runner.journal()]


def test_a_run_killed_inside_a_round_goes_on_with_it(runner: Runner) -> None:
    runner.plan.write_text(PLAN)
    status, out, err = runner.finish("plan", "check", runner.plan)
    assert status == 0, err
    assert "then up to 1 round of further sizes" in out
    process = runner.start("run", runner.plan, "-o", runner.run, "--json")
    deadline = time.monotonic() + 240
    while sum(added(runner)) == 0 or len(added(runner)) < 13:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    runner.wait_until_clean()
    remove_left_overs()
    status, _, err = runner.finish("run", "--resume", runner.run, "--json")
    assert status == 0, err
    assert added(runner) == [0] * 10 + [1] + [0] * 10
    run = fabriscope.load(Path(runner.run))
    sizes = run.comparisons().filter(run.comparisons()["kind"] == "fabric")["message_size_bytes"].to_list()
    assert len(sizes) == 5
    assert all(256 <= size <= 64 << 10 for size in sizes)
    assert runner.finish("report", runner.run)[0] == 0
    assert "Sizes added after looking, round 1" in (runner.run / "report" / "report.html").read_text()
    status, out, _ = runner.finish("verify", runner.run)
    assert status == 0, out
    assert runner.finish("run", "--resume", runner.run)[0] == 0, "nothing is left to do"
    assert len(added(runner)) == 21
