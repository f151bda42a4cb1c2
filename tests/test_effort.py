"""Which launches a run that goes on until it is decided makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.decisions import state_of
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.case import Case, Entry
from fabriscope.model.manifest import PlanFacts
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.plan import Plan, Vocabulary, load
from fabriscope.progress import QuietProgress
from fabriscope.running.effort import Effort

SLOW = Entry("tcp", "ethernet-100", "inter", HOSTS)
OTHER = Entry("tcp", "other", "inter", HOSTS)
FLOOR = Entry("null", None, "intra", ("a", "a"))
NOISY = (1.0, 1.3, 0.8, 1.1, 0.9, 1.2)
QUIET = (1.0, 1.001, 0.999, 1.0005, 1.0, 1.002)
TEXT = """
name: effort
hosts: a,b
fabrics: {gige: {lab: gige}, ethernet-100: {lab: ethernet-100}, other: {lab: gige}}
benchmarks: {ping_pong: {sizes: [8]}}
until: decided
compare: [fabric]
"""


class Folder:
    """A run of which a number of blocks have been measured."""

    def __init__(self, run: RunData, blocks: int) -> None:
        self._run = replace(run, journal=tuple(one for one in run.journal if one.block <= blocks))
        self.manifest = run.manifest

    def done(self) -> dict[int, LaunchRecord]:
        return {record.launch_id: record for record in self._run.journal}

    def read(self) -> RunData:
        return self._run


class Told(QuietProgress):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def measured(blocks: int = 6) -> RunData:
    """gige and ethernet-100 differ clearly; gige and the other one do not, and are noisy."""
    times = {TCP: (1.0, QUIET), SLOW: (5.0, QUIET), OTHER: (1.0, NOISY), FLOOR: (0.01, QUIET)}
    run = run_of(
        {
            Case(entry, "ping_pong", 8): [[[1e6 * factor * wobble]] for wobble in noise[:blocks]]
            for entry, (factor, noise) in times.items()
        }
    )
    return replace(run, manifest=replace(run.manifest, plan=PlanFacts(until="decided")))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(TEXT)
    words = Vocabulary(
        frozenset(BENCHMARKS), frozenset({"engine"}), frozenset({"tcp"}), frozenset({"gige", "ethernet-100"})
    )
    return load(path, words)


def launch(entry: Entry, block: int) -> Launch:
    return Launch(99, block, entry, (), 1, 1)


def test_the_state_says_what_is_open_and_what_it_takes() -> None:
    state = state_of(measured(), ["fabric"])
    assert (state.block_count, state.decided, state.total) == (6, 2, 3)
    assert state.open_entries == {"gige.tcp.inter", "other.tcp.inter"}
    assert state.block_ns == 2 * 10**9
    assert "after 6 blocks 2 of 3 comparisons are decided; 21 to " in state.sentence()
    assert state_of(measured(), ["fabric"], blocks=2).decided == 0, "two blocks decide nothing"
    early = state_of(measured(), ["fabric"], blocks=4).sentence()
    assert early.endswith("; 4 blocks cannot tell how many more would decide the others")


def test_where_nothing_is_to_be_compared_nothing_is_decided() -> None:
    state = state_of(measured(), ["layer"])
    assert (state.total, state.is_decided) == (0, False)
    assert state.sentence() == "after 6 blocks there is nothing to compare"


def test_only_what_is_open_is_launched_again(plan: Plan) -> None:
    told = Told()
    effort = Effort(plan, Folder(measured(), 4), told)  # type: ignore[arg-type]
    assert plan.section.launches == 50
    assert not effort.wants(launch(OTHER, 3)), "that block is over"
    assert effort.wants(launch(TCP, 5))
    assert effort.wants(launch(OTHER, 5))
    assert effort.wants(launch(replace(TCP, twin=True), 5)), "the control goes on with what it repeats"
    assert not effort.wants(launch(FLOOR, 5))
    assert len(told.sentences) == 1
    effort.end()
    assert told.sentences[-1].startswith("the blocks are spent: after 4 blocks")


def test_a_launch_that_failed_is_made_again_in_a_block_that_is_over(plan: Plan) -> None:
    run = measured()
    effort = Effort(plan, Folder(run, 4), Told())  # type: ignore[arg-type]
    (failed,) = (one for one in run.journal if one.block == 2 and one.entry_id == OTHER.entry_id)
    assert effort.wants(replace(launch(OTHER, 2), launch_id=failed.launch_id))
    assert not effort.wants(launch(OTHER, 2)), "one that was never made stays left out"


def test_the_first_blocks_are_made_whole(plan: Plan) -> None:
    effort = Effort(plan, Folder(measured(), 0), Told())  # type: ignore[arg-type]
    assert all(effort.wants(launch(entry, block)) for block in (1, 2, 3) for entry in (TCP, SLOW, OTHER, FLOOR))


def test_what_is_decided_earlier_stays_so_on_resume(plan: Plan) -> None:
    """A run that was interrupted inside block 5 decides about that block by the blocks before it."""
    run = measured()
    states = [state_of(run, ["fabric"], blocks=4), state_of(Folder(run, 4).read(), ["fabric"])]
    assert states[0] == states[1]


def test_it_ends_when_the_budget_is_spent(plan: Plan) -> None:
    poor = replace(plan, section=plan.section.model_copy(update={"budget": 10**9}))
    effort = Effort(poor, Folder(measured(), 4), Told())  # type: ignore[arg-type]
    assert not effort.wants(launch(OTHER, 5))


def test_a_plan_with_a_number_of_launches_makes_them_all(plan: Plan) -> None:
    fixed = replace(plan, section=plan.section.model_copy(update={"until": "launches"}))
    effort = Effort(fixed, Folder(measured(), 6), Told())  # type: ignore[arg-type]
    assert effort.wants(launch(FLOOR, 1))
