"""The transport corpus: what its labels and its sums say. (docs/transport-corpus.md tells how it is run.)"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from campaigns.corpus.__main__ import log_alone, main
from campaigns.corpus.cases import cases
from campaigns.corpus.nouns import GUESTS, LIBRARIES, OPENMPI4
from campaigns.corpus.place import _words
from campaigns.corpus.rdma_cases import cases as guest_cases
from campaigns.corpus.table import BEGIN, DOCUMENT, END, is_kept, totals, write

from fabriscope.analysis.proof.library_words import BETWEEN, Claim, Words
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED


def result(expected: str = PROVED, verdict: str | None = None, error: float = 0.001, **more: Any) -> dict[str, Any]:
    """Return what came of a made-up case."""
    case = {"name": f"asked {expected}", "family": "made up", "asked": "tcp eth0", "truth": ["tcp eth0"]}
    found = {
        "expected": expected,
        "verdict": verdict or expected,
        "closure_error": error,
        "carried_by": "tcp over eth0",
    }
    return {**case, **found, "log": "right", "contradiction": None, **more}


def test_there_are_enough_cases_of_every_kind() -> None:
    known = cases()
    assert len(known) >= 310
    assert {case.job.library for case in known} == {*LIBRARIES, ""}
    assert {case.expected for case in known} == {PROVED, REFUTED, UNDECIDED}
    for library in LIBRARIES:
        own = [case for case in known if case.job.library == library]
        assert {case.expected for case in own} >= {PROVED, REFUTED}
        assert any(case.asked == "roce" for case in own)


def test_a_label_follows_from_what_was_asked_and_what_is_true() -> None:
    for case in cases():
        assert (case.expected == PROVED) == (case.truth == (case.asked,)), case.name
        assert case.because, case.name


def test_between_guests_there_is_every_kind_of_rdma_and_what_is_taken_for_it() -> None:
    known = guest_cases()
    assert len({case.name for case in known}) == len(known) >= 60
    assert {case.job.library for case in known} == {*LIBRARIES, ""} - {OPENMPI4}
    for kind, verdicts in (("roce", {PROVED, REFUTED, UNDECIDED}), ("iwarp", {PROVED, REFUTED}), ("tcp", {PROVED})):
        assert {case.expected for case in known if case.asked.startswith(kind)} >= verdicts
    for case in known:
        asks_truth = any(case.asked in (one, one.partition(" ")[0]) for one in case.truth)
        assert case.expected != PROVED or asks_truth or "99 %" in case.name, case.name
        assert case.because, case.name
        assert case.hosts == GUESTS


def test_every_program_of_a_case_is_named_in_words_that_a_host_can_start() -> None:
    for case in [*cases(), *guest_cases()]:
        for _, text in (*case.job.servers, *case.job.programs, *case.beside):
            words = _words(text)
            assert words, case.name
            assert not any(re.search(r"\{[a-z]+\}", word) for word in words), (case.name, words)


def test_every_host_of_a_case_is_one_of_its_lab() -> None:
    for case in cases():
        named = {host for host, _ in (*case.job.servers, *case.job.programs, *case.beside, *case.prepare)}
        pairs = {host for pair in case.job.payload or () for host in pair}
        assert named | pairs <= set(case.hosts), case.name


def test_the_document_has_a_row_for_every_case() -> None:
    text = DOCUMENT.read_text()
    missing = [case.name for case in [*cases(), *guest_cases()] if f"| {case.name} |" not in text]
    assert not missing, "run the corpus with --document"


@pytest.mark.parametrize(
    ("one", "key"),
    [
        (result(REFUTED, PROVED), "false_proved"),
        (result(UNDECIDED, PROVED), "false_proved"),
        (result(PROVED, REFUTED), "false_refuted"),
        (result(error=0.03), "closure_too_large"),
        (result(PROVED, UNDECIDED), "undecided"),
    ],
)
def test_what_breaks_the_promise_is_counted(one: dict[str, Any], key: str) -> None:
    good = [result() for _ in range(5)]
    assert is_kept(good)
    assert totals([*good, one])[key] == [one["name"]]
    assert not is_kept([*good, one])


def test_what_is_undecided_by_design_or_did_not_run_is_told_apart() -> None:
    found = totals([result(), result(UNDECIDED), {**result(), "error": "it broke"}])
    assert (found["cases"], found["not_run"], found["undecided_by_design"]) == (2, 1, 1)
    assert found["decided_share"] == 1
    assert not is_kept([result(), {**result(), "error": "it broke"}])


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ([], "silent"),
        ([Claim("x", BETWEEN, "tcp", "eth0", "")], "right"),
        ([Claim("x", BETWEEN, "tcp", "", "")], "in part"),
        ([Claim("x", BETWEEN, "tcp", "eth1", "")], "wrong"),
        ([Claim("x", BETWEEN, "rdma", "", "")], "wrong"),
        ([Claim("x", BETWEEN, "tcp", "eth0", ""), Claim("y", BETWEEN, "shm", "", "")], "wrong"),
    ],
)
def test_what_a_log_alone_would_have_told(claims: list[Claim], word: str) -> None:
    case = next(one for one in cases() if one.truth == ("tcp eth0",) and len(one.fabrics) > 1 and one.job.library)
    assert log_alone(case, Words(tuple(claims))) == word


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write({"made": "today", "cases": [result(), result(REFUTED, PROVED)]}, document)
    text = document.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "(**refuted is right**)" in text
    assert "| false `proved` | 1: asked refuted |" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only", "no such case"], "no case has 'no such case' in its family or name"),
        (["--only", "iperf3", "-o", "notes.txt"], "notes.txt holds no results of this corpus"),
    ],
)
def test_what_it_cannot_do_is_said(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["transport_corpus", *words])
    with pytest.raises(SystemExit, match=says):
        main()
    assert (tmp_path / "notes.txt").read_text() == "notes"


def test_shares_are_all_cases_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def listed(*words: str) -> list[str]:
        monkeypatch.setattr("sys.argv", ["corpus", "--list", *words])
        assert main() == 0
        return capsys.readouterr().out.splitlines()[:-1]

    assert sorted(line for share in (1, 2, 3) for line in listed("--share", f"{share}/3")) == sorted(listed())
