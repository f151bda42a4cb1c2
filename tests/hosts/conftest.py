"""Fixtures for changes of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "fabriscope" / "changes"


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    path = tmp_path / "mtu"
    path.write_text("1500\n")
    return path
