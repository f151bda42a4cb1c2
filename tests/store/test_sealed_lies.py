"""What of a run's folder is believed: nothing that no run could have written, though every digest of it be right."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.store import test_believed
from tests.store.test_believed import Lines, change_manifest, launches, lines_of, refused, seal_anew, watch
from tests.store.test_run_folder import CASE, ENTRY, LAUNCHES, STORED_RUN, contents, record

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import StoreError
from fabriscope.model.manifest import Near
from fabriscope.model.measurement import Launch
from fabriscope.store import checks
from fabriscope.store.files import to_json

run = test_believed.run


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"launch_id": -1}, "launch_id is -1, and must be 1 to 2147483647"),
        ({"launch_id": True}, "launch_id is true, and must be a whole number"),
        ({"launch_id": 9}, "launch 9 was not planned"),
        ({"launch_id": 2, "samples": "samples/launch-0002.parquet"}, "its block is 1, and was planned as 2"),
        ({"block": 2**70}, "block is a number of more than 64 bits, and must be"),
        ({"block": 3}, "its block is 3, and was planned as 1"),
        ({"mishaps": ["it rained"] * 1001}, "mishaps has 1001 items, and 1000 are the most"),
        ({"attempt": 0}, "attempt is 0, and must be 1 to"),
        ({"attempt": 10**9, "samples": None, "counters": None}, "it is attempt 1000000000, and no more than 1 lines"),
        ({"entry_id": ""}, "its entry_id is '', and was planned as 'gige.tcp.inter'"),
        ({"status": "fine"}, "status is 'fine', and must be ok or failed"),
        ({"results": {CASE.case_id: {"status": "done"}}}, "is 'done', and must be ok or failed or skipped"),
        ({"elapsed_ns": -5}, "elapsed_ns is -5, and must be 0 to"),
        ({"elapsed_ns": 1e308}, "elapsed_ns is 1e+308, and must be a whole number"),
        ({"samples": "samples/launch-0002.parquet"}, "its samples are said to be 'samples/launch-0002.parquet'"),
        ({"samples": "../../etc/passwd"}, "and must be samples/launch-0001.parquet"),
        ({"counters": "counters/launch-0002.json.gz"}, "its counters are said to be"),
        ({"idle_counters": "counters/launch-0001.json.gz"}, "its idle_counters are said to be"),
        ({"details": {"sent_payload_bytes": {"0>1": -1}}}, "sent_payload_bytes.0>1 is -1, and must be 0 to"),
        ({"details": {"sent_payload_bytes": {"0>2": 1}}}, "there is no rank 2 in gige.tcp.inter"),
        ({"details": {"sent_messages": True}}, "sent_messages is true, and must be a whole number"),
        ({"details": {"hung_case_ids": ["x"]}}, "there is no case 'x'"),
        ({"details": {"groups": {"x": {}}}}, "there is no case 'x'"),
        ({"details": {"groups": {CASE.case_id: {"slowest_ranks": {"7": 1}}}}}, "there is no rank 7"),
        ({"details": {"groups": {CASE.case_id: {"clock_error_ns": 1e308}}}}, "clock_error_ns is 1e+308, and must be"),
        (
            {"details": {"groups": {CASE.case_id: {"operation_count": 2, "slowest_ranks": {"0": 2, "1": 1}}}}},
            "ranks finished last in 3 of 2 operations",
        ),
    ],
)
def test_a_sealed_line_that_no_run_wrote_is_left_out_with_its_place(
    run: Path, change: dict[str, Any], words: str
) -> None:
    lines = lines_of(run)
    lines[0] |= change
    seal_anew(run, lines)
    assert checks.check_folder(run).notes == ()
    left, notes = launches(run), store.open_run(run).read().notes
    assert left == [2, 3]
    assert any("journal.jsonl, line 1: " in note and words in note for note in notes), notes
    assert "the run cannot go on: " in refused(run)


def test_two_lines_of_one_attempt_count_once(run: Path) -> None:
    lines = lines_of(run)
    seal_anew(run, [*lines, {**lines[0], "elapsed_ns": 5}])
    data = store.open_run(run).read()
    assert [(line.launch_id, line.elapsed_ns) for line in data.journal] == [(1, 2), (2, 2), (3, 2)]
    assert data.notes == ("launch 1 is left out: journal.jsonl, line 4: line 1 is of launch 1, attempt 1, too",)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("launch_id", 2), ("block", 7), ("case_id", "x"), ("case_id", None), ("quantity", "latency_us"),
        ("quantity", None), ("quantity", "x" * 300 + "_ns"), ("phase", "later"), ("operations_per_sample", 0),
        ("value", float("nan")), ("value", float("inf")), ("value", -1.0), ("value", 1e308), ("value", None),
        ("round", -1), ("burst", -1), ("start_ns", -1), ("rank", -1), ("peer", -1), ("rank", 99), ("peer", 2**31 - 1),
    ],
)  # fmt: skip
def test_samples_that_the_launch_cannot_have_are_left_out_though_their_digest_is_right(
    run: Path, column: str, value: object
) -> None:
    path = run / "samples" / "launch-0001.parquet"
    frame = pl.read_parquet(path)
    one = pl.lit(value, dtype=frame.schema[column])
    is_last = pl.int_range(pl.len()) == pl.len() - 1
    frame.with_columns(pl.when(is_last).then(one).otherwise(pl.col(column)).alias(column)).write_parquet(path)
    seal_anew(run, lines_of(run))
    (note,) = store.open_run(run).read().notes
    assert launches(run) == [2, 3]
    assert note.startswith(f"launch 1 is left out: samples/launch-0001.parquet: the column {column} has ")


def test_samples_of_a_pair_that_is_not_named_are_left_out(run: Path) -> None:
    path = run / "samples" / "launch-0001.parquet"
    pl.read_parquet(path).with_columns(pl.lit("pair_operation_ns").alias("quantity")).write_parquet(path)
    seal_anew(run, lines_of(run))
    (note,) = store.open_run(run).read().notes
    assert "samples/launch-0001.parquet: the column rank has None, which no sample of this launch can have" in note


def test_samples_without_a_row_are_left_out(run: Path) -> None:
    path = run / "samples" / "launch-0001.parquet"
    pl.read_parquet(path).clear().write_parquet(path)
    seal_anew(run, lines_of(run))
    assert store.open_run(run).read().notes == (
        "launch 1 is left out: samples/launch-0001.parquet: it holds no samples",
    )


@pytest.mark.parametrize("name", ["launch-0001", "idle"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda lines: lines[1]["readings"][0]["interfaces"]["eth0"].update(rx_bytes=-5),
            "rx_bytes is -5, and must be",
        ),
        (lambda lines: lines[1]["readings"][1].update(at_ns=0), "not in the order of time"),
        (lambda lines: lines.append(lines[1]), "a host stands in it twice"),
        (lambda lines: lines[1].update(mtu_bytes={"eth0": 2**40}), "mtu_bytes.eth0 is 1099511627776"),
    ],
)
def test_counters_that_no_host_counted_are_left_out_though_their_digest_is_right(
    run: Path, name: str, change: Callable[[Lines], object], words: str
) -> None:
    path = run / "counters" / f"{name}.json.gz"
    lines = [json.loads(text) for text in gzip.decompress(path.read_bytes()).splitlines()]
    change(lines)
    path.write_bytes(gzip.compress(b"\n".join(map(to_json, lines))))
    seal_anew(run, lines_of(run))
    data = store.open_run(run).read()
    assert len(data.notes) == 1 and f"counters/{name}.json.gz" in data.notes[0] and words in data.notes[0], data.notes
    assert len(data.journal) == (2 if name != "idle" else 3)
    assert data.idle_watches() == ({} if name == "idle" else {"n0": watch(1, 2)})


def test_counters_of_idle_hosts_without_a_digest_are_left_out(run: Path) -> None:
    lines = lines_of(run)
    del lines[0]["seal"]["files"]["counters/idle.json.gz"]
    seal_anew(run, lines)
    (note,) = store.open_run(run).read().notes
    assert note == "counters/idle.json.gz is left out: the journal has no digest of it"


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("cases.*.message_size_bytes", 2**60, "message_size_bytes is 1152921504606846976, and must be 0 to"),
        ("cases.*.window_size", 0, "window_size is 0, and must be 1 to"),
        ("cases.*.socket.send_buffer_bytes", -1, "send_buffer_bytes is -1, and must be"),
        ("fabrics.gige.line_rate_bits_per_s", 0, "line_rate_bits_per_s is 0, and must be 1 to"),
        ("fabrics.gige.name", "other", "fabrics.gige has the name 'other'"),
        ("fabrics.gige.service_level", 16, "service_level is 16, and must be 0 to 15"),
        ("schedule.0.block", -1, "schedule[0].block is -1"),
        ("schedule.0.budget_ns", 2**62, "schedule[0].budget_ns is"),
        ("created_unix_ns", -1, "created_unix_ns is -1, and must be at least 0"),
        ("plan.margin", 1e308, "plan.margin is 1e+308, and must be 0 to 1"),
        ("plan.margin", True, "plan.margin is true, and must be a number"),
    ],
)
def test_a_manifest_of_what_nobody_plans_is_refused_with_its_place(
    run: Path, place: str, value: object, words: str
) -> None:
    def change(part: Any) -> None:
        *steps, name = place.split(".")
        for step in steps:
            part = part[int(step)] if isinstance(part, list) else part[next(iter(part)) if step == "*" else step]
        part[name] = value

    change_manifest(run, change)
    with pytest.raises(StoreError) as caught:
        store.open_run(run)
    assert "manifest.json: the manifest is damaged: " in str(caught.value) and words in str(caught.value)


def test_a_case_of_another_entry_is_refused(run: Path) -> None:
    other = Case(Entry("tcp", None, "intra", ("n0", "n0")), "ping_pong", 8)
    parts: dict[str, Any] = dict(store.describe((other,), LAUNCHES))
    parts["schedule"][0]["case_ids"] = [other.case_id]
    change_manifest(run, lambda manifest: manifest.update(parts))
    with pytest.raises(StoreError, match=r"schedule\[0\]\.case_ids has '\w+', which is a case of another entry"):
        store.open_run(run)


def test_without_digests_a_case_is_what_its_id_says_or_the_manifest_was_changed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    manifest = json.loads((STORED_RUN / "manifest.json").read_text())
    next(iter(manifest["cases"].values()))["message_size_bytes"] = 16
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"the manifest was changed: cases\.\w+: what it says is the case \w+"):
        store.open_run(run).read()


def test_what_could_not_be_read_back_is_not_written(run: Path) -> None:
    before = (run / "journal.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r"it cannot be recorded: mishaps\[0\] is 7, and must be text"):
        store.open_run(run).append({**record(1), "mishaps": [7]}, again=True)
    assert (run / "journal.jsonl").read_bytes() == before
    assert store.open_run(run).read().notes == ()


def test_an_added_launch_has_limits_too(tmp_path: Path) -> None:
    folder = store.create(tmp_path / "run", {**contents(), "version": 2}, "name: test\n")
    added = (Launch(4, 4, ENTRY, (Case(ENTRY, "ping_pong", 64),), 7, 1),)
    folder.add(1, added, (Near("made up", 8, 512, (64,)),))
    lines = lines_of(folder.path)
    lines[0]["schedule"][0]["block"] = 2**40
    seal_anew(folder.path, lines)
    (note,) = store.open_run(folder.path).read().notes
    assert "line 1 is left out: journal.jsonl, line 1: it is damaged: schedule[0].block is 1099511627776" in note
