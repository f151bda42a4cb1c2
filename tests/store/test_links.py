"""A folder of a run that is a link leads anywhere: what is there is not the run's, and nobody walks through it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from campaigns.damaged_folders import __main__ as damaged_folders

from fabriscope.store.checks import check_folder


@pytest.mark.parametrize("name", ["samples", "raw", "counters"])
def test_verify_does_not_follow_a_linked_folder(name: str, tmp_path: Path) -> None:
    run = damaged_folders.make_folder(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "launch-0001.mine").write_text("x")
    shutil.rmtree(run / name, ignore_errors=True)
    (run / name).symlink_to(elsewhere)
    said = [one.sentence() for one in check_folder(run).findings]
    assert f"{name}: it is a symbolic link, and no folder of the run's" in said
    assert not any("launch-0001.mine" in one for one in said)
