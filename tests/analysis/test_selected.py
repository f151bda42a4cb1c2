"""What is stated of a difference that was shown: less than was measured, by as much as being picked adds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from campaigns.statistics.noises import NOISES, values_of

from fabriscope.analysis.comparing.comparisons import KINDS, compared
from fabriscope.analysis.comparing.findings import findings
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.numbers.evidence import FIXED, SEQUENTIAL, Mean
from fabriscope.analysis.numbers.intervals import family_wise, shown_below
from fabriscope.analysis.numbers.selected import stated

FABRICS = (("ethernet-100", "ping_pong", ""), ("gige", "ping_pong", ""))
EDGE = math.log1p(0.03)


def test_a_difference_that_was_just_shown_may_be_nothing_and_a_clear_one_stands() -> None:
    spread = np.array([-1.0, 1.0, -1.0, 1.0]) * 0.1
    error = Mean(spread).error
    edge = -float(scipy.special.stdtrit(3, 0.0225)) * error
    just, clear = (stated(Mean(spread + centre), 0.045, 0.045, 0.0) for centre in (edge * 1.0001, 20 * edge))
    assert 0 <= just.value < 0.1 * edge
    assert just.low == 0
    assert clear.value == pytest.approx(20 * edge, rel=0.01)
    mirrored = stated(Mean(spread - 20 * edge), 0.045, 0.045, 0.0)
    assert mirrored == pytest.approx((-clear.value, -clear.high, -clear.low))


def test_the_lower_end_has_few_of_what_could_have_been_shown_above_the_difference() -> None:
    mean = Mean(np.array([0.05, 0.12, 0.10, 0.07, 0.16]) + 0.1)
    cut = float(np.ptp(mean.interval(0.955))) / 2
    told = stated(mean, 0.045, 0.045, 0.0)
    draws = told.low + mean.error * np.random.default_rng(1).standard_t(4, 400_000)
    shown = draws[np.abs(draws) > cut]
    assert np.mean(shown >= mean.centre) == pytest.approx(0.025, abs=0.003)
    assert told.low < told.value < mean.centre


@pytest.mark.parametrize(
    ("times", "least", "most"), [(1.1, 0.0, 0.4), (1.5, 0.6, 0.95), (3.0, 0.97, 1.0), (7.0, 0.99, 1.0)]
)
def test_what_was_barely_shown_is_stated_as_much_less(times: float, least: float, most: float) -> None:
    spread = np.array([-1.0, 1.0, -0.5, 0.5, 0.0]) * 0.1
    cut = float(np.ptp(Mean(spread).interval(0.955))) / 2
    told = stated(Mean(spread + times * cut), 0.045, 0.045, 0.0)
    assert least <= told.value / (times * cut) <= most


def test_a_run_that_ends_when_it_is_decided_says_what_it_measured() -> None:
    values = [0.05, 0.12, 0.10, 0.07, 0.16]
    by_plan, by_end = Mean(values), Mean(values, SEQUENTIAL, 0.0, 50)
    assert stated(by_plan, 0.045, 0.045, EDGE).value < by_plan.centre
    low, high = by_end.interval()
    assert stated(by_end, 0.05, 0.05, EDGE) == (by_end.centre, max(0.0, low), high)


@pytest.mark.parametrize("step", [1.0, 1.5])
def test_below_which_p_value_a_test_of_a_family_is_significant(step: float) -> None:
    noise = np.random.default_rng(2)
    for _ in range(200):
        p_values = noise.random(6) ** 4
        rate = shown_below(p_values, 0.05, step)
        assert ((family_wise(p_values, step) < 0.05) == (p_values < rate)).all()
    assert shown_below([], 0.05) == 0.0
    assert shown_below([math.nan, 0.04], 0.05) == 0.05


def test_of_differences_that_are_told_the_stated_size_is_not_too_large() -> None:
    logs = NOISES["lognormal 10 %"].logs(np.random.default_rng(3), (500, 4, 2, 1))
    logs[:, :, 1] += math.log(1.2)
    leads = [row for row in compared(values_of(logs, (8,), FABRICS), KINDS["fabric"]) if row.verdict == "faster"]
    assert len(leads) > 60
    measured = np.median([math.log(row.ratio) for row in leads]) / math.log(1.2)
    told = np.median([math.log(row.stated) for row in leads]) / math.log(1.2)
    assert measured > 1.2
    assert 0.7 <= told <= 1.2
    covered = np.mean([(row.stated_low or 0) <= 1.2 <= (row.stated_high or math.inf) for row in leads])
    assert covered >= 0.88
    assert all(row.method == FIXED for row in leads)


def test_sentences_state_the_smaller_size_and_tables_keep_what_was_measured() -> None:
    logs = np.zeros((1, 4, 2, 1))
    logs[0, :, 1, 0] = [0.10, 0.20, 0.13, 0.23]
    (row,) = compared(values_of(logs, (8,), FABRICS), KINDS["fabric"])
    assert row.verdict == "faster"
    assert 1 < row.stated < row.ratio == pytest.approx(math.exp(0.165))
    (finding,) = findings(ranges([row]))
    assert f"by {(row.stated - 1) * 100:.1f} %" in finding.text
    columns = row.columns()
    assert (columns["ratio"], columns["stated"]) == (row.ratio, row.stated)
