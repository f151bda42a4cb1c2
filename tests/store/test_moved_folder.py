"""A run's folder that is moved or removed while the run writes to it is told as that."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.store.test_run_folder import LAUNCHES, blocks, outcome, record

from fabriscope import store
from fabriscope.model.errors import StoreError


@pytest.mark.parametrize("how", ["moved", "removed"])
def test_a_folder_that_is_gone_is_told_by_name(how: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    store.create(path, store.describe((), LAUNCHES), "")
    folder = store.open_run(path)
    with folder.lock():
        folder.append(record(1), blocks(), [outcome()])
        if how == "moved":
            path.rename(tmp_path / "elsewhere")
        else:
            shutil.rmtree(path)
        with pytest.raises(StoreError, match="the run's folder is not there any more") as caught:
            folder.append(record(2), blocks(), [outcome()])
    assert str(path) in str(caught.value)
    if how == "moved":
        assert sorted(store.open_run(tmp_path / "elsewhere").done()) == [1]
