"""The run folder keeps what it was given, and survives what can happen to it."""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fabriscope
from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import StoreError
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import RANK_OPERATION, Launch, SampleBlock
from fabriscope.model.run_data import SAMPLE_COLUMNS
from fabriscope.store import inside

STORED_RUN = Path(__file__).parent / "data" / "run-version-1"
RUN_BEFORE_RANKS = STORED_RUN.with_name("run-before-ranks")
"""Written when samples had no column `rank` and cases no parameters; its summary, as printed then, stands beside it."""
ENTRY = Entry("tcp", "gige", "inter", ("n0", "n1"))
CASE = Case(ENTRY, "ping_pong", 8)
LAUNCHES = tuple(Launch(number, number, ENTRY, (CASE,), seed=7, budget_ns=10**9) for number in (1, 2, 3))


def contents() -> dict[str, Any]:
    fabric = Fabric("gige", {"n0": "eth0", "n1": "eth0"}, line_rate_bits_per_s=10**9, mtu_bytes=1500)
    return {**store.describe((CASE,), LAUNCHES, (fabric,)), "name": "test", "seed": 7}


def record(launch_id: int) -> dict[str, Any]:
    return {
        "launch_id": launch_id,
        "block": launch_id,
        "entry_id": ENTRY.entry_id,
        "status": "ok",
        "reason": None,
        "results": {CASE.case_id: {"status": "ok", "reason": None}},
        "started_unix_ns": 1,
        "elapsed_ns": 2,
        "details": {"clock": float("nan")},
        "fabric_counters": {},
    }


def blocks() -> list[SampleBlock]:
    return [
        SampleBlock(CASE.case_id, [5, 6], phase="warmup"),
        SampleBlock(CASE.case_id, []),
        SampleBlock(CASE.case_id, [7, 8, 9], round=1, burst=2, start_ns=2**40),
    ]


def outcome(host: str = "n0") -> Outcome:
    return Outcome(Command(("engine", "--x"), host), 0, b"said\n", b"\xff", 1, 2)


@pytest.fixture
def folder(tmp_path: Path) -> store.RunFolder:
    return store.create(tmp_path / "run", contents(), "name: test\n")


def test_what_went_in_comes_back(folder: store.RunFolder) -> None:
    folder.append(record(1), blocks(), [outcome(), outcome("../n1")])
    folder.append(record(2), [], [])
    run = store.open_run(folder.path).read()
    frame = run.samples.collect()
    assert tuple(frame.columns) == SAMPLE_COLUMNS
    assert frame["value"].to_list() == [5, 6, 7, 8, 9]
    assert frame["phase"].to_list() == ["warmup", "warmup", "measure", "measure", "measure"]
    assert frame["start_ns"].to_list()[-1] == 2**40
    assert [line.launch_id for line in run.journal] == [1, 2]
    assert run.journal[0].samples == "samples/launch-0001.parquet"
    assert run.journal[0].document["details"] == {"clock": None}
    assert run.journal[0].commands[0].argv == ("engine", "--x")
    assert run.journal[1].samples is None
    raw = sorted(path.name for path in (folder.path / "raw" / "launch-0001").iterdir())
    assert raw == ["0-n0.stderr.gz", "0-n0.stdout.gz", "1-.._n1.stderr.gz", "1-.._n1.stdout.gz"]
    assert gzip.decompress((folder.path / "raw/launch-0001/0-n0.stdout.gz").read_bytes()) == b"said\n"
    assert (folder.path / "plan.yaml").read_text() == "name: test\n"


def failed(launch_id: int) -> dict[str, Any]:
    results = {CASE.case_id: {"status": "failed", "reason": "gone"}}
    return {**record(launch_id), "status": "failed", "reason": "gone", "results": results}


def test_a_run_that_cannot_begin_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for path in (tmp_path / "new", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with monkeypatch.context() as patched:
            patched.setattr("fabriscope.store.seal.write", full)
            with pytest.raises(StoreError, match="the run folder cannot be made: No space left"):
                store.create(path, contents(), "name: x\n")
        assert path.name == "empty" or not path.exists()
        store.create(path, contents(), "name: x\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give a folder away -- run as root")
def test_a_folder_of_somebody_else_is_no_place_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    os.chown(tmp_path / "run", 65534, 65534)
    with pytest.raises(StoreError, match="belongs to another user"):
        store.create(tmp_path / "run", contents(), "name: x\n")
    with pytest.raises(StoreError, match="belongs to another user"):
        store.refuse_impossible(tmp_path / "run")


def test_a_launch_made_again_takes_the_place_of_the_one_that_failed_and_both_stay(folder: store.RunFolder) -> None:
    folder.append(failed(1), blocks()[:1], [outcome()])
    before = (folder.path / "journal.jsonl").read_bytes()
    with pytest.raises(StoreError, match="launch 1 is recorded already"):
        folder.append(record(1), blocks(), [outcome()])
    folder.append(record(1), blocks(), [outcome()], again=True)
    folder.append(failed(1), [], [], again=True)  # one that fared worse takes nothing away
    assert (folder.path / "journal.jsonl").read_bytes().startswith(before)
    run = store.open_run(folder.path).read()
    assert [(one.status, one.attempt) for one in run.journal] == [("ok", 2)]
    assert [(one.status, one.attempt) for one in run.superseded] == [("failed", 1), ("failed", 3)]
    assert folder.done()[1].status == "ok"
    assert run.samples.collect()["value"].to_list() == [5, 6, 7, 8, 9]
    for name in ("samples/launch-0001.parquet", "samples/launch-0001-attempt-2.parquet"):
        assert (folder.path / name).exists()
    assert {path.name for path in (folder.path / "raw").iterdir()} == {"launch-0001", "launch-0001-attempt-2"}


def test_of_two_attempts_that_failed_the_last_one_counts(folder: store.RunFolder) -> None:
    folder.append(failed(1))
    folder.append({**failed(1), "reason": "still gone"}, again=True)
    assert folder.done()[1].reason == "still gone"


def test_the_schedule_comes_back_as_launches(folder: store.RunFolder) -> None:
    assert store.launches_of(store.open_run(folder.path).manifest) == LAUNCHES


def test_an_empty_run_has_an_empty_frame(folder: store.RunFolder) -> None:
    frame = folder.read().samples.collect()
    assert tuple(frame.columns) == SAMPLE_COLUMNS
    assert frame.height == 0
    assert folder.done() == {}


def test_create_refuses_a_folder_with_content(folder: store.RunFolder) -> None:
    with pytest.raises(StoreError, match="not empty"):
        store.create(folder.path, contents(), "")


def test_create_says_why_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        store.create(tmp_path / "file" / "run", contents(), "")


def test_a_launch_is_recorded_once(folder: store.RunFolder) -> None:
    folder.append(record(1))
    with pytest.raises(StoreError, match="recorded already"):
        folder.append(record(1))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 3}, "newer fabriscope"),
        ({"format": "other"}, "not written by fabriscope"),
        ({"version": "1"}, "damaged"),
        ({"cases": []}, "damaged"),
    ],
)
def test_foreign_and_newer_manifests_are_refused(
    folder: store.RunFolder, change: dict[str, Any], sentence: str
) -> None:
    path = folder.path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(StoreError, match=sentence):
        store.open_run(folder.path)


def test_a_path_that_is_no_utf8_is_refused_before_anything_runs(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    odd.mkdir()
    for ask in (store.refuse_impossible, store.open_run, lambda path: store.create(path, {}, "")):
        with pytest.raises(StoreError, match="its path holds bytes that are no UTF-8"):
            ask(odd)
    assert not any(odd.iterdir())


def test_missing_and_broken_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such run folder"):
        store.open_run(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=r"no manifest\.json"):
        store.open_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        store.open_run(tmp_path)


def test_the_journal_may_be_cut_at_every_byte(folder: store.RunFolder) -> None:
    for number in (1, 2):
        folder.append(record(number), blocks())
    journal = folder.path / "journal.jsonl"
    whole = journal.read_bytes()
    first_ends = whole.index(b"\n") + 1
    for length in range(len(whole) + 1):
        journal.write_bytes(whole[:length])
        expected = (length >= first_ends) + (length == len(whole))
        assert len(folder.done()) == expected, length
        if expected < 2 and length % 37 in (0, 1):  # writing syncs, so not at every byte
            folder.append(record(expected + 1), blocks())
            assert sorted(folder.done()) == list(range(1, expected + 2))
            assert folder.read().samples.collect().height == 5 * (expected + 1)
    journal.write_bytes(whole[:first_ends] + b"\0" * 40)
    assert sorted(folder.done()) == [1]


def test_a_damaged_line_is_left_out_by_name_and_nothing_is_appended_behind_it(folder: store.RunFolder) -> None:
    for number in (1, 2, 3):
        folder.append(record(number), blocks())
    journal = folder.path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b"{torn\n" + lines[2])
    run = store.open_run(folder.path).read()
    assert [line.launch_id for line in run.journal] == [1, 3]
    assert [note.partition(": it")[0] for note in run.notes] == ["line 2 is left out: journal.jsonl, line 2"]
    with pytest.raises(StoreError, match="damaged") as caught:
        store.open_run(folder.path).append(record(4))
    assert caught.value.where == f"{journal}:2"


@pytest.mark.parametrize("damage", ["removed", "cut", "of another launch", "a folder", "a link out", "a pipe"])
def test_a_launch_of_which_a_file_is_damaged_is_left_out_by_name(folder: store.RunFolder, damage: str) -> None:
    for number in (1, 2):
        folder.append(record(number), blocks())
    path, other = (folder.path / "samples" / f"launch-000{number}.parquet" for number in (1, 2))
    content = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(content[:-9])
    elif damage == "of another launch":
        shutil.copy(other, path)
    elif damage == "a folder":
        path.mkdir()
    elif damage == "a link out":
        (folder.path.parent / "outside.parquet").write_bytes(content)
        path.symlink_to(folder.path.parent / "outside.parquet")
    elif damage == "a pipe":
        os.mkfifo(path)
    run = store.open_run(folder.path).read()
    assert [line.launch_id for line in run.journal] == [2]
    assert run.samples.collect()["launch_id"].unique().to_list() == [2]
    (note,) = run.notes
    assert note.startswith("launch 1 is left out: samples/launch-0001.parquet: ")
    assert folder.damage(folder.done()[1]) and not folder.damage(folder.done()[2])


def test_an_earlier_attempt_counts_where_the_later_one_is_damaged(folder: store.RunFolder) -> None:
    folder.append(record(1), blocks()[:1])
    folder.append(record(1), blocks(), again=True)
    (folder.path / "samples" / "launch-0001-attempt-2.parquet").write_bytes(b"")
    run = store.open_run(folder.path).read()
    assert [line.attempt for line in run.journal] == [1]
    assert "launch 1, attempt 2, is left out" in run.notes[0]


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "samples/../../outside", "", ".", "a\0b", 7, None])
def test_names_in_a_journal_are_names_inside_the_folder(folder: store.RunFolder, name: object) -> None:
    (folder.path.parent / "outside").write_text("not ours")
    with pytest.raises(StoreError):
        inside.read_bytes(folder.path, name)


def test_what_unpacks_without_end_and_what_is_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        inside.unpack(gzip.compress(bytes(10**6)), 1000)
    assert inside.unpack(gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"
    for text in (
        b"[" * 10**6,
        b"[" * 99 + b"]" * 99,
        b'[{"a":' * 50 + b"1" + b"}]" * 50,
        b"1e999",
        b"NaN",
        b'{"a": 1, "a": 2}',
    ):
        with pytest.raises(ValueError, match=r"\w"):
            inside.parse(text)
    assert inside.parse(b'["[[[", {"a": [1, 2.5, null]}]') == ["[[[", {"a": [1, 2.5, None]}]


def test_a_journal_that_is_removed_while_a_run_goes_on_is_an_error(folder: store.RunFolder) -> None:
    with folder.lock():
        folder.append(record(1), blocks())
        folder.append(record(2), blocks())
        (folder.path / "journal.jsonl").unlink()
        for step in (lambda: folder.append(record(3), blocks()), folder.end, folder.done):
            with pytest.raises(StoreError, match="gone or was changed"):
                step()
    assert not (folder.path / "journal.jsonl").exists()


def test_a_seal_that_is_damaged_is_noticed_before_anything_is_written(folder: store.RunFolder) -> None:
    folder.append(record(1), blocks())
    (folder.path / "seal.json").write_text("{}")
    with pytest.raises(StoreError, match="seal is damaged"):
        folder.append(record(2), blocks())
    (folder.path / "seal.json").unlink()
    with pytest.raises(StoreError, match="missing"):
        folder.append(record(2), blocks())
    assert len((folder.path / "journal.jsonl").read_text().splitlines()) == 1


def test_a_full_disk_says_that_the_rest_is_whole_only_where_it_is(folder: store.RunFolder) -> None:
    folder.append(record(1), blocks())
    given = resource.getrlimit(resource.RLIMIT_FSIZE)
    for damage, sentence in (
        (False, "stored before is whole"),
        (True, "nor is what was stored before whole: samples/"),
    ):
        if damage:
            (folder.path / "samples" / "launch-0001.parquet").unlink()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, given[1]))
        try:
            with pytest.raises(StoreError, match="cannot be written: File too large") as caught:
                folder.append(record(2), blocks())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, given)
        assert sentence in str(caught.value)


def test_a_folder_is_for_its_owner_alone_unless_it_was_there(tmp_path: Path) -> None:
    assert stat.S_IMODE(store.create(tmp_path / "a" / "run", contents(), "").path.stat().st_mode) == 0o700
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o750)
    assert stat.S_IMODE(store.create(tmp_path / "shared", contents(), "").path.stat().st_mode) == 0o750


def test_nothing_is_written_through_a_link(folder: store.RunFolder) -> None:
    victim = folder.path.parent / "victim"
    victim.write_text("mine")
    (folder.path / "samples" / ".launch-0001.parquet.part").symlink_to(victim)
    folder.append(record(1), blocks())
    (folder.path / ".lock").unlink()
    (folder.path / ".lock").symlink_to(folder.path.parent / "new")
    with pytest.raises(StoreError, match="cannot be written"):
        folder.append(record(2), blocks())
    assert victim.read_text() == "mine"
    assert not (folder.path.parent / "new").exists()


def test_a_second_process_is_refused(folder: store.RunFolder) -> None:
    code = f"from fabriscope import store; store.open_run({str(folder.path)!r}).append({record(1)!r})"
    code = "nan = float('nan'); " + code
    with folder.lock():
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert "another process is writing" in child.stderr
        folder.append(record(1))
    with store.open_run(folder.path).lock():
        pass


def test_a_second_process_is_refused_though_the_lock_file_was_removed(folder: store.RunFolder) -> None:
    code = "import sys; from fabriscope import store; store.open_run(sys.argv[1]).end()"
    with folder.lock():
        folder.append(record(1), blocks())
        (folder.path / ".lock").unlink()
        second = subprocess.run(
            [sys.executable, "-c", code, str(folder.path)], capture_output=True, text=True, timeout=60, check=False
        )
        assert "another process is writing to this run" in second.stderr
        folder.append(record(2), blocks())
    assert sorted(store.open_run(folder.path).done()) == [1, 2]


def test_a_line_that_another_wrote_is_noticed_before_the_next_one(folder: store.RunFolder) -> None:
    journal = folder.path / "journal.jsonl"
    with folder.lock():
        folder.append(record(1), blocks())
        content = journal.read_bytes()
        journal.write_bytes(content + content)
        with pytest.raises(StoreError, match="something else removed it or wrote to it"):
            folder.append(record(2), blocks())
    assert journal.read_bytes() == content + content


@pytest.mark.parametrize("name", [".lock", "raw/launch-0001", "samples"])
def test_a_link_where_a_run_writes_is_refused_by_name_before_anything_is_done(
    folder: store.RunFolder, tmp_path: Path, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if name == "samples":
        (folder.path / name).rmdir()
    (folder.path / name).symlink_to(elsewhere)
    with pytest.raises(StoreError, match=f"{name}: it is a symbolic link"):
        folder.append(record(1), blocks(), [outcome()])
    assert list(elsewhere.iterdir()) == []


def test_a_full_disk_damages_nothing(folder: store.RunFolder) -> None:
    folder.append(record(1), blocks(), [outcome()])
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    journal_bytes = len((folder.path / "journal.jsonl").read_bytes())
    for limit in (100, journal_bytes + 10):  # fails in the samples, then in the journal
        given = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, given[1]))
        try:
            with pytest.raises(StoreError, match="cannot be written"):
                folder.append(record(2), blocks() if limit == 100 else [])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, given)
        assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before
    folder.append(record(2), blocks())
    assert sorted(folder.done()) == [1, 2]


def test_a_run_of_version_1_stays_readable() -> None:
    run = store.open_run(STORED_RUN).read()
    assert run.manifest.version == 1
    assert [line.status for line in run.journal] == ["ok", "failed", "ok"]
    frame = run.samples.collect()
    assert tuple(frame.columns) == SAMPLE_COLUMNS
    assert frame["value"].sum() == 70
    assert store.launches_of(run.manifest) == LAUNCHES
    assert run.manifest.fabrics["gige"].line_rate_bits_per_s == 10**9


def test_the_share_of_a_rank_is_kept(folder: store.RunFolder) -> None:
    shares = [
        SampleBlock(CASE.case_id, [7, 9]),
        *(SampleBlock(CASE.case_id, [rank, 5], RANK_OPERATION, rank=rank) for rank in (0, 1)),
    ]
    folder.append(record(1), shares)
    frame = folder.read().samples.collect()
    assert frame["rank"].to_list() == [None, None, 0, 0, 1, 1]
    assert frame["quantity"].unique(maintain_order=True).to_list() == ["operation_ns", RANK_OPERATION]


def test_parameters_come_back(tmp_path: Path) -> None:
    case = Case(Entry("mpi", "gige", "inter", ("n0", "n1")), "allreduce", 8, parameters=(("datatype", "double"),))
    launch = Launch(1, 1, case.entry, (case,), seed=7, budget_ns=10**9)
    folder = store.create(tmp_path / "run", {**store.describe((), (launch,)), "name": "test"}, "name: test\n")
    assert store.launches_of(store.open_run(folder.path).manifest) == (launch,)


def test_a_run_from_before_ranks_says_what_it_said(tmp_path: Path) -> None:
    run = fabriscope.load(RUN_BEFORE_RANKS)
    frame = run.samples.collect()
    assert tuple(frame.columns) == SAMPLE_COLUMNS
    assert frame["rank"].null_count() == frame.height > 0
    assert {case.case_id for launch in run.data.manifest.launches for case in launch.cases} == set(
        run.manifest["cases"]
    )
    summary = pl.read_csv(RUN_BEFORE_RANKS.with_name("run-before-ranks-summary.csv"))
    mine = run.summary().with_columns(pl.col(pl.Int64).cast(pl.Float64), pl.col(pl.String).fill_null(""))
    expected = summary.with_columns(pl.col(pl.Int64).cast(pl.Float64), pl.col(pl.String).fill_null(""))
    assert_frame_equal(mine.select(expected.columns), expected)


def test_an_old_run_that_goes_on_has_both_kinds_of_samples(tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(STORED_RUN, path)
    before = store.open_run(path).read().samples.collect()
    store.open_run(path).append(record(2), [SampleBlock(CASE.case_id, [1], RANK_OPERATION, rank=1)], again=True)
    after = store.open_run(path).read().samples.collect()
    assert after.head(before.height).equals(before)
    assert after["rank"].to_list()[-1] == 1
