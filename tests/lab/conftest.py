"""Real labs for tests: what needs one is skipped only where the kernel forbids namespaces."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence

import pytest
from tests.lab.on_hosts import COMMAND_TIMEOUT_S, MakeLab

from fabriscope import lab
from fabriscope.lab import Lab
from fabriscope.model.lab import LabSpec, SwitchSpec


@pytest.fixture(scope="session", autouse=True)
def _namespaces() -> None:
    argv = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net", "--mount", "true"]
    tried = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
    if tried.returncode != 0:
        pytest.skip(f"this kernel forbids namespaces: {tried.stderr.strip()}")


@pytest.fixture
def make_lab() -> Iterator[MakeLab]:
    """Return a function that builds a lab out of host names and fabrics; all go at the end of the test."""
    built: list[Lab] = []

    def make(
        hosts: Sequence[str] = ("a", "b"),
        guests: Sequence[str] = (),
        rdma: Mapping[str, str] | None = None,
        **fabrics: SwitchSpec,
    ) -> Lab:
        built.append(lab.up(LabSpec(tuple(hosts), fabrics, guests=tuple(guests), rdma=rdma or {})))
        return built[-1]

    yield make
    for one in built:
        one.down()
