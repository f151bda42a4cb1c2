"""A run goes on as what it was begun as, or not at all."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import needs
from tests.small_plans import Interrupting
from tests.store.test_run_folder import contents

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import StoreError
from fabriscope.progress import QuietProgress
from fabriscope.running import resumption, run
from fabriscope.running.vocabulary import vocabulary
from fabriscope.store import seal
from fabriscope.store.differences import differences, plan_differences
from fabriscope.store.files import to_json

PLAN = """
name: short
hosts: node[1-2]
fabrics: {plain: {lab: gige}}
layers: [tcp]
placements: [inter]
benchmarks: {ping_pong: {sizes: [1, 64]}}
launches: 3
budget: 300ms
"""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run on a lab that was interrupted after two of six launches."""
    needs.lab()
    folder = tmp_path_factory.mktemp("begun")
    (folder / "plan.yaml").write_text(PLAN)
    plan = plans.load(folder / "plan.yaml", vocabulary())
    cancel = threading.Event()
    summary = run.start(plan, folder / "run", Interrupting(2, cancel), cancel)
    assert (summary.launch_count, summary.is_complete) == (2, False)
    yield folder / "run"


@pytest.fixture
def copied(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "run")


@pytest.fixture(scope="module")
def ended(begun: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, gone on with to its end."""
    path = shutil.copytree(begun, tmp_path_factory.mktemp("ended") / "run")
    assert go_on(path).is_complete
    return path


def go_on(path: Path, **options: bool) -> run.RunSummary:
    return run.resume(path, QuietProgress(), threading.Event(), **options)


def refused(path: Path, **options: bool) -> str:
    """Return the sentence with which a resume is refused; nothing was written."""
    before = (path / "journal.jsonl").read_bytes() if (path / "journal.jsonl").is_file() else b""
    with pytest.raises(StoreError) as caught:
        go_on(path, **options)
    after = (path / "journal.jsonl").read_bytes() if (path / "journal.jsonl").is_file() else b""
    assert before == after
    return str(caught.value)


def reseal(path: Path, **parts: Any) -> None:
    """Change parts of the manifest as if the run had been begun with them: every digest is made anew."""
    manifest = json.loads((path / "manifest.json").read_text())
    for name, value in parts.items():
        manifest[name] = value
    content = to_json(manifest, indent=1) + b"\n"
    (path / "manifest.json").write_bytes(content)
    chain = seal.origin(content, b"")
    lines = []
    for text in (path / "journal.jsonl").read_text().splitlines():
        line = json.loads(text)
        line["seal"]["chain"] = chain = seal.chain(line, chain)
        lines.append(to_json(line) + b"\n")
    (path / "journal.jsonl").write_bytes(b"".join(lines))
    files = seal.digests_of(path, ["manifest.json"], ["plan.yaml"])
    seal.write(path, files, len(lines), chain, ended=False)


def manifest_of(path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((path / "manifest.json").read_text())
    return manifest


def test_what_was_not_touched_goes_on(copied: Path) -> None:
    before = (copied / "journal.jsonl").read_bytes()
    summary = go_on(copied)
    assert (summary.launch_count, summary.is_complete, summary.failed_cases) == (6, True, 0)
    assert (copied / "journal.jsonl").read_bytes().startswith(before)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("lab: gige", "lab: ethernet-100", 'plan.fabrics.plain.lab.preset was "gige" and is "ethernet-100"'),
        ("{lab: gige}", "{lab: {preset: gige, delay: 1ms}}", "plan.fabrics.plain.lab.delay was null and is 1000000"),
        ("launches: 3", "launches: 3\nseed: 5", "plan.seed was "),
        ("launches: 3", "launches: 3\nmargin: 0.2", "plan.margin was "),
        ("launches: 3", "launches: 3\ncase_timeout: 77s", "plan.case_timeout was "),
        ("launches: 3", "launches: 3\ncounters: false", "plan.counters was true and is false"),
        ("launches: 3", "launches: 3 # three", "plan.yaml: line 8: it was changed after it was written"),
        ("name: short", "name: [", "plan.yaml: line 2: it was changed after it was written"),
    ],
)
@pytest.mark.parametrize("state", ["begun", "ended"])
def test_a_changed_plan_is_refused_with_what_differs(
    state: str, old: str, new: str, words: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = shutil.copytree(request.getfixturevalue(state), tmp_path / "run")
    plan = path / "plan.yaml"
    plan.write_text(plan.read_text().replace(old, new))
    sentence = refused(path)
    assert words in sentence
    assert "start a new run" in sentence


def test_a_preset_that_means_something_else_now_is_refused(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "gige", dataclasses.replace(PRESETS["gige"], delay_ns=77))
    assert "lab.fabrics.plain.delay_ns was" in refused(copied)


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("versions", {"engine_sha256": "0" * 64}, 'versions.engine_sha256 was "000'),
        (
            "mpi",
            {"mpich": {"name": "mpich", "kind": "mpich", "version": "4", "mpirun": "/x", "mpicxx": None}},
            "mpi.mpich",
        ),
    ],
)
def test_other_programs_are_other_instruments(copied: Path, part: str, change: dict[str, Any], words: str) -> None:
    reseal(copied, **{part: {**manifest_of(copied)[part], **change}})
    assert words in refused(copied)


def test_another_machine_under_the_same_name_is_refused(copied: Path) -> None:
    hosts = manifest_of(copied)["hosts"]
    facts = {fact["name"]: fact for fact in hosts["node1"]["facts"]}
    facts["kernel.release"]["value"] = "2.6.32"
    facts["interface.eth0.mtu_bytes"]["value"] = 9000
    facts.get("load.running_count", {})["value"] = 10**6
    reseal(copied, hosts=hosts)
    sentence = refused(copied)
    assert "kernel.release of host node1 was 2.6.32 and is " in sentence
    assert "interface.eth0.mtu_bytes of host node1 was 9000 and is 1500" in sentence
    assert "load" not in sentence


def test_what_an_older_version_did_not_keep_is_not_compared(copied: Path) -> None:
    manifest = manifest_of(copied)
    plan = {name: value for name, value in manifest["plan"].items() if name != "counters"}
    lab = {name: value for name, value in manifest["lab"].items() if name not in ("rdma", "guest_memory_bytes")}
    reseal(copied, plan=plan, lab=lab, versions={"python": "3.9"})
    assert go_on(copied).is_complete


@pytest.mark.parametrize("name", ["samples/launch-0001.parquet", "counters/launch-0001.json.gz", "raw"])
@pytest.mark.parametrize("how", ["cut", "removed"])
def test_a_damaged_launch_is_named_and_made_again_where_that_is_asked_for(copied: Path, name: str, how: str) -> None:
    path = next((copied / "raw" / "launch-0001").iterdir()) if name == "raw" else copied / name
    content = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    sentence = refused(copied)
    assert path.relative_to(copied).as_posix() in sentence
    assert "--redo-damaged" in sentence
    before = (copied / "journal.jsonl").read_bytes()
    assert go_on(copied, redo_damaged=True).is_complete
    assert (copied / "journal.jsonl").read_bytes().startswith(before)
    data = store.open_run(copied).read()
    assert {record.launch_id: record.attempt for record in data.journal} == {1: 2} | dict.fromkeys(range(2, 7), 1)
    assert data.notes == ()
    assert go_on(copied).is_complete, "what no longer counts does not stand in the way"


@pytest.mark.parametrize("name", ["seal.json", "manifest.json", "journal.jsonl"])
def test_a_broken_folder_is_refused_before_anything_is_launched(copied: Path, name: str) -> None:
    content = (copied / name).read_text()
    (copied / name).write_text(content.replace("1", "2", 1))
    assert name in refused(copied)


def test_a_journal_that_vanishes_midway_is_an_error(begun: Path, tmp_path: Path) -> None:
    plan = plans.load(begun / "plan.yaml", vocabulary())
    path = tmp_path / "run"
    progress = Interrupting(2, threading.Event(), (path / "journal.jsonl").unlink)
    with pytest.raises(StoreError, match="gone or was changed") as caught:
        run.start(plan, path, progress, threading.Event())
    assert str(path / "journal.jsonl") in str(caught.value)


def test_a_folder_that_everybody_may_write_to_is_refused(copied: Path) -> None:
    copied.chmod(0o777)
    assert "everybody may write to it" in refused(copied)


@pytest.mark.parametrize("name", ["samples", "raw", "seal.json"])
def test_what_everybody_may_write_to_in_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    folder = store.create(tmp_path / "run", contents(), "name: test\n")
    load_plan = functools.partial(plans.load, folder.path / "plan.yaml", vocabulary())
    resumption.check_whole(folder, load_plan)
    (folder.path / name).chmod(0o777)
    with pytest.raises(StoreError, match=f"{name}: everybody may write to it"):
        resumption.check_whole(folder, load_plan)


def test_a_lock_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    folder = store.create(tmp_path / "run", contents(), "name: test\n")
    os.mkfifo(folder.path / ".lock")
    with pytest.raises(StoreError, match=r"\.lock: the lock of a run must be a plain file -- remove it"), folder.lock():
        pass


def test_a_launch_that_failed_is_made_again_though_it_tells_of_results() -> None:
    """As versions before 0.1 wrote one that hung behind its last result."""
    folder = store.open_run(Path(__file__).parent / "store" / "data" / "run-version-1")
    assert [*run._kept(folder, keep_failed=False)] == [1, 3]
    assert [*run._kept(folder, keep_failed=True)] == [1, 2, 3]


def test_a_default_that_came_later_is_no_difference_and_a_word_in_the_plan_is() -> None:
    kept = {"a": 1, "inner": {"x": [1, 2]}}
    now = {"a": 1, "new": True, "inner": {"x": [1, 2], "y": 0}}
    assert plan_differences(kept, now, {"a": 1}) == []
    (found,) = plan_differences(kept, now, {"a": 1, "inner": {"y": 0}})
    assert found.sentence() == "plan.inner.y was absent and is 0"
    (found,) = plan_differences(kept, {"a": 1, "inner": {"x": [1, 3]}}, {})
    assert found.sentence() == "plan.inner.x[1] was 2 and is 3"


def test_a_variable_of_an_mpi_library_is_part_of_it() -> None:
    stack = {"name": "m", "kind": "mpich", "version": "4", "mpirun": "/m", "mpicxx": None}
    assert differences({"mpi": {"m": stack}}, {"mpi": {"m": {**stack, "env": {}, "bind": None}}}) == []
    (found,) = differences(
        {"mpi": {"m": {**stack, "env": {}}}}, {"mpi": {"m": {**stack, "env": {"FI_PROVIDER": "tcp"}}}}
    )
    assert found.sentence() == 'mpi.m.env.FI_PROVIDER was absent and is "tcp"'
