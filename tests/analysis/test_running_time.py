"""The time in which launches ran."""

from __future__ import annotations

import pytest

from fabriscope.analysis.values.running_time import running_ns
from fabriscope.model.record import LaunchRecord


@pytest.mark.parametrize(
    ("spans", "total"),
    [
        (((100, 10), (110, 5)), 15),
        (((100, 10), (102, 10), (103, 2), (120, 5)), 17),
        (((0, 10), (102, 10)), 20),
        ((), 0),
    ],
)
def test_launches_that_overlap_count_once(spans: tuple[tuple[int, int], ...], total: int) -> None:
    records = [
        LaunchRecord(number, 1, started_unix_ns=start, elapsed_ns=elapsed)
        for number, (start, elapsed) in enumerate(spans, 1)
    ]
    assert running_ns(records) == total
