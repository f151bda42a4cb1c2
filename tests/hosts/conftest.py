"""What tests of hosts share: a setting to change, and the text of the collector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabriscope.hosts import counters


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    path = tmp_path / "mtu"
    path.write_text("1500\n")
    return path


@pytest.fixture
def parts() -> dict[str, Any]:
    """Return what the collector's text defines, as hosts are sent it."""
    names: dict[str, Any] = {}
    exec(counters.program(), names)  # noqa: S102 - our own text
    return names
