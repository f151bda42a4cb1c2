"""A row that is lost, doubled, cut or run into is told: every reader, some lines of each of its texts."""

from __future__ import annotations

import pytest
from campaigns.fuzz.disturbed import CHANGES, disturb

from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins
SILENT = {
    "gpcnet": 1,
    "hpl": 1,
    "imb": 8,
    "iperf2": 6,
    "netperf": 4,
    "netpipe": 1,
    "npb": 19,
    "osu": 3,
    "perftest": 5,
    "qperf": 2,
    "rping": 2,
    "ucx_perftest": 3,
}
"""Most changes of which a reader says nothing: what its text cannot tell (docs/readers.md). It may only fall."""


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_disturbed_row_is_told(name: str) -> None:
    found = disturb(READERS[name], most=4, seed=20261126, with_samples=False)
    assert found.told.total() >= len(CHANGES)
    assert found.silent.total() <= SILENT.get(name, 0), "\n".join(map(str, found.texts))
