"""What of a run's folder is believed: nothing whose seals were taken out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.store.test_run_folder import RUN_BEFORE_RANKS, STORED_RUN, blocks, contents, record

from fabriscope import store
from fabriscope.model.counters import Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.record import FileDigests
from fabriscope.model.switch_series import Counted
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
        folder.append(record(number), blocks(), counted=Counted({"n0": watch(number, number + 1)}))
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
    sealed: list[dict[str, Any]] = []
    for line in lines:
        files = line["seal"]["files"]
        names = {line[field] for field in ("samples", "counters") if line.get(field)} | set(files)
        known = {name: run / name for name in names if isinstance(name, str) and (run / name).is_file()}
        about = {name: FileDigests(seal.sha256(path.read_bytes()), "1:0:0") for name, path in known.items()}
        plain = {name: value for name, value in line.items() if name != "seal"}
        line_sealed = seal.sealed(plain, about, chain)
        sealed.append(line_sealed.document)
        chain = line_sealed.chain
    write_lines(run, sealed)
    seal.write(run, seal.digests_of(run, ["manifest.json"], ["plan.yaml"]), len(sealed), chain, ended=True)


def launches(run: Path) -> list[int]:
    return [line.launch_id for line in store.open_run(run).read().journal]


def refused(run: Path) -> str:
    """Return why a run may not go on."""
    with pytest.raises(StoreError) as caught:
        resumption.check_whole(store.open_run(run), lambda: pytest.fail("the plan is not at fault"))
    return str(caught.value)


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
