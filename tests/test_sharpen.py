"""Sizes that a run adds near crossovers and protocol changes, once it has looked."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.analysis.small_run import FAST, GIGE

import fabriscope
from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.comparing.comparisons import KINDS, compare, compared
from fabriscope.analysis.comparing.crossovers import crossovers
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.comparing.sharpening import Interval, intervals, sizes_inside
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.case import Case
from fabriscope.model.errors import StoreError
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.plan import Plan, Vocabulary, load
from fabriscope.plan.benchmark_sections import BenchmarkSection
from fabriscope.progress import QuietProgress
from fabriscope.running.sharpen import Sharpening
from fabriscope.store.checks import check_folder

CROSSING_BYTES = 3000
TEXT = """
name: crossing
hosts: a,b
fabrics: {gige: {lab: gige}, ethernet-100: {lab: ethernet-100}}
benchmarks: {ping_pong: {sizes: 64..64KiB}}
floor: false
launches: 5
sharpen: 2
"""
WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp"}), frozenset({"gige", "ethernet-100"})
)
FABRICS = {"gige": GIGE, "ethernet-100": FAST}


class Told(QuietProgress):
    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.more_launches = 0

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def more(self, launch_count: int, expected_ns: int) -> None:
        assert expected_ns > 0
        self.more_launches += launch_count


def crossing_ns(fabric: str | None, size: int) -> float:
    """gige has less to pay for each byte, ethernet-100 for each message: equal at CROSSING_BYTES."""
    if fabric == "gige":
        return 2e6 + 500 * size
    return 2e6 + 500 * CROSSING_BYTES + 1000 * (size - CROSSING_BYTES)


def protocol_ns(fabric: str | None, size: int) -> float:
    """Both alike but for their level; from 5000 B on a message is announced first."""
    return (1.0 if fabric == "gige" else 1.5) * ((4e6 if size > 5000 else 2e6) + 400 * size)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(TEXT)
    return load(path, WORDS)


def begun(plan: Plan, path: Path) -> tuple[store.RunFolder, tuple[Launch, ...]]:
    """Return a folder with what was planned, and the launches."""
    schedule = plans.expand(plan, FABRICS)
    parts = store.describe((), schedule.launches, FABRICS.values())
    about = {
        "version": store.SINCE_VERSION,
        "plan": plan.section.model_dump(mode="json"),
        "name": "crossing",
        "seed": 1,
    }
    return store.create(path, {**parts, **about}, plan.text), schedule.launches


def measure(folder: store.RunFolder, launch: Launch, truth: Callable[[str | None, int], float]) -> None:
    """Append a launch: every one has a level of its own, those of a block have half of it in common."""
    in_common, own = np.random.default_rng(launch.block), np.random.default_rng([launch.launch_id, 7])
    level = in_common.normal(0, 0.05) + own.normal(0, 0.002)
    blocks: list[SampleBlock] = []
    for case in launch.cases:
        operation_ns = truth(case.entry.fabric, case.message_size_bytes) * case.window_size
        values = operation_ns * np.exp(level + own.normal(0, 0.001, 4))
        blocks.append(SampleBlock(case.case_id, values.tolist(), burst=len(blocks)))
    results = {case.case_id: {"status": "ok", "reason": None} for case in launch.cases}
    head = {"launch_id": launch.launch_id, "block": launch.block, "entry_id": launch.entry.entry_id}
    record = {**head, "status": "ok", "reason": None, "results": results, "elapsed_ns": 10**9, "details": {}}
    folder.append(record, blocks, again=True)


def sharpened(
    plan: Plan, path: Path, truth: Callable[[str | None, int], float] = crossing_ns
) -> tuple[store.RunFolder, Told]:
    folder, launches = begun(plan, path)
    told = Told()
    for launch in chain(launches, chain.from_iterable(Sharpening(plan.section, folder, told).launches(()))):
        measure(folder, launch, truth)
    folder.end()
    return folder, told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> store.RunFolder:
    """A run with a crossover, made without interruption."""
    place = tmp_path_factory.mktemp("whole")
    (place / "plan.yaml").write_text(TEXT)
    return sharpened(load(place / "plan.yaml", WORDS), place / "run")[0]


def crossing(run: Any) -> tuple[int, int]:
    """Return the interval of the one crossover of the ping-pong."""
    values = launch_values(run).filter(pl.col("benchmark") == "ping_pong")
    (found,) = crossovers(ranges(compared(values, KINDS["fabric"], rules_of(run))))
    return found.above_bytes, found.below_bytes


def test_a_crossovers_interval_becomes_narrower(plan: Plan, tmp_path: Path) -> None:
    folder, told = sharpened(plan, tmp_path / "run")
    run = folder.read()
    planned = crossing(folder.read(10))
    after = crossing(run)
    assert planned == (2048, 4096)
    assert planned[0] <= after[0] < CROSSING_BYTES < after[1] <= planned[1]
    assert after[1] / after[0] < 1.3, "nearer by, the two differ by less than the margin"
    assert [added.round for added in run.manifest.additions] == [1, 2]
    assert "round 1 of 2, 10 launches" in told.sentences[0]
    assert "between 2 KiB and 4 KiB" in told.sentences[0]
    assert told.more_launches == len(run.journal) - 10 == 20


def test_both_sides_of_a_pair_get_the_same_sizes_in_the_same_blocks(whole: store.RunFolder) -> None:
    values = launch_values(whole.read()).filter(pl.col("round") > 0, pl.col("metric_id") == "latency_ns_separate")
    sides = values.partition_by("entry_id", maintain_order=True)
    points = [set(side.select("message_size_bytes", "block").iter_rows()) for side in sides]
    assert len(points) == 2
    assert points[0] == points[1]
    assert values["block"].min() == 6, "blocks of their own"


def test_no_verdict_of_a_planned_size_changes(whole: store.RunFolder) -> None:
    """What is measured again in a round, for the model of time over size, counts in no comparison and no estimate."""
    frames = []
    for run in (whole.read(10), whole.read()):
        frame = compare(launch_values(run), KINDS["fabric"], rules_of(run)).drop("method")
        frames.append(frame.filter(pl.col("message_size_bytes").log(2) % 1 == 0))
    assert frames[0].equals(frames[1])
    assert launch_values(whole.read(), anchors=True).height > launch_values(whole.read()).height


def test_while_a_round_goes_on_verdicts_are_those_of_a_look(whole: store.RunFolder) -> None:
    assert "12 of 20 launches" in rules_of(whole.read(13)).words
    assert "judged among themselves" in rules_of(whole.read()).words
    assert rules_of(whole.read()).method == "fixed"


def test_a_protocols_change_is_found_more_closely(plan: Plan, tmp_path: Path) -> None:
    folder, told = sharpened(plan, tmp_path / "run", protocol_ns)
    assert "the protocol changes between 4 KiB and 8 KiB" in told.sentences[0]
    fits = fabriscope.load(folder.path).fits().filter(pl.col("fabric") == "gige").sort("piece")
    assert fits["piece_count"].to_list() == [2, 2]
    above, below = fits["last_size_bytes"][0], fits["first_size_bytes"][1]
    assert 4096 <= above <= 5000 < below <= 8192
    assert below / above < 1.1
    assert fits["latency_ns"][1] / fits["latency_ns"][0] == pytest.approx(2, rel=0.05), "levels of launches are aligned"


@pytest.mark.parametrize("kept_lines", [10, 11, 20, 21, 25])
def test_interrupted_anywhere_it_makes_the_same_launches(
    plan: Plan, tmp_path: Path, whole: store.RunFolder, kept_lines: int
) -> None:
    folder, launches = begun(plan, tmp_path / "run")
    for launch in launches:
        measure(folder, launch, crossing_ns)
    for launch in chain.from_iterable(Sharpening(plan.section, folder, Told()).launches(())):
        if len(folder.read().lines) >= kept_lines:
            break
        measure(folder, launch, crossing_ns)
    again = store.open_run(folder.path)
    done = again.done()
    for launch in chain.from_iterable(Sharpening(plan.section, again, Told()).launches(done)):
        assert launch.launch_id not in done
        measure(again, launch, crossing_ns)
    assert again.manifest.schedule == whole.manifest.schedule
    assert again.manifest.additions == whole.manifest.additions
    assert launch_values(again.read()).equals(launch_values(whole.read()))
    assert not check_folder(folder.path).findings


@pytest.mark.parametrize(("field", "place"), [('"added":1', "line 11"), ('"above_bytes":2048', "line 11, near")])
def test_a_change_in_what_was_added_is_found(tmp_path: Path, whole: store.RunFolder, field: str, place: str) -> None:
    assert not check_folder(whole.path).findings
    shutil.copytree(whole.path, tmp_path / "run")
    path = tmp_path / "run" / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    assert field in lines[10]
    lines[10] = lines[10].replace(field, f"{field[:-1]}3", 1)
    path.write_text("".join(lines))
    findings = check_folder(path.parent).findings
    assert [one.file for one in findings] == ["journal.jsonl"]
    assert place in findings[0].place


def test_a_folder_without_rounds_stays_readable_by_older_versions(plan: Plan, tmp_path: Path) -> None:
    schedule = plans.expand(plan, FABRICS)
    folder = store.create(tmp_path / "run", store.describe((), schedule.launches, FABRICS.values()), plan.text)
    assert json.loads((folder.path / "manifest.json").read_text())["version"] == 1
    with pytest.raises(StoreError, match="no launches are added"):
        folder.add(1, schedule.launches[:1], [])


def test_sizes_lie_in_the_widest_gaps() -> None:
    interval = Interval("", (), 1024, 2048)
    first = sizes_inside(interval, (), 3)
    assert len(first) == 3
    points = [1024, *first, 2048]
    gaps = [math.log(other / one) for one, other in pairwise(points)]
    assert max(gaps) < 1.3 * math.log(2) / 4
    assert not set(sizes_inside(interval, first, 3)) & set(first)
    assert sizes_inside(Interval("", (), 256, 65536), (), 3) == [1024, 4096, 16384]
    assert sizes_inside(Interval("", (), 8, 10), (), 3) == [9]
    assert sizes_inside(Interval("", (), 8, 10), (9,), 3) == []
    level = Interval("", (), 1024, 4096, (1500, 3500))
    assert all(not 1500 < size < 3500 for size in sizes_inside(level, (1500, 2048, 3500), 3))


def test_a_case_of_another_size_is_what_the_plan_would_have_made_of_it(plan: Plan) -> None:
    section = BenchmarkSection(sizes=(1, 1 << 20), window=(16, 64), datatype=("int32",))
    entry = plans.expand(plan, FABRICS).entries[0]
    case = Case(entry, "bandwidth", 1, 64, "window 64")
    assert plans.at_size(case, 1 << 18, section) == replace(case, message_size_bytes=1 << 18, window_size=16)
    assert plans.at_size(case, 512, section) == replace(case, message_size_bytes=512)
    reduction = Case(entry, "allreduce", 8, parameters=(("datatype", "double"),))
    assert plans.at_size(reduction, 12, section) is None, "no whole number of elements"
    assert plans.at_size(Case(entry, "barrier", 0), 8, section) is None


def test_what_does_not_cross_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    def straight_ns(fabric: str | None, size: int) -> float:
        return (1.0 if fabric == "gige" else 1.5) * (2e6 + 400 * size)

    folder, told = sharpened(plan, tmp_path / "run", straight_ns)
    assert intervals(folder.read()) == []
    assert told.sentences == ["round 1 of 2: nothing is left to sharpen"]
    assert not folder.manifest.additions
