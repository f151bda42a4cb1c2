"""`fabriscope verify`: what was changed is found and named, and what was not is left alone."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from campaigns.damaged_folders import __main__ as damaged_folders
from campaigns.damaged_folders import mutations
from click.testing import CliRunner, Result
from tests.store.test_run_folder import blocks, contents, outcome, record

from fabriscope import store
from fabriscope.cli.show import COMMAND as SHOW
from fabriscope.cli.verify import COMMAND
from fabriscope.registry import discover
from fabriscope.reports._made_of import made_of
from fabriscope.reports.base import Options
from fabriscope.running.verify import verify
from fabriscope.store import marks, samples
from fabriscope.store.checks import check_folder

ROOT = Path(__file__).parents[1]
STORED = ROOT / "tests" / "store" / "data"


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(COMMAND, [str(word) for word in words])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every report, changed by no test."""
    return mutations.make_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def begun(tmp_path: Path) -> store.RunFolder:
    """A run of which two of three launches are stored."""
    folder = store.create(tmp_path / "run", contents(), "name: test\n")
    for number in (1, 2):
        folder.append(record(number), blocks(), [outcome()])
    return folder


def test_a_run_as_it_was_written_verifies(whole: Path, tmp_path: Path) -> None:
    said = invoke(whole)
    assert said.exit_code == 0, said.output
    assert "the samples of 16 launches against the raw output" in said.output
    assert said.output.endswith("nothing was changed\n")
    moved = shutil.copytree(whole, tmp_path / "elsewhere")
    for place in (moved / "report", moved / "report" / "report.html", moved / "report" / "estimates.csv"):
        assert verify(moved, place).findings == (), place


def test_every_kind_of_change_is_refused_and_its_place_named(whole: Path, tmp_path: Path) -> None:
    run = shutil.copytree(whole, tmp_path / "run")
    said: list[str] = []
    results = mutations.try_all(run, 30, 7, said.append)
    assert said == []
    assert sum(one.tried for one in results.values()) == 30
    assert sum(one.tried > 0 for one in results.values()) > 10


def test_the_command_names_the_place_and_ends_with_13(whole: Path, tmp_path: Path) -> None:
    run = shutil.copytree(whole, tmp_path / "run")
    samples = run / "samples" / "launch-0003.parquet"
    frame = pl.read_parquet(samples)
    frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 17).then(pl.col("value") + 1).otherwise(pl.col("value")).alias("value")
    ).write_parquet(samples, compression="zstd")
    said = invoke(run)
    assert said.exit_code == 13
    assert "samples/launch-0003.parquet: row 17, value: it was changed after it was written" in said.output
    told = json.loads(invoke(run, "--json").output)
    assert not told["is_as_written"]
    assert told["findings"][0]["file"] == "samples/launch-0003.parquet"


def test_sealing_a_changed_run_anew_does_not_hide_it_from_the_raw_output(whole: Path, tmp_path: Path) -> None:
    """Samples without their digests, as in a folder of an older version, still contradict the raw output."""
    run = shutil.copytree(whole, tmp_path / "run", ignore=shutil.ignore_patterns("report"))
    damaged_folders.strip_seals(run)
    account = verify(run)
    assert account.findings == ()
    assert any("kept no digests" in note for note in account.notes)
    samples = run / "samples" / "launch-0005.parquet"
    frame = pl.read_parquet(samples)
    frame.with_columns(pl.col("value") + (pl.int_range(pl.len()) == 3)).write_parquet(samples)
    (finding,) = verify(run).findings
    assert finding.file == "samples/launch-0005.parquet"
    assert finding.place == "row 3, value"


@pytest.mark.parametrize("name", ["run-version-1", "run-before-ranks"])
def test_folders_of_older_versions_verify_as_far_as_they_can(name: str, tmp_path: Path) -> None:
    run = shutil.copytree(STORED / name, tmp_path / name)
    account = verify(run)
    assert account.findings == ()
    assert any("kept no digests" in note for note in account.notes)
    manifest = run / "manifest.json"
    manifest.write_text(re.sub(r'("message_size_bytes": \d+)', r"\g<1>7", manifest.read_text(), count=1))
    assert any("what it says is the case" in one.what for one in verify(run).findings)


def test_an_older_run_that_goes_on_is_sealed_from_then_on(tmp_path: Path) -> None:
    run = shutil.copytree(STORED / "run-version-1", tmp_path / "run")
    store.open_run(run).append(record(9), blocks())
    assert check_folder(run).findings == ()
    journal = run / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"elapsed_ns"', '"elapsed_nS"', 1))
    assert [one.file for one in check_folder(run).findings] == ["journal.jsonl"]


def test_a_killed_run_verifies_wherever_it_was_killed(begun: store.RunFolder) -> None:
    seal_of_two = (begun.path / "seal.json").read_bytes()
    begun.append(record(3), blocks(), [outcome()])
    whole_journal = (begun.path / "journal.jsonl").read_bytes()
    seal_of_three = (begun.path / "seal.json").read_bytes()
    (begun.path / "seal.json").write_bytes(seal_of_two)
    assert check_folder(begun.path).findings == (), "killed between the journal and the seal"
    (begun.path / "journal.jsonl").write_bytes(whole_journal[:-20])
    assert check_folder(begun.path).findings == (), "killed while the journal was written"
    store.open_run(begun.path).append(record(3), blocks(), [outcome()])
    assert (begun.path / "seal.json").read_bytes() == seal_of_three
    begun.end()
    assert check_folder(begun.path).findings == ()


def test_bytes_behind_the_last_line_of_a_run_that_has_ended_are_noticed(begun: store.RunFolder) -> None:
    begun.end()
    with (begun.path / "journal.jsonl").open("a") as journal:
        journal.write("torn")
    assert [one.sentence() for one in check_folder(begun.path).findings] == [
        "journal.jsonl: line 3: it was added after the run had ended"
    ]


def test_seals_that_were_taken_out_of_a_run_that_had_them_are_missed(begun: store.RunFolder) -> None:
    (begun.path / "seal.json").unlink()
    for name in ("manifest.json", "journal.jsonl"):
        lines = [json.loads(text) for text in (begun.path / name).read_text().splitlines()] if "l" in name[-1] else []
        whole = lines or [json.loads((begun.path / name).read_text())]
        bare = [{key: value for key, value in one.items() if key not in ("seal", "sealed")} for one in whole]
        (begun.path / name).write_text("".join(json.dumps(one) + "\n" for one in bare))
    (finding,) = check_folder(begun.path).findings
    assert finding.file == "seal.json"
    assert "only versions that write one" in finding.what
    assert check_folder(begun.path).notes == ()
    assert "only versions that write one" in store.open_run(begun.path).read().notes[0]


def test_a_published_digest_tells_this_run_from_another(begun: store.RunFolder, whole: Path) -> None:
    digest = made_of(begun.read()).digest or ""
    assert verify(begun.path, digest=digest).findings == ()
    begun.append(record(3), blocks(), [outcome()])
    account = verify(begun.path, digest=digest)
    assert account.findings == ()
    assert any("after 2 of now 3 lines" in note for note in account.notes)
    said = invoke(whole, "--digest", digest)
    assert said.exit_code == 13
    assert "this is not the run of which it was published" in said.output


def test_a_signed_seal_covers_the_folder(begun: store.RunFolder, tmp_path: Path) -> None:
    """The commands of docs/verify.md."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not there: install openssh-client")
    key, sealed = tmp_path / "key", begun.path / "seal.json"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=60)
    sign = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", "fabriscope-run", str(sealed)]
    subprocess.run(sign, check=True, capture_output=True, timeout=60)
    signers = tmp_path / "allowed_signers"
    signers.write_text(f'anna@example.org namespaces="fabriscope-run" {key.with_suffix(".pub").read_text()}')
    words = ["-I", "anna@example.org", "-n", "fabriscope-run", "-s", f"{sealed}.sig"]
    check = ["ssh-keygen", "-Y", "verify", "-f", str(signers), *words]
    for is_whole in (True, False):
        done = subprocess.run(check, input=sealed.read_bytes(), capture_output=True, check=False, timeout=60)
        assert (done.returncode == 0) is is_whole
        assert verify(begun.path).findings == ()
        if is_whole:
            begun.append(record(3), blocks(), [outcome()])


def test_what_a_run_names_is_text_wherever_it_is_shown(tmp_path: Path) -> None:
    """No formula in a table, no HTML in a page, no control character in the terminal."""
    name = "=cmd|' /C calc'!A0<script>alert(1)</script>[x](javascript:y)\x1b]0;owned\x07"
    folder = store.create(tmp_path / "run", {**contents(), "name": name, "run_id": "@SUM(1)"}, "name: test\n")
    reason = "-1+cmd</script><img src=x>\x1b[2J"
    case_id = next(iter(contents()["cases"]))
    folder.append({**record(1), "results": {case_id: {"status": "failed", "reason": reason}}})
    out = tmp_path / "out"
    out.mkdir()
    for form in ("csv", "markdown", "html"):
        discover("reports", "REPORT").get(form).render(folder.read(), out, Options())
    with (out / "failures.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["reason"] == "'" + reason.replace("\x1b", "\\x1b")
    assert not any("\x1b" in path.read_text() for path in out.glob("*.csv"))
    assert row["launch_id"] == "1"
    assert "'@SUM(1)" in (out / "made-of.csv").read_text()
    page = (out / "report.md").read_text()
    assert "<script" not in page and "<img" not in page and "\x1b" not in page and "[x](" not in page
    html = (out / "report.html").read_text()
    assert "\x1b" not in re.search("<title>.*?</title>", html, re.DOTALL)[0]  # type: ignore[index]
    assert "<img src=x>" not in html and "<script>alert" not in html
    shown = CliRunner().invoke(SHOW, [str(folder.path)])
    assert shown.exit_code == 0, shown.output
    assert "\x1b]0" not in shown.output and "\x1b[2J" not in shown.output and "\x07" not in shown.output


def test_damaged_folders_end_in_a_sentence_that_names_the_file() -> None:
    """campaigns/damaged_folders does hundreds; FABRISCOPE_TEST_DAMAGED says how many are tried here."""
    wrong: list[str] = []
    damaged_folders.try_all(range(int(os.environ.get("FABRISCOPE_TEST_DAMAGED", "6"))), 7, wrong.append)
    assert wrong == []


def test_samples_of_another_type_are_a_finding(begun: store.RunFolder) -> None:
    path = begun.path / "samples" / "launch-0001.parquet"
    pl.read_parquet(path).with_columns(pl.lit([1]).alias("round")).write_parquet(path)
    assert [one.file for one in check_folder(begun.path).findings] == ["samples/launch-0001.parquet"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_lines_removed_from_the_end_are_noticed(begun: store.RunFolder, count: int) -> None:
    begun.append(record(3), blocks())
    journal = begun.path / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-count]))
    assert any("the seal counts 3 lines" in one.what for one in check_folder(begun.path).findings)


def test_a_file_that_no_line_names_is_noticed_once_the_run_has_ended(begun: store.RunFolder) -> None:
    stray = begun.path / "samples" / "launch-0003.parquet"
    shutil.copy(begun.path / "samples" / "launch-0002.parquet", stray)
    assert check_folder(begun.path).findings == (), "the launch that was under way"
    begun.end()
    assert [one.file for one in check_folder(begun.path).findings] == ["samples/launch-0003.parquet"]


def test_a_report_of_the_first_launches_stays_right_when_the_run_goes_on(begun: store.RunFolder) -> None:
    out = begun.path / "report"
    out.mkdir()
    for name in ("markdown", "csv"):
        discover("reports", "REPORT").get(name).render(begun.read(), out, Options())
    begun.append(record(3), blocks(), [outcome()])
    account = verify(begun.path)
    assert account.findings == ()
    assert any("first 2 of now 3 launches" in note for note in account.notes)


def test_a_report_of_another_run_is_refused(begun: store.RunFolder, whole: Path) -> None:
    account = verify(begun.path, whole / "report" / "report.md")
    assert account.findings
    assert verify(begun.path, whole / "nothing.html").findings


def test_a_page_that_does_not_say_what_it_was_made_of_is_a_finding(whole: Path, tmp_path: Path) -> None:
    page = tmp_path / "older.html"
    page.write_text((whole / "report" / "report.html").read_text().replace("made-of", "made"))
    assert any("older version made the report" in one.what for one in verify(whole, page).findings)


@pytest.mark.parametrize("items", [1, 2, 1000])
def test_marks_name_the_line_that_changed(items: int) -> None:
    locate = marks.locate_line
    lines = [f"line {number}".encode() for number in range(items)]
    before = marks.mark_lines(b"\n".join(lines))
    assert locate(before, b"\n".join(lines)) is None
    for at in range(0, items, 97):
        changed = [*lines[:at], lines[at] + b"!", *lines[at + 1 :]]
        assert locate(before, b"\n".join(changed)) == f"line {at + 1}"
    assert locate(before, b"\n".join([*lines, b"more"])) is not None


def test_raw_output_that_unpacks_without_end_is_not_unpacked(
    begun: store.RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriscope.running.verify.MOST_RAW_BYTES", 4)
    account = verify(begun.path)
    assert account.findings == ()
    assert any("of 2 launches unpacks to more than 4 bytes" in note for note in account.notes)


def test_a_file_of_too_many_rows_is_refused_before_it_is_read(
    begun: store.RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriscope.store.samples.MOST_ROWS", 4)
    monkeypatch.setattr("fabriscope.store.samples.MOST_ROWS_PER_BYTE", 0)
    monkeypatch.setattr("polars.read_parquet", lambda *_, **__: pytest.fail("it was read"))
    notes = begun.read().notes
    assert "samples/launch-0001.parquet: it has 5 rows, and 4 are the most that we read of " in notes[0]


def test_a_long_launch_is_read_and_rows_packed_to_nothing_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriscope.store.samples.MOST_ROWS", 4)
    chance = random.Random(1)
    measured, equal = io.BytesIO(), io.BytesIO()
    pl.DataFrame({"value": [chance.gauss(1000, 30) for _ in range(5000)]}).write_parquet(measured)
    samples.check_row_count(measured.getvalue())
    pl.DataFrame({"value": [1.0] * 5_000_000}).write_parquet(equal)
    with pytest.raises(ValueError, match="it has 5000000 rows"):
        samples.check_row_count(equal.getvalue())


def test_many_damaged_lines_are_counted_and_the_first_named(begun: store.RunFolder) -> None:
    (begun.path / "seal.json").unlink()
    (begun.path / "journal.jsonl").write_bytes(b"{}\n" * 3000)
    notes = [note for note in store.open_run(begun.path).read().notes if "journal.jsonl" in note]
    assert len(notes) == 4
    assert notes[-1].startswith("3000 lines of journal.jsonl are damaged")
    findings = [one for one in check_folder(begun.path).findings if one.file == "journal.jsonl"]
    assert len(findings) == 4


def test_a_digest_is_read_as_people_copy_it_and_refused_where_it_is_none(begun: store.RunFolder) -> None:
    digest = made_of(begun.read()).digest or ""
    assert invoke(begun.path, "--digest", f" {digest.upper()} ").exit_code == 0
    for wrong in ("", "5f0c", "g" * 64):
        assert invoke(begun.path, "--digest", wrong).exit_code == 2


def test_what_is_missing_is_said_as_it_is(begun: store.RunFolder) -> None:
    (begun.path / "journal.jsonl").write_bytes(b"")
    (begun.path / "plan.yaml").unlink()
    (begun.path / "plan.yaml").symlink_to("nowhere")
    said = "\n".join(one.sentence() for one in check_folder(begun.path).findings)
    assert "journal.jsonl: it is empty, and the seal counts 2 lines" in said
    assert "plan.yaml: it is a link to nothing" in said


def test_no_report_is_written_through_a_link_in_the_run(begun: store.RunFolder, tmp_path: Path) -> None:
    from fabriscope.cli.report import COMMAND as REPORT
    from fabriscope.model.errors import FabriscopeError

    (tmp_path / "elsewhere").mkdir()
    (begun.path / "report").symlink_to(tmp_path / "elsewhere")
    said = CliRunner().invoke(REPORT, [str(begun.path), "--format", "csv"])
    assert isinstance(said.exception, FabriscopeError) and "symbolic link" in str(said.exception)
    assert list((tmp_path / "elsewhere").iterdir()) == []
