"""What of a run's folder is believed: nothing whose seals were taken out, and no line that no run could write."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.store.test_run_folder import CASE, ENTRY, LAUNCHES, RUN_BEFORE_RANKS, STORED_RUN, blocks, contents, record

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.counters import Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.manifest import Near
from fabriscope.model.measurement import Launch
from fabriscope.running import resumption
from fabriscope.store import age, checks, seal
from fabriscope.store.files import to_json

Lines = list[dict[str, Any]]


def watch(*times: int) -> Watch:
    readings = tuple(Reading(at_ns, at_ns, 0, {"eth0": {"rx_bytes": at_ns}}) for at_ns in times)
    return Watch("n0", "boot", {"eth0": ("10.0.0.1",)}, {"eth0": 1500}, readings)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three launches, with counters, that has ended."""
    folder = store.create(tmp_path / "run", contents(), "name: test\n")
    folder.note_idle({"n0": watch(1, 2)})
    for number in (1, 2, 3):
        folder.append(record(number), blocks(), watches={"n0": watch(number, number + 1)})
    folder.end()
    return folder.path


def lines_of(run: Path) -> Lines:
    return [json.loads(text) for text in (run / "journal.jsonl").read_text().splitlines()]


def write_lines(run: Path, lines: Lines) -> None:
    (run / "journal.jsonl").write_bytes(b"".join(to_json(line) + b"\n" for line in lines))


def change_manifest(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    change(manifest)
    (run / "manifest.json").write_bytes(to_json(manifest, indent=1) + b"\n")


def seal_anew(run: Path, lines: Lines) -> None:
    """Write the lines with every digest right, as a liar would."""
    content = (run / "manifest.json").read_bytes()
    chain = seal.origin(content, b"")
    sealed = []
    for line in lines:
        files = line["seal"]["files"]
        names = {line[field] for field in ("samples", "counters") if line.get(field)} | set(files)
        known = {name: run / name for name in names if isinstance(name, str) and (run / name).is_file()}
        about = {name: {"sha256": seal.sha256(path.read_bytes()), "marks": "1:0:0"} for name, path in known.items()}
        plain = {name: value for name, value in line.items() if name != "seal"}
        sealed.append(seal.sealed(plain, about, chain))
        chain = sealed[-1]["seal"]["chain"]
    write_lines(run, sealed)
    seal.write(run, seal.digests_of(run, ["manifest.json"], ["plan.yaml"]), len(sealed), chain, ended=True)


def launches(run: Path) -> list[int]:
    return [line.launch_id for line in store.open_run(run).read().journal]


def refused(run: Path) -> str:
    """Return why a run may not go on."""
    with pytest.raises(StoreError) as caught:
        resumption.check_whole(store.open_run(run), lambda: pytest.fail("the plan is not at fault"))
    return str(caught.value)


# Seals that were taken out.


def test_versions_before_seals_wrote_nothing_else(run: Path) -> None:
    for stored in (STORED_RUN, RUN_BEFORE_RANKS):
        assert age.must_be_sealed(json.loads((stored / "manifest.json").read_text()), lines_of(stored)) == ""
        assert store.open_run(stored).read().notes == ()
    assert age.must_be_sealed(json.loads((run / "manifest.json").read_text()), []) == "manifest.json, sealed"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"version": 2}, "version"),
        ({"sealed": True}, "sealed"),
        ({"plan": {"counters": True}}, "plan.counters"),
        ({"plan": {"fabrics": {"gige": {"rdma": None}}}}, "plan.fabrics.gige.rdma"),
        ({"mpi": {"m.1": {"over": None}}}, "mpi.m.1.over"),
        ({"lab": {"guests": []}}, "lab.guests"),
        ({"versions": {"programs": {}}}, "versions.programs"),
        ({"sealed": False, "plan": {}, "lab": None, "mpi": []}, ""),
    ],
)
def test_what_came_with_seals_or_later_is_known(change: dict[str, Any], place: str) -> None:
    assert age.newer_part({"format": "fabriscope-run", "version": 1, **change}) == place


@pytest.mark.parametrize("part", [{"version": 2}, {"versions": {"engine_sha256": "0"}}, {"lab": {"guests": []}}])
def test_a_folder_without_the_seals_that_it_must_have_is_told_as_such_and_does_not_go_on(
    run: Path, part: dict[str, Any]
) -> None:
    (run / "seal.json").unlink()
    change_manifest(run, lambda manifest: (manifest.pop("sealed"), manifest.update(part)))
    newer = ("seal", "attempt", "counters", "idle_counters")
    write_lines(run, [{name: line[name] for name in line if name not in newer} for line in lines_of(run)])
    (note,) = store.open_run(run).read().notes
    assert "seal.json is missing, and only versions that write one write what stands in manifest.json, " in note
    assert [finding.file for finding in checks.check_folder(run).findings] == ["seal.json"]
    assert "the run cannot go on: seal.json: the file is missing" in refused(run)
    with pytest.raises(StoreError, match="missing"):
        store.open_run(run).append(record(1), again=True)


@pytest.mark.parametrize("bare", [(0,), (0, 1), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("has_seal", [True, False])
@pytest.mark.parametrize("says_sealed", [True, False])
def test_lines_whose_seals_were_taken_out_are_left_out_by_name(
    run: Path, bare: tuple[int, ...], has_seal: bool, says_sealed: bool
) -> None:
    lines = lines_of(run)
    for place in bare:
        del lines[place]["seal"]
        lines[place]["elapsed_ns"] = 5
    write_lines(run, lines)
    if not has_seal:
        (run / "seal.json").unlink()
    if not says_sealed:
        change_manifest(run, lambda manifest: manifest.pop("sealed"))
    if has_seal and not says_sealed:
        with pytest.raises(StoreError, match=r"manifest\.json: it was changed after it was written"):
            store.open_run(run).read()
    elif not says_sealed and 0 not in bare:  # the first line's chain says that the manifest is another
        with pytest.raises(StoreError, match=r"manifest\.json: it, line 1 of the journal or a line before that"):
            store.open_run(run).read()
    elif has_seal or len(bare) < 3:
        notes = "\n".join(store.open_run(run).read().notes)
        assert not {place + 1 for place in bare} & set(launches(run))
        for place in bare:
            assert f"launch {place + 1} is left out: journal.jsonl, line {place + 1}: it has no digests" in notes
        assert ("seal.json is missing" in notes) is not has_seal
    else:
        assert "nothing here was compared with a digest" in store.open_run(run).read().notes[0]
    assert checks.check_folder(run).findings
    refused(run)


def test_lines_of_an_older_version_are_covered_by_what_was_sealed_after_them(tmp_path: Path) -> None:
    folder = store.create(tmp_path / "run", contents(), "name: test\n")
    (folder.path / "seal.json").unlink()
    change_manifest(folder.path, lambda manifest: manifest.pop("sealed"))
    older = {**record(1), "details": {}, "commands": [], "samples": None}
    write_lines(folder.path, [older])
    store.open_run(folder.path).append(record(2), blocks())
    assert (launches(folder.path), store.open_run(folder.path).read().notes) == ([1, 2], ())
    write_lines(folder.path, [{**older, "elapsed_ns": 77}, *lines_of(folder.path)[1:]])
    notes = store.open_run(folder.path).read().notes
    assert notes[0].startswith("launch 1 is left out: journal.jsonl, line 1: it was changed after it was written, or")


def test_a_changed_manifest_is_told_by_the_journal_where_the_seal_is_gone(run: Path) -> None:
    (run / "seal.json").unlink()
    (note,) = store.open_run(run).read().notes
    assert note == "seal.json is missing: the manifest was compared with nothing"
    change_manifest(run, lambda manifest: manifest["fabrics"]["gige"].update(line_rate_bits_per_s=10))
    with pytest.raises(
        StoreError, match=r"manifest\.json: it, line 1 of the journal or a line before that was changed"
    ):
        store.open_run(run).read()


def test_a_changed_line_behind_a_damaged_one_is_left_out_too(run: Path) -> None:
    first, second, third = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(
        first[:40] + b"\n" + second.replace(b'"elapsed_ns":2', b'"elapsed_ns":3') + third
    )
    notes = store.open_run(run).read().notes
    assert launches(run) == [3]
    assert "launch 2 is left out: journal.jsonl, line 2: elapsed_ns: it was changed after it was written" in notes


@pytest.mark.parametrize("more", [b"torn", b"{}", b"\n", b"\0\0", b" ", b'{"launch_id": 4}\n'])
def test_what_is_added_to_the_journal_of_a_run_that_has_ended_is_told_by_who_reads_it(run: Path, more: bytes) -> None:
    with (run / "journal.jsonl").open("ab") as journal:
        journal.write(more)
    assert "journal.jsonl, line 4: it was added after the run had ended" in store.open_run(run).read().notes


def test_a_seal_that_is_not_of_this_journal_is_told(run: Path) -> None:
    stated = json.loads((run / "seal.json").read_text())
    files = stated["files"]
    seal.write(run, files, 3, "0" * 64, ended=True)
    assert store.open_run(run).read().notes == (
        "journal.jsonl, line 3: it is not the line that the seal was made over",
    )
    seal.write(run, {}, 3, stated["chain"], ended=True)
    assert store.open_run(run).read().notes == ("seal.json has no digest of manifest.json",)
    stated = {**json.loads((run / "seal.json").read_text()), "version": 2}
    del stated["seal"]
    (run / "seal.json").write_bytes(to_json({**stated, "seal": seal.sha256(to_json(stated))}, indent=1) + b"\n")
    assert "the seal is 'fabriscope-seal' of version 2" in store.open_run(run).read().notes[0]
    assert [finding.file for finding in checks.check_folder(run).findings] == ["seal.json"]


# What is sealed and was never measured.


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
        ("round", -1), ("burst", -1), ("start_ns", -1), ("rank", -1), ("peer", -1),
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
    parts = store.describe((other,), LAUNCHES)
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
