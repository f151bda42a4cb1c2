"""A run on a real lab that chooses the number of its blocks: a kill between pilots and choice, and after it."""

from __future__ import annotations

import json
import os
import signal
import time

from tests.test_run import Runner, runner

from fabriscope.analysis.comparing.pilots import choice_words
from fabriscope.lab.state import remove_left_overs
from fabriscope.model.manifest import BlockChoice

__all__ = ["runner"]

PLAN = """
name: chosen
hosts: node[1-2]
fabrics:
  near: {lab: gige}
  far: {lab: {preset: gige, delay: 200us}}
benchmarks: {ping_pong: {sizes: [64]}}
floor: false
launches: auto
budget: 8s
"""


def test_it_chooses_goes_on_with_that_after_a_kill_and_says_so(runner: Runner) -> None:
    runner.plan.write_text(PLAN)
    status, out, err = runner.finish("plan", "check", runner.plan)
    assert status == 0, err
    assert "2 pilot blocks of 0.4 s a launch, then as many blocks as make the expected intervals narrowest" in out
    assert "about 8 seconds" in out
    process = runner.start("run", runner.plan, "-o", runner.run, "--json")
    deadline = time.monotonic() + 120
    while len(runner.journal()) < 5:  # the fifth line is the choice
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    runner.wait_until_clean()
    remove_left_overs()
    choice = json.loads(runner.journal()[4])["choice"]
    is_chosen = not choice["because"]
    assert choice["blocks"] >= 3 or "is too small for more" in choice["because"]  # of a busy machine's time
    status, _, err = runner.finish("run", "--resume", runner.run, "--json")
    assert status == 0, err
    lines = [json.loads(line) for line in runner.journal()]
    assert [line["choice"] for line in lines if "added" in line] == [choice]
    assert {line["block"] for line in lines if "added" not in line} == set(range(1, choice["blocks"] + 1))
    status, out, err = runner.finish("show", runner.run)
    assert status == 0, err
    assert choice_words(BlockChoice(**choice)) in " ".join(out.split())
    assert runner.finish("report", runner.run)[0] == 0
    page = (runner.run / "report" / "report.html").read_text()
    assert "Number of blocks" in page
    assert "chosen by the noise of the first two" in page or not is_chosen
    status, out, _ = runner.finish("verify", runner.run)
    assert status == 0, out
    assert runner.finish("run", "--resume", runner.run)[0] == 0, "nothing is left to do"


def test_ctrl_c_between_the_pilots_and_the_choice_is_no_end(runner: Runner) -> None:
    runner.plan.write_text(PLAN)
    process = runner.start("run", runner.plan, "-o", runner.run, "--json")
    deadline = time.monotonic() + 120
    while len(runner.journal()) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    status, out, err = runner.finish("show", runner.run)
    assert status == 0, err
    assert "these are pilots, and more blocks will come" in " ".join(out.split())
    status, _, err = runner.finish("run", "--resume", runner.run, "--json")
    assert status == 0, err
    assert sum("choice" in json.loads(line) for line in runner.journal()) == 1
