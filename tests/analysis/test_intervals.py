"""Intervals and tests against known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabriscope.analysis.comparisons import verdict
from fabriscope.analysis.intervals import blocks_to_decide, holm, log_ratio, t_quantile


def test_quantiles_of_student() -> None:
    assert t_quantile(5) == pytest.approx(2.776445, abs=1e-6)
    assert t_quantile(2) == pytest.approx(12.706205, abs=1e-6)
    assert math.isnan(t_quantile(1))


def test_a_known_interval() -> None:
    # R: t.test(c(0.1, 0.2, 0.3)) gives 0.2, -0.04841377 to 0.44841377, p = 0.07418
    result = log_ratio([0.1, 0.2, 0.3])
    assert result.centre == pytest.approx(0.2)
    assert (result.low, result.high) == pytest.approx((-0.04841377, 0.44841377))
    assert result.p_different == pytest.approx(0.0741799, abs=1e-6)


def test_one_block_gives_no_interval() -> None:
    result = log_ratio([0.5])
    assert result.centre == 0.5
    assert all(math.isnan(value) for value in (result.low, result.high, result.p_different, result.p_equivalent))
    assert blocks_to_decide(result) is None
    assert verdict(result.centre, result.p_different, result.p_equivalent) == "undecided"


def test_nothing_left_is_an_error_and_nan_is_left_out() -> None:
    with pytest.raises(ValueError, match="no log ratio"):
        log_ratio([math.nan])
    assert log_ratio([math.nan, 0.1, 0.1]).block_count == 2


@pytest.mark.parametrize(
    ("value", "answer"), [(0.0, "equivalent"), (0.5, "faster"), (-0.5, "slower"), (0.01, "equivalent")]
)
def test_all_equal(value: float, answer: str) -> None:
    result = log_ratio([value] * 4)
    assert result.low == result.high == result.centre
    assert verdict(result.centre, result.p_different, result.p_equivalent) == answer


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).size == 0
    adjusted = holm([0.02, math.nan])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_more_blocks_decide() -> None:
    needed = blocks_to_decide(log_ratio([0.0, 0.1, 0.08, 0.02]))
    assert needed is not None
    assert 4 < needed < 20


def test_the_interval_covers_in_about_95_percent() -> None:
    noise = np.random.default_rng(1)
    results = [log_ratio(noise.normal(0.3, 0.1, 4)) for _ in range(2000)]
    covered = np.mean([result.low <= 0.3 <= result.high for result in results])
    assert 0.935 <= covered <= 0.965


def test_false_alarms_over_a_family_stay_below_five_percent() -> None:
    noise = np.random.default_rng(2)
    alarms = 0
    for _ in range(500):
        results = [log_ratio(noise.normal(0, 0.1, 4)) for _ in range(20)]
        adjusted = holm([result.p_different for result in results])
        alarms += bool(np.any(adjusted < 0.05))
    assert alarms / 500 < 0.075
