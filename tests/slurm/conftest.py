"""A real Slurm for the tests of this folder, started once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from tests.slurm.cluster import PROGRAMS, Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a Slurm of three nodes; skipped where it cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons need root")
    search = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    absent = [name for name in PROGRAMS if shutil.which(name, path=search) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} not on this machine (packages munge, slurmctld, slurmd, slurm-client)")
    standing = Cluster(tmp_path_factory.mktemp("slurm"))
    yield standing
    standing.stop()
