"""A number with an exponent stands for what it says: it agrees with no neighbour that it contradicts."""

from __future__ import annotations

import pytest

from fabriscope.model.rounding import span


@pytest.mark.parametrize(
    ("word", "step"),
    [("512.00", 0.01), ("1.000e+03", 1.0), ("1.23e-05", 1e-7), ("1e-05", 1e-5), ("1e3", 1.0), ("1e308", 1.0),
     ("0.5e3", 0.1), ("7", 1.0)],
)  # fmt: skip
def test_the_last_digit_may_be_one_more(word: str, step: float) -> None:
    found = span(word)
    assert found.most == pytest.approx(float(word) + step)
    assert found.least == pytest.approx(max(0.0, float(word) - step))
