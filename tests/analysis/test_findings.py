"""Sentences about pairs of curves name what both sides have in common."""

from __future__ import annotations

import pytest

from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.findings import where_text
from fabriscope.analysis.curve import Curve


@pytest.mark.parametrize(
    ("layer", "name"),
    [("tcp", "TCP"), ("verbs", "verbs"), ("libfabric-efa", "libfabric (efa)"), ("of-a-plug-in", "of-a-plug-in")],
)
def test_fabrics_are_compared_over_a_layer_that_is_named(layer: str, name: str) -> None:
    one, other = (Curve("inter", fabric, layer, None, "engine", "ping_pong", "", "", "") for fabric in ("ib", "eth"))
    assert where_text(CurvePair("fabric", "ib", "eth", one, other, "latency_ns")) == f"ping-pong, {name}, between hosts"
