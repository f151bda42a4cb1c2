"""Units: how numbers in them are printed and drawn, and those of metrics that nobody defined."""

from __future__ import annotations

import pytest

from fabriscope.analysis.words import unit_text, value_text
from fabriscope.model.errors import ParseError
from fabriscope.model.metrics import METRICS, unit_of
from fabriscope.model.quantity import UNITS, quantity_of


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12_345, "ns", "12.3 µs"),
        (117.5e6, "bytes_per_s", "940 Mb/s"),
        (1.234e6, "per_s", "1.23 million/s"),
        (12, "per_s", "12.0/s"),
        (3.21e12, "flop_per_s", "3.21 Tflop/s"),
        (45_678, "op_per_s", "45.7 kop/s"),
        (0, "percent", "0 %"),
        (0.5, "ratio", "0.500"),
        (1500, "joules", "1.50 kJ"),
        (17, "count", "17.0"),
    ],
)
def test_a_value_is_printed_in_its_unit(value: float, unit: str, text: str) -> None:
    assert unit_text(value, UNITS[unit]) == text


def test_every_unit_is_told_by_the_end_of_a_name_and_has_a_scale_for_the_least() -> None:
    for name, unit in UNITS.items():
        assert quantity_of(f"of_something_{name}").unit is unit
        assert unit.scales == tuple(sorted(unit.scales, reverse=True))
        assert unit.scales[-1][0] == 1.0


@pytest.mark.parametrize("metric_id", METRICS)
def test_the_name_of_a_metric_has_its_unit(metric_id: str) -> None:
    assert f"_{unit_of(metric_id).name}" in metric_id


def test_the_unit_of_a_metric_that_is_not_defined_is_the_end_of_its_name() -> None:
    assert value_text(2.5e9, "matrix_product_flop_per_s") == "2.50 Gflop/s"
    assert value_text(2.5e9, "matrix_product_flop_per_s_back_to_back") == "2.50 Gflop/s"


@pytest.mark.parametrize("metric_id", ["latency_us", "matrix_product", "", "xns"])
def test_an_unknown_unit_is_no_time(metric_id: str) -> None:
    with pytest.raises(ParseError, match="no unit that is known"):
        unit_of(metric_id)
