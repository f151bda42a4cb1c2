"""A run that an older version began goes on, and only as what it was begun as."""

from __future__ import annotations

import dataclasses
import functools
import threading
from pathlib import Path

import pytest
from tests.small_plans import Interrupting

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.model import units
from fabriscope.model.errors import PlanError, StoreError
from fabriscope.progress import QuietProgress
from fabriscope.running import resumption, run
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: short
hosts: localhost
layers: [shm]
placements: [intra]
benchmarks: {ping_pong: {sizes: [1kb]}}
launches: 2
counters: false
budget: 0200ms
"""


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A run of such a plan that was interrupted after one of two launches."""
    path, cancel = tmp_path / "plan.yaml", threading.Event()
    path.write_text(PLAN)
    with units.old_spellings():
        plan = plans.load(path, vocabulary())
    assert not run.start(plan, tmp_path / "run", Interrupting(1, cancel), cancel).is_complete
    return tmp_path / "run"


def test_it_goes_on(begun: Path) -> None:
    assert run.resume(begun, QuietProgress(), threading.Event()).is_complete


def test_another_meaning_than_that_of_the_manifest_is_refused(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(units._SIZE_FACTORS, "kb", 1 << 10)  # as if this version took it for something else
    with pytest.raises(StoreError, match=r"1000.*1024"):
        run.resume(begun, QuietProgress(), threading.Event())


def test_a_new_run_asks_what_is_meant(tmp_path: Path, begun: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    with pytest.raises(PlanError, match="'1kb' may be bits"):
        plans.load(tmp_path / "plan.yaml", vocabulary())
    assert resumption.stored_plan(store.open_run(begun), vocabulary()).section.name == "short"
    with pytest.raises(PlanError, match="'1kb' may be bits"):
        plans.load(tmp_path / "plan.yaml", vocabulary())


@pytest.mark.parametrize("before", [{"turns": "off", "bind": None}, {"turns": "off", "bind": "default"}])
def test_what_a_plan_leaves_unsaid_is_what_it_was_when_the_run_began(tmp_path: Path, before: dict[str, object]) -> None:
    path, cancel = tmp_path / "plan.yaml", threading.Event()
    path.write_text(PLAN.replace("1kb", "1KiB").replace("0200", "200").replace("0200ms", "200ms"))
    plan = plans.load(path, vocabulary())
    section = plan.section.model_copy(update=before)  # as a version whose defaults these are would have it
    assert not run.start(
        dataclasses.replace(plan, section=section), tmp_path / "run", Interrupting(1, cancel), cancel
    ).is_complete
    assert run.resume(tmp_path / "run", QuietProgress(), threading.Event()).is_complete
    assert not any(record.details.turns for record in store.open_run(tmp_path / "run").read().journal)


def test_it_goes_on_in_the_orders_that_it_was_begun_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cancel = tmp_path / "plan.yaml", threading.Event()
    path.write_text(PLAN.replace("1kb", "1KiB").replace("0200", "200").replace("launches: 2", "launches: 5"))
    plan = plans.load(path, vocabulary())
    with monkeypatch.context() as before:
        before.setattr(run, "_schedule", functools.partial(run._schedule, all_drawn=True))
        run.start(plan, tmp_path / "run", Interrupting(1, cancel), cancel)
    begun = store.open_run(tmp_path / "run").manifest.begun_with
    assert begun != store.scheduled(plans.expand(plan, {}).launches)  # as it would be begun now
    assert run.resume(tmp_path / "run", QuietProgress(), threading.Event()).is_complete
    assert store.open_run(tmp_path / "run").manifest.begun_with == begun
