"""What `show` says: which latency is which, no size where there is none, stalls told once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.made_up import Shape, write_run
from tests.analysis.small_run import TCP, run_of

from fabriscope.analysis.comparing.control import Control
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.kept_state import KeptState
from fabriscope.model.case import Case
from fabriscope.reports._facts import run_table
from fabriscope.reports._ranges import range_groups
from fabriscope.reports.sections import sections_of
from fabriscope.reports.terminal import show


def test_the_two_latencies_of_a_curve_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(write_run(tmp_path / "run", Shape(sizes=(1, 4096), launch_count=3, stacks=())).read())
    said = capsys.readouterr().out
    assert "the latency of messages under 64" in said
    assert "p50 is the median over all operations of a launch, at this one size" in said


def test_a_barrier_has_no_size() -> None:
    other = replace(TCP, fabric="slow")
    run = run_of({Case(entry, "barrier", 0): [[[20_000.0, 21_000.0]]] * 3 for entry in (TCP, other)})
    (group,) = range_groups(results_of(run))
    assert [row.sizes for row in group.rows] == [""]


@pytest.mark.parametrize(
    ("control", "words"),
    [(Control("gige · TCP", 43, 0, ()), "could tell nothing: gige · TCP, entered twice, is shown neither"),
     (Control("gige · TCP", 43, 1, ()), "raises no alarm"), (Control("gige · TCP", 43, 0, ("8 B",)), "failed")],
)  # fmt: skip
def test_a_control_that_showed_nothing_does_not_reassure(control: Control, words: str) -> None:
    assert control.sentence().startswith(f"The A/A control {words}")


def test_one_block_is_no_blocks_and_what_was_measured_is_told_where_nothing_else_is(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", Shape(sizes=(64,), launch_count=1, stacks=())).read()
    (said,) = [value for name, value in run_table(results_of(run)) if name == "Launches"]
    beside = "among them 1 of the instrument's floor (null)"
    assert said.endswith(f": 1 block, each with every entry once, in random order; {beside}")
    answer = results_of(run).answer
    assert answer[0].startswith("Undecided in every comparison: ")
    assert not any(sentence.startswith("Measured: ") for sentence in answer)


def test_a_state_is_said_in_plain_words() -> None:
    said = KeptState(launch_count=44, p_value=0.004, lasting=23.2).sentence()
    assert said.startswith("The machine's speed held for stretches of about 23 launches and changed between them (")


def test_a_state_that_chance_may_have_made_is_no_fact() -> None:
    said = KeptState(launch_count=6, p_value=0.084, lasting=7).sentence()
    assert said.startswith("The machine's speed may have held for stretches of about 7 launches and changed between")
    assert [KeptState(p_value=p_value).may for p_value in (0.049, 0.053)] == ["", "may have "]


def test_what_a_range_of_blocks_means_is_said_once_below_the_table() -> None:
    slow = replace(TCP, fabric="ethernet-100")
    times = {TCP: (1.1e6, 1.0e6, 1.25e6), slow: (1e6, 1.2e6, 0.9e6)}
    measured = {Case(entry, "ping_pong", size): [[[t]] for t in times[entry]] for entry in times for size in (8, 512)}
    (section,) = [one for one in sections_of(results_of(run_of(measured))) if one.anchor == "verdicts"]
    words = r"`(\d+) to (\d+) blocks would decide`, one in five is decided by (\d+), and four in five by (\d+)"
    said = re.findall(words, str(section.brief))
    assert len(said) == 1, str(section.brief)
    assert said[0][:2] == said[0][2:]
