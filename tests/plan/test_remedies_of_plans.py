"""What a plan's mistake is answered with: the words that would be right there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli import fabriscope

PLAN = """
name: some
hosts: node[1-2]
fabrics: {near: {lab: gige}}
benchmarks: {ping_pong: {sizes: [1]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "{lab: gige}",
            "{lab: {preset: gige, delay: 200}}",
            "such as 200us, or .*a number without a unit is in seconds",
        ),
        ("hosts:", "layers: [rdma]\nhosts:", "there is no layer 'rdma' -- did you mean 'verbs'[?] known: "),
        ("hosts:", "layers: 5\nhosts:", "layers: a list is expected, not 5 -- write it in brackets: \\[first, "),
        (
            "{lab: gige}",
            "gige",
            "fabrics.near: a mapping .* -- write `{lab: gige}` for a fabric of the lab, `{interface",
        ),
        ("{ping_pong: {sizes: [1]}}", "[ping_pong, bandwidth]", "-- write {ping_pong: {}, bandwidth: {}}$"),
        ("hosts:", "margin: 150%\nhosts:", "'150%' is not a share such as 0.1% or 0.001, and none is more than 100%"),
        ("hosts:", "launches: 3.5\nhosts:", "a whole number is expected, not 3.5 -- write it without a fraction"),
        ("[1]", "1...64KiB", "'1...64KiB' is not a sweep such as 1..1MiB: two dots stand between its ends"),
        ("hosts:", "compare: [fabrics]\nhosts:", "x.yaml:2: compare: 'fabrics' is not possible"),
        (
            "ping_pong",
            "pingpong",
            "did you mean 'ping_pong'[?] most like it: ping_pong, .*docs/plan.md lists all [0-9]+$",
        ),
        ("ping_pong: {sizes: [1]}", "allreduce: {}", "allreduce is an operation of MPI"),
        (
            "{lab: gige}",
            "{lab: gige, settings: {governor: fast}}",
            "governor: 'fast' is none of performance, powersave",
        ),
        ("hosts:", "budget: 50%\nhosts:", "budget: '50%' is not a duration such as 5us, .*; units are ns, us"),
        ("hosts:", "margin: 3s\nhosts:", "margin: '3s' is not a share such as 0.1% or 0.001"),
    ],
)
def test_the_fix_is_the_one_for_what_was_written(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(PLAN.lstrip().replace(old, new, 1))
    told = CliRunner().invoke(fabriscope, ["plan", "check", str(path)])
    assert told.exception is not None
    assert re.search(said, str(told.exception)), str(told.exception)


def test_ranks_that_do_not_fit_on_two_hosts(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    mpi = "layers: [mpi]\nmpi: [mpich]\nranks: [3]\n"
    path.write_text(PLAN.replace("ping_pong: {sizes: [1]}", "allreduce: {sizes: [8]}") + mpi)
    told = CliRunner().invoke(fabriscope, ["plan", "check", str(path)])
    assert "3 ranks cannot be spread evenly over 2 hosts" in str(told.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shw"], "No such command 'shw': did you mean 'show'?"),
        (["lab", "preset"], "No such command 'preset': did you mean 'presets'?"),
        (["fabric", "list"], "No such command 'list': there are down, show, up."),
        (["quick", "--for", "0s"], "--for: 0s is no time to measure in: write 30s or 5min"),
        (["quick", "--for", "soon"], "--for: 'soon' is not a duration such as"),
        (["quick", "eth0", "--hosts", "node1"], "--hosts node1: two hosts or more"),
    ],
)
def test_a_wrong_word_of_the_command_line_is_answered_with_the_right_one(words: list[str], said: str) -> None:
    told = CliRunner().invoke(fabriscope, words)
    assert told.exit_code == 2
    assert said in " ".join(told.output.split()), told.output


def test_quick_prints_no_plan_that_is_none() -> None:
    told = CliRunner().invoke(fabriscope, ["quick", "gige", "no-preset", "--lab"])
    assert told.output == ""
    assert "there is no lab preset 'no-preset'" in str(told.exception)
