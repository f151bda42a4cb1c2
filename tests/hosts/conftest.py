"""Fixtures for changes of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    path = tmp_path / "mtu"
    path.write_text("1500\n")
    return path
