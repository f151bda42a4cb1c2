"""Real labs for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest
from tests import needs
from tests.lab.on_hosts import MakeLab

from fabriscope import lab
from fabriscope.lab import Lab
from fabriscope.model.lab import LabSpec, SwitchSpec


@pytest.fixture(scope="session", autouse=True)
def _namespaces() -> None:
    needs.lab()


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
