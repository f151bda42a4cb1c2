"""What is promised of tunings, on made-up ones; `campaigns.statistics.tunings` has more of them."""

from __future__ import annotations

import numpy as np
import pytest
from campaigns.statistics.noises import NOISES
from campaigns.statistics.tunings import COMBINATIONS, NOTHING, PLANTED, counts, tuned

RUNS = 150


@pytest.mark.parametrize("name", ["lognormal 10 %", "kept, AR .8"])
def test_where_nothing_has_an_effect_few_tunings_claim_any(name: str) -> None:
    generator = np.random.default_rng(5)
    row = counts([tuned(generator, NOISES[name], NOTHING) for _ in range(RUNS)], NOTHING)
    assert row["claims"] <= 0.10  # 5 % promised: more than 15 of 150 come by chance in one test of 400
    assert row["none"] >= 0.92


def test_planted_effects_are_held_by_their_intervals_and_the_best_set_is_found() -> None:
    generator = np.random.default_rng(6)
    row = counts([tuned(generator, NOISES["drift"], PLANTED) for _ in range(RUNS)], PLANTED)
    assert 0.91 <= row["setting"] <= 0.99
    assert row["pair"] >= 0.92
    assert 0.90 <= row["gain"] <= 0.99
    assert row["best"] >= 0.6
    assert row["launches"] < COMBINATIONS * 2 / 2
