"""A folder that cannot be locked is refused before anything is prepared for its run."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.small_plans import Interrupting

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.model.errors import StoreError
from fabriscope.progress import QuietProgress
from fabriscope.running import run, site
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: short
hosts: localhost
layers: [shm]
placements: [intra]
benchmarks: {ping_pong: {sizes: [1]}}
launches: 2
counters: false
budget: 100ms
"""


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A run that was interrupted after one of two launches."""
    path, cancel = tmp_path / "plan.yaml", threading.Event()
    path.write_text(PLAN)
    summary = run.start(plans.load(path, vocabulary()), tmp_path / "run", Interrupting(1, cancel), cancel)
    assert not summary.is_complete
    return tmp_path / "run"


def refuse_to_prepare(*_: object, **__: object) -> None:
    raise AssertionError("nothing is prepared for a folder that cannot be locked")


def test_a_lock_that_is_a_folder_is_refused_by_name(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "prepare", refuse_to_prepare)
    (begun / ".lock").unlink()
    (begun / ".lock").mkdir()
    with pytest.raises(StoreError, match=r"\.lock: the lock of a run must be a plain file -- remove it"):
        run.resume(begun, QuietProgress(), threading.Event())


def test_a_run_that_another_process_writes_to_is_not_prepared(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "prepare", refuse_to_prepare)
    with store.open_run(begun).lock(), pytest.raises(StoreError, match="another process is writing to this run"):
        run.resume(begun, QuietProgress(), threading.Event())


def test_what_goes_on_holds_the_lock_from_the_first(begun: Path) -> None:
    assert run.resume(begun, QuietProgress(), threading.Event()).is_complete
