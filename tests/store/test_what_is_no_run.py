"""What is no run folder is told for what it is, and not for a run that is missing or was changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fabriscope import store
from fabriscope.model.errors import StoreError
from fabriscope.running.verify import verify

RUN = Path(__file__).parent / "data" / "run-before-ranks"


def test_a_pipe_is_no_run_folder_and_is_not_said_to_be_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="it is no run folder, but a pipe or a device"):
        store.open_run(tmp_path / "pipe")


def test_a_path_that_is_no_utf8_is_no_change(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    shutil.copytree(RUN, odd)
    with pytest.raises(StoreError, match="its path holds bytes that are no UTF-8"):
        verify(odd)
