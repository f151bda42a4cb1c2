"""Changed texts at every border: those that once broke a promise, and some new ones in each run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from campaigns.fuzz.__main__ import CORPUS, attempt, fuzz, texts
from campaigns.fuzz.targets import Target, targets

from fabriscope.model.errors import ParseError

COUNT = int(os.environ.get("FABRISCOPE_TEST_FUZZ", "150"))
"""New texts of each target."""
SHARE = {"folder": 8, "read-hpcc": 3, "ycsb": 3}
"""Of targets whose texts take long: of how many one is read, so that none takes ten seconds of a processor."""
TARGETS = targets()
KEPT = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_no_text_breaks_a_promise(name: str, tmp_path: Path) -> None:
    count = COUNT // SHARE.get(name, 1)
    found = fuzz(TARGETS[name], count, seed=20261123, corpus=tmp_path)
    assert found.violations == {}
    assert found.text_count == count
    assert found.accepted_count > 0, "no changed text is accepted: the target reads nothing"
    assert found.refused_count + found.accepted_count > 0


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke_a_promise_does_not_any_more(path: Path) -> None:
    problem, _ = attempt(TARGETS[path.parent.name], path.read_bytes())
    assert problem == ""


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_seed_as_it_is_breaks_no_promise(name: str) -> None:
    assert [problem for text in TARGETS[name].seeds() for problem, _ in [attempt(TARGETS[name], text)] if problem] == []


def test_a_broken_promise_is_found_and_kept(tmp_path: Path) -> None:
    def check(text: bytes) -> bool:
        if b"inf" in text:
            raise OverflowError
        if b"nan" in text:
            raise ParseError("refused")
        return True

    target = Target("made-up", lambda: [b"1 2 3\n", b"4 5 6\n"], check)
    found = fuzz(target, 500, 1, tmp_path)
    assert [*found.violations] == [next(iter(found.violations))]
    assert next(iter(found.violations)).startswith("OverflowError at test_fuzz.py:")
    assert found.refused_count > 0
    kept = list((tmp_path / "made-up").iterdir())
    assert kept
    assert all(b"inf" in path.read_bytes() for path in kept)
    assert list(texts(target, 50, 1)) == list(texts(target, 50, 1))
    assert list(texts(target, 50, 1)) != list(texts(target, 50, 2))


def test_a_text_that_takes_for_ever_is_found() -> None:
    def check(_text: bytes) -> bool:
        while True:
            pass

    target = Target("slow", lambda: [b"x"], check)
    found = fuzz(target, 1, 1)
    assert found.violations == {"longer than 2 s": 1}
