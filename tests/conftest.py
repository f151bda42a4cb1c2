"""Fixtures and plug-ins of every test."""

from __future__ import annotations

import pytest
from tests import needs

pytest_plugins = ["tests.skips"]


@pytest.fixture
def labs() -> None:
    """Need labs: for tests that build them only by what they run."""
    needs.lab()
