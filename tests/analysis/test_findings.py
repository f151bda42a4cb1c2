"""Sentences about pairs of curves name what both sides have in common."""

from __future__ import annotations

import pytest

from fabriscope.analysis.comparing.findings import where_text


@pytest.mark.parametrize(
    ("layer", "name"),
    [("tcp", "TCP"), ("verbs", "verbs"), ("libfabric-efa", "libfabric (efa)"), ("of-a-plug-in", "of-a-plug-in")],
)
def test_fabrics_are_compared_over_a_layer_that_is_named(layer: str, name: str) -> None:
    row = {
        "kind": "fabric", "left_benchmark": "ping_pong", "left_layer": layer, "left_mpi": None, "left_fabric": "ib",
        "left_placement": "inter", "left_ranks": "", "left_series": "",
    }  # fmt: skip
    assert where_text(row) == f"ping-pong, {name}, between hosts"
