"""Intervals and tests against known answers."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy

from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.judging import Family, Spot, judged, verdict
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers import medians
from fabriscope.analysis.numbers.evidence import ANYTIME, CONFIDENCE, PRIOR, Difference, Mean, half_width, t_quantile
from fabriscope.analysis.numbers.forecasts import Forecast, blocks_to_decide
from fabriscope.analysis.numbers.intervals import false_discovery, family_wise, log_ratio
from fabriscope.analysis.values.stopping import Rules


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


def test_false_discovery_by_hand() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH")
    assert false_discovery([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert false_discovery([]).size == 0
    adjusted = false_discovery([0.02, math.nan])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("count", [1, 2, 7, 100])
def test_false_discovery_is_that_of_scipy(count: int) -> None:
    p_values = np.random.default_rng(count).random(count) ** 3
    p_values[count // 2 :: 3] = p_values[0]  # ties
    assert false_discovery(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values), rel=1e-12)


@pytest.mark.parametrize("count", [6, 7, 20, 101, 1000])
def test_the_place_of_an_interval_is_that_of_the_binomial(count: int) -> None:
    inner, share = medians._place(count)
    outer_covers, inner_covers = (1 - 2 * scipy.stats.binom.cdf(place - 1, count, 0.5) for place in (inner, inner + 1))
    assert inner_covers < CONFIDENCE <= outer_covers
    assert 0 <= share < 1


def test_commands_start_without_packages_that_take_long_to_load() -> None:
    code = (
        "import sys, fabriscope.running.run, fabriscope.reports.terminal;"
        "sys.exit(', '.join({'scipy.special', 'scipy.stats'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


def test_family_wise_by_hand() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "hochberg")
    assert family_wise([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert family_wise([]).size == 0
    adjusted = family_wise([0.02, math.nan, 0.03])
    assert adjusted[[0, 2]] == pytest.approx([0.03, 0.03])
    assert math.isnan(adjusted[1])
    assert np.isnan(family_wise([math.nan])).all()
    # The largest stands, the others count 2, 3 and 4 with a step of 1, and 2.5, 4 and 5.5 with one of 1.5.
    assert family_wise([0.01, 0.04, 0.02, 0.005], 1.5) == pytest.approx([0.04, 0.04, 0.04, 0.0275])
    assert family_wise([0.03], 1.5) == pytest.approx([0.03])


def spread_about(centre: float, spread: float, count: int) -> Mean:
    """Return what blocks of exactly this mean and standard deviation say."""
    values = np.linspace(-1, 1, count)
    return Mean(centre + spread * values / values.std(ddof=1))


@pytest.mark.parametrize(("kind", "decides"), [("fabric", 15), (CONTROL, 14)])
def test_what_would_decide_the_last_open_size_does(kind: str, decides: int) -> None:
    """Sizes that are equivalent count among the tests for a lead, in which their p-values are the largest."""
    one, other = (Curve("inter", side, "tcp", None, "engine", "ping_pong", "", "", "") for side in ("a", "b"))
    pair = CurvePair(kind, "a", "b", one, other, "latency_ns")

    def last(count: int) -> tuple[str, Forecast | None]:
        equal = [Spot(size, spread_about(0.0, 0.001, count), 1.0, 1.0) for size in range(15)]
        *rest, row = judged([Family(pair, (*equal, Spot(15, spread_about(0.1, 0.1, count), 1.0, 1.0)))], Rules())
        assert {one.verdict for one in rest} == {"equivalent"}
        return row.verdict, row.blocks_to_decide

    verdict_now, needed = last(5)
    assert verdict_now == "undecided"
    assert needed is not None
    assert last(decides - 1)[0] == "undecided"
    assert last(decides)[0] == "faster"
    assert needed.least < decides < needed.most


def test_more_blocks_decide() -> None:
    needed = blocks_to_decide(log_ratio([0.0, 0.1, 0.08, 0.02]))
    assert needed is not None
    assert 4 < needed.least < needed.most


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
        adjusted = false_discovery([result.p_different for result in results])
        alarms += bool(np.any(adjusted < 0.05))
    assert alarms / 500 < 0.075


def test_the_evidence_is_the_ratio_of_the_two_likelihoods() -> None:
    """Against numerical integration: effect sizes are normal, the scale has the right Haar measure."""
    values = np.array([0.3, 0.1, 0.25, 0.4])
    count = len(values)

    def likelihood(effect: float, log_scale: float) -> float:
        scale = math.exp(log_scale)
        return float(np.prod(np.exp(-0.5 * ((values - effect * scale) / scale) ** 2))) / scale**count

    scales = np.linspace(-6, 4, 1501)
    effects = np.linspace(-14, 14, 1401)
    density = np.exp(-0.5 * PRIOR * effects**2) * math.sqrt(PRIOR / (2 * math.pi))
    scaled = values[None, None, :] / np.exp(scales)[:, None, None] - effects[None, :, None]
    alternative = (np.exp(-0.5 * (scaled**2).sum(axis=2)) * density).sum(axis=1) * (effects[1] - effects[0])
    alternative = (alternative * np.exp(-count * scales)).sum()
    null = sum(likelihood(0.0, scale) for scale in scales)
    assert float(Mean(values, ANYTIME).log_evidence(np.array(0.0))) == pytest.approx(
        math.log(alternative / null), abs=1e-3
    )


@pytest.mark.parametrize("count", [3, 4, 10, 30])
def test_the_anytime_interval_ends_where_the_evidence_does(count: int) -> None:
    values = np.random.default_rng(count).normal(0.2, 0.1, count)
    spot = Mean(values, ANYTIME)
    low, high = spot.interval()
    assert spot.log_evidence(np.array([low, high])) == pytest.approx([math.log(20)] * 2)
    assert spot.p_not(low) == pytest.approx(0.05)
    assert high - low > 2 * half_width(count, spot.spread), "what holds at any time is wider than Student's t"


def test_two_blocks_rule_nothing_out_at_any_time() -> None:
    result = log_ratio([0.5, 0.51], method=ANYTIME)
    assert math.isnan(result.low)
    assert result.p_different > 0.05
    assert blocks_to_decide(result) == Forecast(3, 3)


def test_looking_after_every_block_is_false_in_at_most_five_percent() -> None:
    noise = np.random.default_rng(3)
    told = {"fixed": 0, ANYTIME: 0}
    for _ in range(300):
        values = noise.normal(0, 0.1, 25)
        for method in told:
            looks = (log_ratio(values[:count], method=method) for count in range(2, 26))
            told[method] += any(
                verdict(one.centre, one.p_different, one.p_equivalent) in ("faster", "slower") for one in looks
            )
    assert told[ANYTIME] <= 0.05 * 300
    assert told["fixed"] > 0.1 * 300, "which is why Student's t may not be used so"


def test_two_runs_against_a_known_answer() -> None:
    pair = Difference(Mean([1, 2, 4]), Mean([2, 5, 6, 9]))
    assert pair.p_not(0.0) == pytest.approx(2 * pair.p_below(0.0))
    low, high = pair.interval()
    assert pair.p_not(high) == pytest.approx(0.05)
    assert (low + high) / 2 == pytest.approx(pair.centre)
    welch = scipy.stats.ttest_ind([1, 2, 4], [2, 5, 6, 9], equal_var=False)
    assert pair.p_not(0.0) == pytest.approx(welch.pvalue)


def test_two_runs_at_any_time() -> None:
    noise = np.random.default_rng(4)
    one, other = noise.normal(0.0, 0.1, 8), noise.normal(1.0, 0.1, 6)
    pair = Difference(Mean(one, ANYTIME), Mean(other))
    assert pair.method == ANYTIME
    low, high = pair.interval()
    assert low < pair.centre < high < 0
    assert pair.p_not(high) == pytest.approx(0.05, rel=1e-3)
    assert pair.p_below(0.0) < 0.05
    assert pair.p_above(0.0) == 1.0
