"""Whatever the umask is, not everybody may write to a run: with a folder of that kind no run goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.test_run_folder import blocks, contents, outcome, record

from fabriscope import store


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_without_a_umask_not_everybody_may_write_to_a_run(tmp_path: Path) -> None:
    folder = store.create(tmp_path / "runs" / "run", contents(), "name: test\n")
    with folder.lock():
        folder.append(record(1), blocks(), [outcome()])
    made = [path for path in tmp_path.rglob("*") if path.is_file() or path.is_dir()]
    assert len(made) > 8
    assert [path for path in made if path.stat().st_mode & 0o002] == []
    assert os.umask(0) == 0
