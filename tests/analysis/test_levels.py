"""Launches on few levels: seen whatever their spread, and a gate of few blocks goes by what most pairs show."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns.statistics.noises import EQUAL_MODES, NOISES
from campaigns.statistics.promises import gate_fails

from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.comparing.levels import guarded
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.evidence import Difference, Floats, Mean
from fabriscope.analysis.numbers.levels import p_without_levels


def families(series: Floats) -> list[Family]:
    curves = [Curve("inter", name, "tcp", None, "ping_pong", "engine", "", "", "") for name in ("a", "b")]
    pair = CurvePair("fabric", "a", "b", curves[0], curves[1], "latency_ns")
    return [Family(pair, (Spot(8, Mean(values), 1.0, 1.0),)) for values in series]


def test_levels_are_seen_and_unlike_spreads_are_none() -> None:
    noise = np.random.default_rng(1)
    modes = 0.12 * noise.integers(0, 2, (12, 3)) + noise.normal(0, 0.002, (12, 3))
    assert p_without_levels(list(modes)) < 0.001
    spreads = np.geomspace(0.001, 1, 12)[:, None]
    seen = [p_without_levels(list(spreads * noise.normal(0, 1, (12, 3)))) < 0.05 for _ in range(400)]
    assert 0.02 < np.mean(seen) < 0.09
    assert p_without_levels([np.ones(3)]) == 1.0


def test_a_pair_without_a_spread_takes_that_of_most() -> None:
    series = np.array([[0.12, 0.121, 0.12], *[[0.0, 0.12, 0.001], [0.12, 0.0, 0.001], [-0.12, 0.0, 0.001]] * 4])
    found = guarded(families(series))
    assert found.needed == 5
    assert "of 13 pairs" in found.notes()[0]
    widened = found.families[0].spots[0].evidence
    assert widened.spread == pytest.approx(0.069, abs=0.003)
    assert widened.p_not(0.0) > 0.05
    assert Mean(series[0]).p_not(0.0) < 0.001


def test_enough_blocks_and_launches_without_levels_are_left_as_they_are() -> None:
    noise = np.random.default_rng(2)
    modes = families(0.12 * noise.integers(0, 2, (12, 5)) + noise.normal(0, 0.002, (12, 5)))
    smooth = families(noise.normal(0, 0.1, (12, 3)))
    for one in (modes, smooth):
        assert guarded(one).families is one
        assert not guarded(one).notes()


def test_both_sides_of_two_runs_take_the_spread_of_most() -> None:
    sides = Mean([1.0, 1.001, 1.0]), Mean([1.12, 1.12, 1.121])
    apart = Difference(*sides)
    assert apart.p_not(0.0) < 0.001
    assert apart.at_least(0.07).p_not(0.0) > 0.05
    assert apart.at_least(0.0).p_not(0.0) == apart.p_not(0.0)


def test_a_gate_over_twelve_pairs_of_two_levels_raises_few_alarms() -> None:
    assert gate_fails(EQUAL_MODES, np.random.default_rng(1), 40, 3) <= 0.1
    assert gate_fails(NOISES["lognormal 10 %"], np.random.default_rng(1), 40, 3) <= 0.15
