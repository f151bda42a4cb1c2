"""Fixtures and plug-ins of every test."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests import needs

settings.register_profile("fabriscope", deadline=None)  # a busy machine is no failure
settings.load_profile("fabriscope")

pytest_plugins = ["tests.skips", "tests.order"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look through no test for garbage: what is collected, and all that it imports, stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def labs() -> None:
    """Need labs: for tests that build them only by what they run."""
    needs.lab()


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a test changes in a journal of its own; return the folder of its entries."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "fabriscope" / "changes"
