"""The smallest statements of claims, tested both ways, on made-up numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabriscope.analysis.numbers.forecasts import Forecast
from fabriscope.analysis.papers.statements import (
    FAILS,
    HOLDS,
    NOTHING,
    OPEN,
    Statement,
    above,
    all_of,
    any_of,
    below,
    inside,
)


def sure(p_holds: float, p_fails: float) -> Statement:
    return Statement(p_holds, p_fails, block_count=5)


YES, NO, MAYBE = sure(0.001, 0.9), sure(0.9, 0.001), sure(0.3, 0.4)


def test_a_known_interval() -> None:
    # R: t.test(c(0.1, 0.2, 0.3)) gives 0.2, -0.04841377 to 0.44841377, and against 0: p = 0.07418 (two-sided)
    one = inside([0.1, 0.2, 0.3], least=0.0)
    assert (one.centre, one.low, one.high) == pytest.approx((0.2, -0.04841377, 0.44841377))
    assert one.p_holds == pytest.approx(0.0741799 / 2, abs=1e-6)
    assert one.verdict == OPEN
    assert one.needed is not None
    assert 3 < one.needed.least < one.needed.most


def test_the_verdict_is_where_the_interval_lies() -> None:
    values = [1.0, 1.1, 0.9, 1.0, 1.05]
    assert inside(values, 0.8, 1.2).verdict == HOLDS
    assert inside(values, 0.99, 1.2).verdict == OPEN
    assert inside(values, 1.2, 2.0).verdict == FAILS
    assert inside(values, most=0.5).verdict == FAILS
    assert inside(values, least=0.5).verdict == HOLDS


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, -math.inf]])
def test_nothing_decides_nothing(values: list[float]) -> None:
    for one in (inside(values, 0, 1), below(values), above(values)):
        assert one.verdict == OPEN
        assert one.block_count == 0


def test_two_blocks_decide_nothing() -> None:
    for one in (inside([5.0, 5.0], 4.0, 6.0), below([-1.0, -1.0]), above([0.0, 0.0]), inside([9.0, 9.0], 4.0, 6.0)):
        assert one.verdict == OPEN
        assert one.needed == Forecast(3, 3)
    assert inside([5.0] * 3, 4.0, 6.0).verdict == HOLDS


def test_one_block_decides_nothing() -> None:
    one = inside([5.0], 4.0, 6.0)
    assert one.verdict == OPEN
    assert one.centre == 5.0
    assert math.isnan(one.low)
    assert one.needed is None
    assert below([-3.0]).verdict == OPEN


def test_all_equal() -> None:
    assert inside([0.1] * 4, 0.0, 1.0).verdict == HOLDS
    assert inside([0.1] * 4, 0.2, 1.0).verdict == FAILS
    assert inside([0.1] * 3, 0.1, 1.0).verdict == OPEN, "on the edge itself it is neither inside nor outside"
    assert below([-0.5] * 4).verdict == HOLDS
    assert below([0.5] * 4).verdict == FAILS
    assert below([0.0] * 4).verdict == FAILS, "equal is not below"


def test_what_is_equal_within_the_margin_is_not_below() -> None:
    assert below([-0.010, -0.011, -0.009, -0.010]).verdict == FAILS
    assert below([-0.010, -0.011, -0.009, -0.010], margin=0.001).verdict == HOLDS
    assert below([-0.10, -0.11, -0.09]).verdict == HOLDS
    assert above([0.10, 0.11, 0.09]).verdict == HOLDS
    mirrored = above([0.10, 0.11, 0.09])
    assert mirrored.centre == pytest.approx(0.1)
    assert mirrored.low < 0.1 < mirrored.high


def test_all_of() -> None:
    assert all_of([YES, YES]).verdict == HOLDS
    assert all_of([YES, MAYBE]).verdict == OPEN
    assert all_of([YES, NO]).verdict == FAILS
    assert all_of([YES, NOTHING]).verdict == OPEN, "what was not measured keeps a claim from holding"
    assert all_of([NO, NOTHING]).verdict == FAILS, "but not from failing"
    assert all_of([]).verdict == OPEN
    assert all_of([NO]) is NO


def test_any_of() -> None:
    assert any_of([NO, YES]).verdict == HOLDS
    assert any_of([NO, MAYBE]).verdict == OPEN
    assert any_of([NO, NO]).verdict == FAILS
    assert any_of([NO, NOTHING]).verdict == OPEN
    assert any_of([]).verdict == OPEN


def test_several_weak_refusals_together_refuse() -> None:
    weak = sure(0.9, 0.02)
    assert all_of([weak] * 10).verdict == FAILS
    assert all_of([weak, *[YES] * 9]).verdict == OPEN, "one in ten at 2 % may be chance"


def test_a_claim_that_holds_is_seldom_refused() -> None:
    noise = np.random.default_rng(5)
    refused = held = 0
    for _ in range(400):
        family = [below(noise.normal(0.0, 0.1, 5).tolist()) for _ in range(10)]
        refused += all_of(family).verdict == FAILS
        held += all_of(family).verdict == HOLDS
    assert refused / 400 < 0.06
    assert held == 0, "ten ratios of 1 are never all below 1"


def test_a_run_that_may_still_go_on_takes_more_to_hold() -> None:
    values = [0.10, 0.13, 0.08, 0.11]
    fixed, anytime = (inside(values, 0.03, method=method) for method in ("fixed", "anytime"))
    assert fixed.verdict == HOLDS
    assert anytime.p_holds > fixed.p_holds
    assert anytime.high - anytime.low > fixed.high - fixed.low
    assert above(values, method="anytime").p_holds > above(values).p_holds
