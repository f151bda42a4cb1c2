"""A run that chooses the number of its blocks, without a lab: what it chooses, what it writes, and where it cannot."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.analysis.small_run import FAST, GIGE
from tests.small_plans import refused, written
from tests.test_sharpen import FABRICS, WORDS, Told

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.comparing.comparisons import KINDS, compared
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.cli import fabriscope
from fabriscope.model.errors import PlanError, StoreError
from fabriscope.model.manifest import BlockChoice
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.record import LaunchRecord
from fabriscope.plan import Plan, load
from fabriscope.reports._facts import run_table
from fabriscope.running.block_planner import NO_NOISE, BlockPlanner, took_ns
from fabriscope.running.run import _summary
from fabriscope.store.checks import check_folder

TEXT = """
name: chosen
hosts: a,b
fabrics: {gige: {lab: gige}, ethernet-100: {lab: ethernet-100}}
benchmarks: {ping_pong: {sizes: [64, 1KiB]}}
floor: false
launches: auto
budget: 30s
"""
START_NS = 10**9
"""Of a block."""


def planned_of(text: str, folder: Path) -> Plan:
    return load(written(text, folder), WORDS)


def begun(plan: Plan, path: Path) -> store.RunFolder:
    launches = plans.expand(plan, FABRICS).launches
    about = {"version": store.SINCE_VERSION, "plan": plan.section.model_dump(mode="json"), "name": "chosen", "seed": 1}
    return store.create(path, {**store.describe((), launches, FABRICS.values()), **about}, plan.text)


def measure(
    folder: store.RunFolder, launch: Launch, between: float, inside: float, late_ns: int = 0, bursts: int = 16
) -> None:
    """Append a launch with a level of its own, whose bursts differ by `inside` after a second of measuring.

    It takes `late_ns` more than others.
    """
    own = np.random.default_rng([launch.launch_id, 7])
    level = own.normal(0, between)
    blocks: list[SampleBlock] = []
    for case in launch.cases:
        of_bursts = own.normal(0, inside / np.sqrt(launch.budget_ns / 1e9 / bursts), bursts)
        for number, of_burst in enumerate(of_bursts):
            value = 1e6 * float(np.exp(level + of_burst))
            blocks.append(SampleBlock(case.case_id, [value] * 3, burst=len(blocks), start_ns=number * 10**6))
    place = launch.launch_id - 1
    record = {
        "launch_id": launch.launch_id,
        "block": launch.block,
        "entry_id": launch.entry.entry_id,
        "status": "ok",
        "reason": None,
        "results": {case.case_id: {"status": "ok", "reason": None} for case in launch.cases},
        "started_unix_ns": 10**18 + place * (launch.budget_ns + START_NS // 2),
        "elapsed_ns": launch.budget_ns + START_NS // 2 + late_ns,
        "details": {},
    }
    folder.append(record, blocks, again=True)


def planner_of(plan: Plan, folder: store.RunFolder, told: Told | None = None) -> BlockPlanner:
    return BlockPlanner(plan, folder, FABRICS, told or Told())


def made(
    plan: Plan, path: Path, between: float = 0.02, inside: float = 0.01, lines: int = 1000
) -> tuple[store.RunFolder, Told]:
    """Return a run that was made to its end, or to a number of lines of its journal."""
    folder, told = begun(plan, path), Told()
    for launch in chain(folder.manifest.launches, chain.from_iterable(planner_of(plan, folder, told).launches(()))):
        if len(folder.read().lines) >= lines:
            return folder, told
        measure(folder, launch, between, inside)
    folder.end()
    return folder, told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> store.RunFolder:
    """A run that was not interrupted."""
    place = tmp_path_factory.mktemp("whole")
    return made(planned_of(TEXT, place), place / "run")[0]


def choice_of(folder: store.RunFolder) -> BlockChoice:
    choice = folder.manifest.choice
    assert choice is not None
    return choice


def test_it_begins_with_two_blocks_of_a_tenth_of_the_budget_each(tmp_path: Path) -> None:
    launches = plans.expand(planned_of(TEXT, tmp_path), FABRICS).launches
    assert [launch.block for launch in launches] == [1, 1, 2, 2]
    assert {launch.budget_ns for launch in launches} == {30 * 10**9 // 20}
    short = plans.expand(planned_of(TEXT.replace("30s", "100ms"), tmp_path), FABRICS).launches
    assert min(launch.budget_ns for launch in short) >= 4 * 20_000_000, "what four turns take"


def test_what_it_chose_stands_in_the_run_and_is_said(tmp_path: Path) -> None:
    folder, told = made(planned_of(TEXT, tmp_path), tmp_path / "run")
    choice = choice_of(folder)
    assert len({record.block for record in folder.done().values()}) == choice.blocks > 5
    assert told.more_launches == 2 * (choice.blocks - 2)
    (sentence,) = told.sentences
    assert sentence.startswith(f"launches: {choice.blocks} blocks of ")
    for words in ("make the expected interval narrowest: ", " with 5 (launches differ by ", "a block starts in 1.0 s"):
        assert words in sentence
    assert dict(run_table(results_of(folder.read())))["Blocks"] == sentence.removeprefix("launches: ")
    assert not check_folder(folder.path).findings
    took = sum(record.elapsed_ns for record in folder.done().values())
    assert took == pytest.approx(30e9, rel=0.01), "the budget is the time of the whole"


def test_launches_that_differ_get_more_blocks_than_noisy_bursts(tmp_path: Path) -> None:
    counts = []
    for name, noises in (("levels", (0.1, 0.001)), ("bursts", (0.0, 0.1))):
        folder = made(planned_of(TEXT, tmp_path), tmp_path / name, *noises)[0]
        counts.append(choice_of(folder).blocks)
    assert counts[0] > counts[1]


def test_its_blocks_are_of_one_family_with_the_pilots(whole: store.RunFolder) -> None:
    run = whole.read()
    assert {line.round for line in run.manifest.schedule} == {0}
    assert run.manifest.additions == ()
    rules = rules_of(run)
    assert rules.method == "fixed"
    assert "chosen by the noise of the first two" in rules.words
    rows = compared(launch_values(run), KINDS["fabric"], rules)
    assert {row.block_count for row in rows} == {choice_of(whole).blocks}


def test_before_it_has_chosen_and_before_its_end_verdicts_are_those_of_a_look(whole: store.RunFolder) -> None:
    assert rules_of(whole.read(4)).method == "anytime"
    assert "these are pilots" in rules_of(whole.read(4)).words
    assert rules_of(whole.read(6)).method == "anytime"


@pytest.mark.parametrize("lines", [3, 4, 5, 8])
def test_interrupted_anywhere_it_comes_to_the_same_run(tmp_path: Path, whole: store.RunFolder, lines: int) -> None:
    plan = planned_of(TEXT, tmp_path)
    made(plan, tmp_path / "run", lines=lines)
    again = store.open_run(tmp_path / "run")
    assert not _summary(again, len(again.manifest.schedule)).is_complete
    done = again.done()
    left = [launch for launch in again.manifest.launches[:4] if launch.launch_id not in done]
    for launch in chain(left, chain.from_iterable(planner_of(plan, again).launches(done))):
        assert launch.launch_id not in done
        measure(again, launch, 0.02, 0.01)
    assert again.manifest.schedule == whole.manifest.schedule
    assert again.manifest.choice == whole.manifest.choice
    assert again.manifest.begun_with == store.scheduled(plans.expand(plan, FABRICS).launches)
    assert _summary(again, len(again.manifest.schedule)).is_complete
    assert not check_folder(again.path).findings


def test_a_choice_that_was_changed_is_found(tmp_path: Path, whole: store.RunFolder) -> None:
    shutil.copytree(whole.path, tmp_path / "run")
    path = tmp_path / "run" / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace(f'"blocks":{choice_of(whole).blocks}', '"blocks":5', 1)
    path.write_text("".join(lines))
    assert ["line 5, choice" in finding.place for finding in check_folder(path.parent).findings] == [True]


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (("fabrics: {gige: {lab: gige}, ethernet-100: {lab: ethernet-100}}", "fabrics: {gige: {lab: gige}}"),
         "nothing is compared"),
        (("ping_pong: {sizes: [64, 1KiB]}", "many_to_one: {sizes: [64KiB], duration: 100ms}"),
         "takes a time of its own"),
        (("floor: false", "floor: false\ncompare: [layer]"), NO_NOISE),
    ],
)  # fmt: skip
def test_where_there_is_nothing_to_choose_there_are_five_blocks(
    tmp_path: Path, change: tuple[str, str], because: str
) -> None:
    folder, told = made(planned_of(TEXT.replace(*change), tmp_path), tmp_path / "run")
    choice = choice_of(folder)
    assert choice.blocks == 5
    assert because in choice.because
    assert because in told.sentences[-1]
    assert rules_of(folder.read()).words.endswith("was fixed before the run")


def test_pilots_of_which_one_failed_choose_nothing(tmp_path: Path) -> None:
    plan = planned_of(TEXT, tmp_path)
    folder = begun(plan, tmp_path / "run")
    for launch in folder.manifest.launches[:3]:
        measure(folder, launch, 0.02, 0.01)
    list(planner_of(plan, folder).launches(()))
    assert choice_of(folder).because == NO_NOISE


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("until: decided", "with until: decided a run goes on block by block"),
        (
            "tune: {fabric: gige, knobs: {tcp_sack: [0, 1]}, objective: {benchmark: ping_pong, size: 64}}",
            "a tuning fills a budget of its own with launches",
        ),
    ],
)
def test_what_does_not_go_with_it_is_refused(tmp_path: Path, more: str, words: str) -> None:
    assert words in refused(f"{TEXT}{more}\n", tmp_path)


def test_what_is_nearly_the_word_is_told(tmp_path: Path) -> None:
    assert "write auto" in refused(TEXT.replace("launches: auto", "launches: Auto"), tmp_path)
    for said in ("few", "[auto]", "null", "{}"):
        told = refused(TEXT.replace("launches: auto", f"launches: {said}"), tmp_path)
        assert "whole number is expected" in told
        assert told.endswith("write it in digits, such as 1000, or auto for one that the run chooses")


def record(launch_id: int, begin_s: float, end_s: float, group: str | None = None) -> LaunchRecord:
    one = LaunchRecord(launch_id, 1, started_unix_ns=round(begin_s * 1e9), elapsed_ns=round((end_s - begin_s) * 1e9))
    return replace(one, details=replace(one.details, turn_group=group))


@pytest.mark.parametrize(
    ("spans", "took_s"),
    [
        ([(0.0, 2.0, "a"), (0.5, 3.0, "a"), (3.5, 5.5, "b"), (3.5, 5.5, "b")], 6.0),
        ([(0.0, 1.0, None), (1.5, 2.5, None), (3600.0, 3601.0, None)], 4.5),
        ([(0.0, 1.0, None), (1.5, 2.5, None), (5.5, 6.5, None)], 4.5),
        ([(0.0, 1.0, None)], 1.0),
        ([], 0.0),
    ],
)
def test_groups_count_once_and_interruptions_do_not(
    spans: Iterable[tuple[float, float, str | None]], took_s: float
) -> None:
    records = [record(number, *span) for number, span in enumerate(spans, 1)]
    assert took_ns(records) == pytest.approx(took_s * 1e9)


def test_an_older_folder_takes_no_choice(tmp_path: Path) -> None:
    plan = planned_of(TEXT, tmp_path)
    launches = plans.expand(plan, FABRICS).launches
    folder = store.create(tmp_path / "run", store.describe((), launches, (GIGE, FAST)), plan.text)
    with pytest.raises(StoreError, match="no launches are added"):
        folder.add(1, (), choice=BlockChoice(5, 1, 1, "nothing is compared"))


def test_a_check_says_what_will_be_done_and_for_how_long(tmp_path: Path) -> None:
    path = written(TEXT.replace("a,b", "node[1-2]"), tmp_path)
    out = CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output
    assert "2 pilot blocks of 1.5 s a launch, then as many blocks as make the expected intervals narrowest" in out
    assert "3 to 50 in all, as the budget allows, about 30 seconds" in out
    path.write_text(path.read_text().replace(", ethernet-100: {lab: ethernet-100}", ""))
    out = CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output
    assert (
        "5 launches of each entry (launches: auto has nothing to choose: nothing is compared), about 30 seconds" in out
    )


def test_a_check_asks_about_a_budget_that_leaves_no_choice(tmp_path: Path) -> None:
    path = written(TEXT.replace("a,b", "node[1-2]"), tmp_path)
    assert "nothing can be chosen" not in CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output
    path.write_text(path.read_text().replace("30s", "3s"))
    out = CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output
    assert "launches: auto: there is time for 3 blocks alone in a budget of 3s, and nothing can be chosen" in out
    path.write_text(path.read_text().replace("3s", "1s"))
    out = CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output
    assert "launches: auto: a budget of 1s is spent by 2 pilot blocks, and a verdict needs 3, which take about 2" in out


def test_the_command_line_takes_the_word_and_no_other(tmp_path: Path) -> None:
    path = written(TEXT.replace("auto", "5").replace("budget", "until: decided\nbudget"), tmp_path)
    few = CliRunner().invoke(fabriscope, ["run", str(path), "--launches", "few"])
    assert "'few' is neither auto nor a whole number" in few.output
    auto = CliRunner().invoke(fabriscope, ["run", str(path), "--launches", "auto"])
    assert isinstance(auto.exception, PlanError)
    assert "with until: decided a run goes on block by block" in str(auto.exception)
