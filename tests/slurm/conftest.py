"""A real Slurm for the tests of this folder, started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests import needs
from tests.slurm.cluster import PROGRAMS, Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a Slurm of three nodes; skipped where it cannot be had."""
    needs.root("Slurm's daemons need root")
    needs.lab()
    for program in PROGRAMS:
        needs.program(program)
    standing = Cluster(tmp_path_factory.mktemp("slurm"))
    yield standing
    standing.stop()
