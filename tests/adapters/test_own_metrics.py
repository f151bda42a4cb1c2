"""Benchmarks of plug-ins that say what they give: a rate or a time with a unit of its own."""

from __future__ import annotations

import math

import pytest
from tests.adapters.test_engine import parse

from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import ParsedLaunch


def _with_metric(metric_id: str, amount: object) -> ParsedLaunch:
    block = '{"type":"block","case":"%s","round":0,"burst":0,"phase":"measured","start_ns":0,'
    metric = f'{{"type":"metric","case":"case0","metric_id":"{metric_id}","amount_per_operation":{amount}}}\n'
    blocks = "".join(block % case + '"operations_per_sample":4,"durations_ns":[40,0]}\n' for case in ("case0", "case1"))
    return parse(blocks + metric)


@pytest.mark.parametrize(
    ("metric_id", "values"), [("matrix_product_flop_per_s", (20 * 1e9 / 40, math.nan)), ("half_step_ns", (2.0, 0.0))]
)
def test_a_benchmark_of_a_plug_in_has_a_metric_of_its_own(metric_id: str, values: tuple[float, float]) -> None:
    own, other = _with_metric(metric_id, 5).blocks
    assert (own.quantity, own.operations_per_sample) == (metric_id, 1)
    assert tuple(own.values) == pytest.approx(values, nan_ok=True)
    assert (other.quantity, other.operations_per_sample, tuple(other.values)) == ("operation_ns", 4, (40, 0))


@pytest.mark.parametrize(
    ("metric_id", "amount", "why"),
    [
        ("matrix_product", 5, "no unit that is known"),
        ("energy_joules", 5, "neither a rate nor a time"),
        ("matrix_product_flop_per_s", 0, "amount_per_operation"),
        ("matrix_product_flop_per_s", '"many"', "amount_per_operation"),
    ],
)
def test_a_metric_that_says_nothing_is_refused(metric_id: str, amount: object, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        _with_metric(metric_id, amount)
