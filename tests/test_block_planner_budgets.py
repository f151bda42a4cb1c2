"""A run that chooses its blocks in small budgets, after pilots that something befell, and before rounds."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from tests import test_sharpen as sharpen
from tests.test_block_planner import START_NS, TEXT, begun, choice_of, made, measure, planned_of, planner_of

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.measurement import Launch
from fabriscope.plan import load
from fabriscope.running.block_planner import BlockPlanner
from fabriscope.running.run import _summary
from fabriscope.running.sharpen import Sharpening
from fabriscope.store.checks import check_folder


@pytest.mark.parametrize("change", [("", ""), ("floor: false", "floor: false\ncompare: [layer]")])
def test_a_budget_that_is_spent_by_the_pilots_ends_the_run_and_one_that_would_do_is_told(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    plan = planned_of(TEXT.replace("30s", "2s").replace(*change), tmp_path)
    folder, told = made(plan, tmp_path / "run")
    assert choice_of(folder).blocks == 2
    assert len(folder.done()) == len(folder.manifest.schedule) == 4
    assert _summary(folder, 4).is_complete
    assert not check_folder(folder.path).findings
    words = r"budget of 2s is too small for more, since these pilots took 2\.\d s, and a verdict needs 3 blocks; (\d)s"
    enough = re.search(words, told.sentences[-1])
    assert enough is not None, told.sentences
    assert rules_of(folder.read()).words.endswith("by the time that the first two took")
    again, _ = made(planned_of(TEXT.replace("30s", f"{enough[1]}s").replace(*change), tmp_path), tmp_path / "again")
    assert choice_of(again).blocks >= 4
    assert sum(one.elapsed_ns for one in again.done().values()) <= 1.01 * int(enough[1]) * 1e9


@pytest.mark.parametrize("change", [("", ""), ("floor: false", "floor: false\ncompare: [layer]")])
@pytest.mark.parametrize("seconds", [4, 5, 6, 8])
def test_no_more_is_made_than_the_budget_has_time_for(tmp_path: Path, change: tuple[str, str], seconds: int) -> None:
    plan = planned_of(TEXT.replace("30s", f"{seconds}s").replace(*change), tmp_path)
    folder = made(plan, tmp_path / "run")[0]
    assert choice_of(folder).blocks >= 3
    assert sum(one.elapsed_ns for one in folder.done().values()) <= 1.01 * seconds * 1e9


def test_the_only_number_there_is_time_for_is_not_called_the_best(tmp_path: Path) -> None:
    folder, told = made(planned_of(TEXT.replace("30s", "4s"), tmp_path), tmp_path / "run")
    assert (choice_of(folder).blocks, choice_of(folder).is_only) == (3, True)
    assert "the budget is enough for no more, and a verdict needs 3; expected are " in told.sentences[-1]
    assert "narrowest" not in told.sentences[-1]


@pytest.mark.parametrize("befell", ["a start", "bursts"])
def test_what_befalls_one_pilot_is_not_taken_for_how_it_always_is(tmp_path: Path, befell: str) -> None:
    plan = planned_of(TEXT, tmp_path)
    counts = []
    for name in ("nothing", befell):
        folder = begun(plan, tmp_path / name)
        *others, last = folder.manifest.launches
        for launch in others:
            measure(folder, launch, 0.05, 0.01)
        late_ns, inside = (5 * 10**9, 0.01) if name == "a start" else (0, 0.5) if name == "bursts" else (0, 0.01)
        measure(folder, last, 0.05, inside, late_ns)
        list(planner_of(plan, folder).launches(()))
        choice = choice_of(folder)
        counts.append(choice.blocks)
        assert choice.start_ns == pytest.approx(START_NS, rel=0.01)
        assert choice.inside is not None
        assert choice.inside < 0.2, "0.6 by the mean, where bursts were noisy"
    assert counts[1] >= 0.7 * counts[0], "five seconds of thirty are gone where a start took them"


def test_pilots_have_time_for_small_messages_beside_large_ones(tmp_path: Path) -> None:
    fabric = replace(sharpen.FABRICS["gige"], line_rate_bits_per_s=10**9)
    plan = planned_of(TEXT.replace("64, 1KiB", "1, 2, 4, 8, 1MiB").replace("30s", "1s"), tmp_path)
    launch = next(one for one in plans.expand(plan, sharpen.FABRICS).launches if one.entry.fabric == "gige")
    large, small = (replace(launch, cases=part) for part in (launch.cases[-1:], launch.cases[:-1]))
    told = [plans.told_ns(one, {"gige": fabric}, None) for one in (launch, large, small)]
    assert told[0] == told[1] + told[2]
    assert told[2] == 4 * 4 * 4_000_000, "four small cases, four rounds"


def test_a_run_that_chooses_its_blocks_has_as_many_in_each_round(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(sharpen.TEXT.replace("launches: 5", "launches: auto"))
    plan = load(tmp_path / "plan.yaml", sharpen.WORDS)
    folder, launches = sharpen.begun(plan, tmp_path / "run")

    def later(folder: store.RunFolder, done: Container[int] = ()) -> Iterator[Launch]:
        planner = BlockPlanner(plan, folder, sharpen.FABRICS, sharpen.Told())
        for one in (planner, Sharpening(plan.section, folder, sharpen.Told())):
            yield from chain.from_iterable(one.launches(done))

    for count, launch in enumerate(chain(launches, later(folder)), 1):
        sharpen.measure(folder, launch, sharpen.crossing_ns)
        if len(folder.manifest.additions) == 1 and count % 4 == 0:
            break  # inside the first round
    folder = store.open_run(folder.path)
    done = folder.done()
    again = []
    for launch in later(folder, done):
        sharpen.measure(folder, launch, sharpen.crossing_ns)
        again.append(launch.launch_id)
    assert not set(again) & set(done)
    assert len(again) == len(set(again))
    manifest = folder.manifest
    assert manifest.choice is not None
    assert len(folder.done()) == len(manifest.schedule) == 3 * 2 * manifest.choice.blocks
    of_case_ns = {line.budget_ns // len(line.case_ids) for line in manifest.schedule if line.block > 2}
    assert len(of_case_ns) == 1, "a case has as much time in a round as in the blocks that were chosen"
    assert not check_folder(folder.path).findings
