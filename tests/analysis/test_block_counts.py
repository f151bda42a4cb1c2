"""How many blocks make an interval narrowest in a time: against looking at everything, and against formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from fabriscope.analysis.numbers.block_counts import (
    Costs,
    Noises,
    agreed,
    expected_half_width,
    freedom_of,
    narrowest,
    planned,
    pooled,
)
from fabriscope.analysis.numbers.evidence import half_width


def looked_up(noises: Noises, costs: Costs) -> tuple[int, float, float]:
    """Return blocks, length of a launch and half width of the best of all blocks and lengths of a fine grid."""
    best = (0, 0.0, math.inf)
    for blocks in range(3, 51):
        for launch_s in np.geomspace(1e-3, costs.left_s, 1500):
            took_s = (blocks - 2) * (costs.start_s + sum(max(launch_s, least) for least in costs.least_s))
            if took_s > costs.left_s or launch_s < min(costs.least_s):
                continue
            variances = [noises.of_block(costs.pilot_s)] * 2 + [noises.of_block(launch_s)] * (blocks - 2)
            mean_of_s = math.sqrt(2 / (blocks - 1)) * math.gamma(blocks / 2) / math.gamma((blocks - 1) / 2)
            half = t.ppf(0.975, blocks - 1) * mean_of_s * math.sqrt(np.mean(variances) / blocks)
            if half < best[2]:
                best = blocks, float(launch_s), float(half)
    return best


@pytest.mark.parametrize("between", [0.0, 0.01, 0.05])
@pytest.mark.parametrize(("start_s", "left_s"), [(2.0, 20.0), (0.5, 50.0), (5.0, 18.0)])
@pytest.mark.parametrize("least_s", [(0.05, 0.05), (0.05, 1.5, 0.1)])
def test_no_other_number_of_blocks_is_better(
    between: float, start_s: float, left_s: float, least_s: tuple[float, ...]
) -> None:
    noises, costs = Noises(between, 0.01), Costs(start_s, least_s, 0.5, left_s)
    found = narrowest(noises, costs)
    assert found is not None
    blocks, launch_s, half = looked_up(noises, costs)
    assert found.half_width <= half * 1.0001
    assert found.half_width == pytest.approx(half, rel=0.01)
    assert found.blocks == pytest.approx(blocks, abs=2), "near the best one many are as good"
    assert launch_s == pytest.approx(costs.launch_s(blocks - 2), rel=0.01)


def test_the_time_is_spent_and_no_more() -> None:
    for costs in (Costs(1.0, (0.1, 0.1, 0.1), 0.5, 30.0), Costs(0.3, (2.0, 0.1, 0.7), 0.5, 30.0)):
        for blocks in (1, 3, 7):
            launch_s = costs.launch_s(blocks)
            assert launch_s is not None
            assert blocks * (costs.start_s + sum(max(launch_s, one) for one in costs.least_s)) == pytest.approx(30.0)
    assert Costs(1.0, (0.1, 0.1), 0.5, 3.0).launch_s(3) is None, "starts alone take all of it"
    assert narrowest(Noises(0.1, 0.1), Costs(1.0, (0.1,), 0.5, 0.9)) is None
    assert planned(Noises(0.1, 0.1), Costs(1.0, (0.1,), 0.5, 3.0), 5) is None


def test_launches_that_differ_take_more_blocks_and_noisy_bursts_longer_launches() -> None:
    costs = Costs(1.0, (0.05, 0.05), 1.0, 40.0)
    differing, noisy = narrowest(Noises(0.05, 0.001), costs), narrowest(Noises(0.0, 0.05), costs)
    assert differing is not None
    assert noisy is not None
    assert differing.blocks > 2 * noisy.blocks
    assert differing.launch_s < noisy.launch_s


def test_the_width_is_what_made_up_runs_have() -> None:
    noise, noises = np.random.default_rng(3), Noises(0.03, 0.02)
    deviations = [math.sqrt(noises.of_block(length)) for length in (1.0, 1.0, 0.25, 0.25, 0.25, 0.25)]
    runs = noise.normal(0, deviations, (20_000, 6))
    mean = float(np.mean([half_width(6, float(spread)) for spread in runs.std(axis=1, ddof=1)]))
    assert expected_half_width(noises, 6, 0.25, 1.0) == pytest.approx(mean, rel=0.01)


def test_pilots_tell_both_noises_with_what_one_difference_is_worth() -> None:
    many = pooled([4.0] * 1000, [1.0] * 1000, 1000.0, 0.25)
    assert many.between == pytest.approx(math.sqrt(3), rel=0.01)
    assert many.inside == pytest.approx(0.5)
    assert many.of_block(0.25) == pytest.approx(4.0, rel=0.01)
    alike = pooled([0.0], [1.0], 1.0, 1.0)
    assert 1.0 < alike.between < 2.0, "that two blocks agree is mostly luck"
    assert pooled([0.0] * 1000, [1.0] * 1000, 1000.0, 1.0).between == 0
    assert pooled([1e9], [1.0], 1.0, 1.0).between < 10, "nothing but levels is nothing but levels"


def test_where_pilots_lie_far_apart_the_smaller_counts() -> None:
    assert agreed([1.0, 3.0], 4.0) == 2.0
    assert agreed([5.0, 1.0], 4.0) == 1.0
    assert agreed([0.0, 3.0], 4.0) == 1.5, "nothing at all is no measure of the other"
    assert agreed([0.0, 0.0], 4.0) == 0.0


def test_how_many_blocks_there_is_time_for() -> None:
    costs = Costs(1.0, (0.1, 0.1), 0.5, 3.7)
    assert costs.most_blocks(50) == 5
    assert costs.most_blocks(4) == 4
    assert Costs(1.0, (0.1, 0.1), 0.5, 1.1).most_blocks(50) == 2


def test_sizes_of_one_launch_tell_less_than_as_many_launches() -> None:
    assert freedom_of(2, 1) == 1
    assert 2 < freedom_of(2, 8) < 4
    assert freedom_of(5, 10) == 4, "of five entries four differences are independent"
    assert freedom_of(1, 1) == 1
