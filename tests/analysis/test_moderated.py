"""What `campaigns.statistics.moderated` says of a shared variance rests on these."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from campaigns.statistics.moderated import moderated, trigamma_inverse


@pytest.mark.parametrize("place", [0.3, 1.0, 4.0, 200.0])
def test_the_inverse_of_the_trigamma_function(place: float) -> None:
    assert trigamma_inverse(float(scipy.special.polygamma(1, place))) == pytest.approx(place, rel=1e-6)


def test_variances_are_drawn_together_as_far_as_chance_explains_them() -> None:
    noise = np.random.default_rng(1)
    alike = noise.chisquare(4, (500, 8)) / 4
    shared, freedom = moderated(alike, 4)
    assert np.median(freedom) == 32
    assert np.median(shared.std(axis=1)) < 0.3 * np.median(alike.std(axis=1))
    unlike = alike * np.exp(noise.normal(0, 2, (500, 8)))
    shared, freedom = moderated(unlike, 4)
    assert np.median(freedom) < 8
    assert np.median(np.abs(np.log(shared / unlike))) < 0.3
