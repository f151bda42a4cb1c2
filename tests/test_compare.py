"""`fabriscope compare`: what it finds, what it prints, and the status that a script acts on."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from tests.analysis import made_up

from fabriscope.cli._junit import junit_text
from fabriscope.cli.compare import compare
from fabriscope.model.errors import FabriscopeError

SHAPE = made_up.Shape(
    sizes=(8, 1024), launch_count=5, stacks=(), benchmarks=("ping_pong",), placements=("inter",), failing=frozenset()
)
OLD_RUNS = Path(__file__).parent / "store" / "data"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run, the same again, and one in which everything takes a quarter longer."""
    folder = tmp_path_factory.mktemp("runs")
    paths = {name: folder / name for name in ("before", "again", "slow")}
    made_up.write_run(paths["before"], SHAPE)
    made_up.write_run(paths["again"], made_up.Shape(**{**vars(SHAPE), "seed": 8}))
    usual = made_up.operation_ns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made_up, "operation_ns", lambda case: 1.25 * usual(case))
        made_up.write_run(paths["slow"], made_up.Shape(**{**vars(SHAPE), "seed": 9}))
    return paths


def told(*words: str | Path) -> Result:
    result = CliRunner().invoke(compare, [str(word) for word in words], env={"COLUMNS": "200"})
    if isinstance(result.exception, FabriscopeError):
        raise result.exception
    return result


def parsed(*words: str | Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(told(*words, "--json").stdout)
    return answer


def test_two_entries_of_a_run_are_paired(runs: dict[str, Path]) -> None:
    found = parsed(runs["before"], "--left", "gige.tcp.inter", "--right", "ethernet-100,tcp")
    assert found["paired"]
    (pair,) = found["pairs"]
    assert pair["sides"] == ["gige · TCP", "ethernet-100 · TCP"]
    assert pair["where"] == "ping-pong, TCP, between hosts"
    assert [row["verdict"] for row in pair["rows"]] == ["faster", "faster"]
    text = told(runs["before"], "--left", "gige", "--right", "ethernet-100").stdout
    assert "gige · TCP leads ethernet-100 · TCP at every size" in text
    assert "paired inside the blocks" in text
    assert "Student's t" in text


def test_two_layers_are_compared_by_their_names_alone(tmp_path: Path) -> None:
    made_up.write_run(tmp_path / "run", replace(SHAPE, stacks=("mpich-5.0.2", "openmpi-5.0.11")))
    found = parsed(tmp_path / "run", "--left", "gige,tcp", "--right", "gige,mpi")
    assert [pair["sides"] for pair in found["pairs"]] == [
        ["TCP", "MPI (mpich-5.0.2)"],
        ["TCP", "MPI (openmpi-5.0.11)"],
    ]
    found = parsed(tmp_path / "run", "--left", "gige,mpi", "--right", "ethernet-100,mpi")
    assert [pair["sides"] for pair in found["pairs"]] == [
        ["gige · MPI (mpich-5.0.2)", "ethernet-100 · MPI (mpich-5.0.2)"],
        ["gige · MPI (openmpi-5.0.11)", "ethernet-100 · MPI (openmpi-5.0.11)"],
    ]


def test_every_comparison_of_a_run(runs: dict[str, Path]) -> None:
    result = told(runs["before"])
    assert result.exit_code == 0
    assert "gige leads ethernet-100 at every size" in result.stdout


def test_two_runs_are_not_paired_and_it_says_so(runs: dict[str, Path]) -> None:
    result = told(runs["before"], runs["again"], "--fail-if", "slower:10%")
    assert result.exit_code == 0
    assert "share no blocks" in result.stdout
    assert "the 15 launches of before cannot tell whether the machine keeps a state" in result.stdout.replace("\n", " ")
    assert "passed: slower:10% is met at none of 4 sizes." in result.stdout


def test_a_slower_run_fails(runs: dict[str, Path], tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    result = told(runs["before"], runs["slow"], "--fail-if", "slower:10%", "--junit", junit)
    assert result.exit_code == 11
    assert "FAILED: slower:10% is met at 4 of 4 sizes." in result.stdout
    assert "before leads slow at every size" in result.stdout
    root = ElementTree.parse(junit).getroot()  # noqa: S314 - our own
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "4", "0")
    assert len(root.findall("testsuite")) == 2, "one for each fabric"
    assert told(runs["before"], runs["slow"], "--fail-if", "slower:40%").exit_code == 0
    assert told(runs["slow"], runs["before"], "--fail-if", "slower:10%").exit_code == 0
    assert told(runs["slow"], runs["before"], "--fail-if", "faster:10%").exit_code == 11


def test_what_cannot_be_ruled_out_is_skipped_and_undecided_can_fail(runs: dict[str, Path], tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    words = (runs["before"], runs["slow"], "--margin", "25%")
    result = told(*words, "--fail-if", "slower:25%", "--junit", junit)
    assert result.exit_code == 0
    assert "not decided: slower:25% is met at none of 4 sizes, and not ruled out at " in result.stdout
    assert "passed" not in result.stdout
    root = ElementTree.parse(junit).getroot()  # noqa: S314 - our own
    assert root.get("skipped") != "0"
    aa = (runs["before"], runs["again"], "--margin", "0.1%")
    assert told(*aa, "--fail-if", "undecided").exit_code == 11
    assert told(*aa, "--fail-if", "different").exit_code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--left", "gige"], "both of --left and --right"),
        (["--left", "gige", "--right", "infiniband"], "'infiniband' is nothing that this run compares"),
        (["--fail-if", "slow:5%"], "no condition such as slower:5%"),
        (["--fail-if", "slower:five"], "is not a share"),
    ],
)
def test_mistakes_are_one_sentence(runs: dict[str, Path], words: list[str], says: str) -> None:
    try:
        result = told(runs["before"], *words)
    except FabriscopeError as error:
        assert says in str(error)
        assert error.exit_code == 2
    else:
        assert result.exit_code == 2
        assert says in result.output


@pytest.mark.parametrize("name", ["run-version-1", "run-before-ranks"])
def test_folders_of_older_versions_can_be_compared(name: str, tmp_path: Path) -> None:
    assert told(OLD_RUNS / name).exit_code == 0
    found = parsed(OLD_RUNS / name, shutil.copytree(OLD_RUNS / name, tmp_path / name))
    assert not found["paired"]
    assert {row["ratio"] for pair in found["pairs"] for row in pair["rows"]} <= {1.0}


def test_a_control_that_failed_is_told_by_the_status(tmp_path: Path) -> None:
    from tests.analysis.test_control import run_with

    from fabriscope import store
    from fabriscope.running import comparison

    folders = {}
    for name, factor in (("holds", 1.0), ("fails", 1.1)):
        data = run_with(factor)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "open_run", lambda _, data=data: type("Folder", (), {"read": lambda _: data})())
            folders[name] = comparison.of([tmp_path], None, None, [], None)
    assert not folders["holds"].control_failed
    assert any("control raises no alarm" in note for note in folders["holds"].notes)
    (ratio,) = [note for note in folders["holds"].notes if note.startswith("ratio: ")]
    assert "the left column of values is; it is the mean of the ratios inside blocks, and need not be" in ratio
    assert folders["fails"].control_failed
    assert "nothing of this can be trusted" in folders["fails"].conclusions()[-1]
    assert 'failures="0"' in junit_text(folders["holds"])
    assert 'name="A/A control"' in junit_text(folders["fails"])
    lost = replace(folders["holds"], conditions=["slower:5%"], pairs=[], lost_count=2)
    assert "failed in the run: 2" in junit_text(lost)
    assert 'failures="1"' in junit_text(lost)


def test_a_case_that_the_run_lost_fails_whatever_is_asked(tmp_path: Path) -> None:
    shape = {**vars(SHAPE), "stacks": ("mpich-5.0.2",), "fabrics": ("gige",)}
    everywhere = frozenset((block, 0) for block in range(1, SHAPE.launch_count + 1))
    made_up.write_run(tmp_path / "whole", made_up.Shape(**shape))
    made_up.write_run(tmp_path / "lost", made_up.Shape(**{**shape, "failing": everywhere}))
    result = told(tmp_path / "whole", tmp_path / "lost", "--fail-if", "slower:40%")
    assert result.exit_code == 11
    assert "what the baseline has values of failed in the run, cases: 1" in result.stdout
    assert told(tmp_path / "lost", tmp_path / "whole", "--fail-if", "slower:40%").exit_code == 0


def test_a_condition_that_is_given_twice_counts_once(runs: dict[str, Path]) -> None:
    words = ("--left", "gige", "--right", "ethernet-100", "--fail-if", "different")
    once = told(runs["before"], *words)
    twice = told(runs["before"], *words, "--fail-if", "different")
    assert "different is met at 2 of 2 sizes" in once.stdout
    assert twice.stdout == once.stdout


def test_a_difference_within_the_margin_fails_in_words_that_say_so(runs: dict[str, Path]) -> None:
    words = (runs["before"], runs["slow"], "--margin", "90%", "--fail-if")
    result = told(*words, "slower")
    assert result.exit_code == 11
    assert "At 4 of them the two are equivalent all the same" in result.stdout
    assert "slower:90% asks for more than that" in result.stdout
    assert told(*words, "slower:90%").exit_code == 0


def test_runs_with_nothing_in_common_do_not_pass(runs: dict[str, Path]) -> None:
    with pytest.raises(FabriscopeError, match="nothing can be compared"):
        told(OLD_RUNS / "run-before-ranks", runs["before"], "--fail-if", "slower:5%")


def test_a_percentile_is_compared_where_launches_have_enough_operations(runs: dict[str, Path]) -> None:
    """The made-up launches have too few: that is said, and nothing is compared."""
    found = parsed(runs["before"], "--of", "p99")
    assert found["pairs"] == []
    assert any("its p99 needs 1,000 timed operations in each of their launches" in note for note in found["notes"])
    assert any(re.search(r"; of (\d+) cases that are timed, \1 have fewer in some", note) for note in found["notes"])
    named = parsed(runs["before"], "--of", "p99", "--left", "gige,tcp,inter", "--right", "ethernet-100,tcp,inter")
    assert any("its p99 needs 1,000 timed operations" in note for note in named["notes"]), "gige is known"
    assert told(runs["before"], "--of", "p90").exit_code == 2


@pytest.mark.parametrize(("columns", "is_wrapped"), [(None, False), ("60", True)])
def test_what_is_piped_is_not_wrapped(runs: dict[str, Path], columns: str | None, is_wrapped: bool) -> None:
    words = [str(runs["before"]), "--left", "gige.tcp.inter", "--right", "ethernet-100,tcp"]
    text = CliRunner().invoke(compare, words, env={"COLUMNS": columns}).stdout
    rules = "paired inside the blocks of one run; Student's t: the number of blocks was fixed before the run"
    assert (rules not in text) is is_wrapped
    assert max(map(len, text.splitlines())) < 1000
