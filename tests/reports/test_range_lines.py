"""The table of ranges: by how much its leader leads, and the interval around that, the same way round."""

from __future__ import annotations

import pytest
from tests.analysis.test_comparisons import run_with

from fabriscope.analysis.results import results_of
from fabriscope.reports._ranges import range_groups


@pytest.mark.parametrize(("factor", "leader"), [(2.0, "gige"), (0.5, "ethernet-100")])
def test_an_interval_is_that_of_the_leader_whoever_leads(factor: float, leader: str) -> None:
    (group,) = [one for one in range_groups(results_of(run_with(lambda _: factor))) if one.kind == "fabric"]
    (row,) = group.rows
    assert (row.pair, row.leader) == ("ethernet-100 / gige", leader)
    assert row.by == "2.00 times"
    low, high = map(float, row.interval.split(" to "))
    assert 1.9 < low < 2.0 < high < 2.1
