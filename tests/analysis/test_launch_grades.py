"""Grades predict: what a number's launches say of how many intervals cover, and how large errors are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaigns.statistics.grades import outcomes
from campaigns.statistics.noises import EQUAL_MODES, NOISES, Noise, values_of

from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.estimates import Estimate, estimates_of
from fabriscope.analysis.values.kept_state import NOT_ASKED, KeptState, kept_state
from fabriscope.analysis.values.launch_grades import grade_of, of_launches

SOUND = KeptState(launch_count=30, spare_count=24, p_value=0.4)


def number() -> Estimate:
    logs = NOISES["lognormal 10 %"].logs(np.random.default_rng(1), (1, 8, 1, 1)) / 10
    (row,) = rows_of(estimates_of(values_of(logs, (8,), (("gige", "ping_pong", ""),))), Estimate)
    return row


def graded(row: Estimate, kept: KeptState) -> tuple[str, str]:
    reasons = list(of_launches(row, kept))
    return grade_of(reasons), "; ".join(text for _, text in reasons)


def test_a_narrow_interval_of_a_run_that_could_show_a_state_is_sound() -> None:
    grade, reasons = graded(number(), SOUND)
    assert grade == "A"
    assert "its interval extends" in reasons
    assert graded(number(), NOT_ASKED)[0] == "A", "logs: what speaks against them is said elsewhere"


def test_a_wide_interval_is_worse() -> None:
    row = number()
    for share, grade in ((1.04, "A"), (1.1, "B"), (1.4, "C"), (1.6, "D")):
        assert graded(replace(row, low=row.value / share), SOUND)[0] == grade
        assert graded(replace(row, high=row.value * share), SOUND)[0] == grade


def test_who_could_not_see_a_state_is_not_sound() -> None:
    grade, reasons = graded(number(), replace(SOUND, spare_count=15))
    assert grade == "B"
    assert "30 launches cannot tell whether the machine keeps a state" in reasons
    grade, reasons = graded(number(), replace(SOUND, p_value=0.01))
    assert grade == "B"
    assert "of this hour" in reasons


@pytest.mark.parametrize("name", ["lognormal 10 %", "one in ten twice", "one side slow launches", "kept, AR .8"])
def test_intervals_of_grade_a_cover(name: str) -> None:
    found = [one for one in outcomes(NOISES[name], np.random.default_rng(2), 120, 8, 6, 0.25) if one[1] == "A"]
    if name == "kept, AR .8":
        assert len(found) <= 8, "of 120: the state is seen"
        return
    assert len(found) >= 80
    assert np.mean([covers for _, _, covers, _ in found]) >= 0.88, "0.93 and two standard deviations"
    assert np.median([error for *_, error in found]) <= 0.02


def test_a_very_wide_interval_is_told_by_a_factor() -> None:
    row = number()
    assert "its interval reaches 1.51e+03 times the value" in graded(replace(row, high=row.value * 1509), SOUND)[1]
    assert "its interval extends 900.0% from the value" in graded(replace(row, high=row.value * 10), SOUND)[1]


def test_launches_on_few_levels_are_weak_and_rare_slow_ones_are_none() -> None:
    order = {launch: (float(launch), str(launch)) for launch in range(1, 31)}
    names = tuple((name, "ping_pong", "") for name in "abcdef")

    def has_levels(noise: Noise, seed: int) -> bool:
        logs = noise.logs(np.random.default_rng(seed), (1, 5, 6, 1))
        return kept_state(values_of(logs, (8,), names), order).has_levels

    assert all(has_levels(EQUAL_MODES, seed) for seed in range(8))
    for name in ("lognormal 10 %", "one in ten twice", "clock of 5 %"):
        assert sum(has_levels(NOISES[name], seed) for seed in range(20)) <= 3
    grade, reasons = graded(number(), replace(SOUND, has_levels=True))
    assert grade == "C"
    assert "few levels" in reasons
