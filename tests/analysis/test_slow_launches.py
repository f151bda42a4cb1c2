"""Launches that are slower than the others of their entry are counted, and said to be so."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.results import results_of
from fabriscope.analysis.values import slow_launches
from fabriscope.analysis.values.slow_launches import slow_of
from fabriscope.model.case import Case, Entry

# B. Rosner, Technometrics 25, 1983, as NIST's handbook of statistics has it (1.3.5.17.3): three outliers at 5 %.
ROSNER = (
    -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76,
    1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54,
    2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
)  # fmt: skip
NOISE = (0.00, 0.02, -0.01, 0.01, 0.03, -0.02, 0.00, 0.01, -0.03, 0.02, 0.01, -0.01, 0.00, 0.02, -0.02, 0.01)


def test_it_is_rosner_s_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_launches, "FALSE_ALARM", 0.025)  # of one side
    middle = float(np.median(ROSNER[:-3]))
    assert slow_of(np.array(ROSNER)) == pytest.approx([np.exp(one - middle) for one in (5.34, 5.42, 6.01)])


def test_launches_of_one_normal_distribution_are_not_slow() -> None:
    chance = np.random.default_rng(3)
    seen = sum(bool(slow_of(chance.normal(0, 0.1, count))) for count in (4, 5, 8, 16) for _ in range(500))
    assert seen < 50  # 20 are to be expected


def test_a_little_slower_is_usual_noise_however_alike_the_others_are() -> None:
    assert slow_of(np.array([0.0, 1e-6, 2e-6, 1e-6, 0.0, 0.05])) == ()


@pytest.mark.parametrize("slow", [1, 3])
def test_slow_ones_hide_neither_each_other_nor_how_slow_they_are(slow: int) -> None:
    levels = np.array([*NOISE[slow:], *([np.log(2)] * slow)])
    assert slow_of(levels) == pytest.approx([2.0] * slow, rel=0.02)


def _answer(slow: int) -> str:
    other = Entry("tcp", "ethernet-100", "inter", HOSTS)
    measured = {
        Case(entry, "ping_pong", size): [
            [[size * 10_000 * np.exp(noise) * (2 if entry is other and at < slow else 1)]]
            for at, noise in enumerate(NOISE)
        ]
        for entry in (TCP, other)
        for size in (8, 64)
    }
    return " ".join(results_of(run_of(measured)).answer)


def test_the_answer_says_how_many_how_slow_and_whether_one_has_more() -> None:
    few = _answer(1)
    assert "1 of 16 of ethernet-100.tcp.inter (2 times as long)" in few
    assert "How often they come is not shown to differ between entries." in few
    many = _answer(7)
    assert "7 of 16 of ethernet-100.tcp.inter (1.9 to 2 times as long)" in many
    assert "ethernet-100.tcp.inter has them more often than gige.tcp.inter (p = 0.0068)" in many


def test_nothing_is_said_where_none_was_seen() -> None:
    assert "launches were slower" not in _answer(0)
