"""The group-sequential t: at most as many false alarms as asked for, over all looks of a run, and no more than that."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabriscope.analysis.numbers.boundaries import HORIZONS, p_needed, p_of_look
from fabriscope.analysis.numbers.evidence import SEQUENTIAL, Mean, student_tail
from fabriscope.analysis.numbers.forecasts import blocks_to_decide
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, LogRatio, judge
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules

RUNS = 2000


def alarms(horizon: int, shift: float = 0.0, told: int = 0) -> float:
    """Return the share of runs that tell a difference at any look; `told` is the most values that the plan allows."""
    noise = np.random.default_rng(horizon)
    logs = shift + noise.normal(size=(RUNS, horizon))
    return float(np.mean([_is_alarmed(values, told or horizon) for values in logs]))


def _is_alarmed(values: np.ndarray, horizon: int) -> bool:
    looks = range(LEAST_BLOCKS, len(values) + 1)
    return any(Mean(values[:count], SEQUENTIAL, 0.0, horizon).p_not(0.0) < ERROR_RATE for count in looks)


@pytest.mark.parametrize("horizon", [3, 5, 10, 30])
def test_a_run_that_is_looked_at_after_every_block_errs_in_one_of_twenty(horizon: int) -> None:
    assert 0.035 < alarms(horizon) < 0.065, "2,000 runs know it to 0.5 %"


def test_a_plan_between_two_of_the_table_errs_no_more() -> None:
    assert 35 not in HORIZONS
    assert alarms(35) < 0.065


def test_it_decides_what_a_fixed_plan_of_as_many_blocks_would() -> None:
    """A difference that a fixed plan of 30 blocks sees in 90 % of runs."""
    assert alarms(30, shift=0.612) > 0.8


@pytest.mark.parametrize("horizon", [3, 7, 50, 1000])
@pytest.mark.parametrize("count", [3, 6, 50])
def test_what_a_look_needs_is_what_gives_that_chance(horizon: int, count: int) -> None:
    for chance in (0.4, 0.025, 0.0013, 1e-5, 1e-9):
        needed = p_needed(chance, count, horizon)
        assert 0 < needed <= 0.5
        assert p_of_look(needed, count, horizon) <= chance * (1 + 1e-9) or needed == 0.5
    chances = [p_of_look(p, count, horizon) for p in np.geomspace(1e-12, 0.5, 200)]
    assert chances == sorted(chances), "the smaller the p-value the rarer"
    assert all(0 <= chance <= 1 for chance in chances)


def test_the_last_look_may_err_most_and_the_first_least() -> None:
    needs = [p_needed(0.025, count, 50) for count in range(LEAST_BLOCKS, 51)]
    assert needs == sorted(needs)
    assert 0.005 < needs[-1] < 0.025, "less than a single look's, and not much"


def test_the_interval_holds_what_is_not_rejected() -> None:
    values = [0.02, 0.05, 0.03, 0.06, 0.01, 0.04]
    mean = Mean(values, SEQUENTIAL, 0.0, 20)
    low, high = mean.interval()
    for edge in (low, high):
        assert mean.p_not(edge) == pytest.approx(0.05, rel=0.02)
    assert mean.p_not((low + high) / 2) == pytest.approx(1.0)


def test_two_blocks_say_nothing() -> None:
    mean = Mean([0.02, 0.021], SEQUENTIAL, 0.0, 20)
    assert all(math.isnan(end) for end in mean.interval())
    assert math.isnan(mean.p_not(0.0))


def test_a_forecast_beyond_the_plan_is_of_a_plan_with_more_blocks() -> None:
    noise = np.random.default_rng(1)
    result: LogRatio = judge(Mean(0.04 + noise.normal(0, 0.1, 10), SEQUENTIAL, 0.0, 10))
    needed = blocks_to_decide(result)
    assert needed is not None
    assert needed.least > 10


def test_added_sizes_have_looks_of_their_own() -> None:
    rules = Rules(horizon=50)
    planned, added = rules.mean([0.1, 0.2, 0.15]), rules.mean([0.1, 0.2, 0.15], is_added=True)
    assert (planned.horizon, added.horizon) == (50, 10)
    assert added.p_not(0.0) < planned.p_not(0.0)
    assert student_tail(1.0, 1.0, 2) < 0.5
