"""A bystander's slowdown: pairs of each launch, by hand."""

from __future__ import annotations

import pytest

from fabriscope.analysis.incast import victims
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.stopping import Rules


@pytest.mark.parametrize(
    ("low", "high", "state"),
    [
        (1.5, 2.0, victims.SLOWED),
        (1.031, 2.0, victims.SLOWED),
        (1.02, 2.0, victims.UNDECIDED),
        (0.9, 1.02, victims.SPARED),
        (0.9, 1.04, victims.UNDECIDED),
        (None, None, victims.UNDECIDED),
    ],
)
def test_a_state_is_the_whole_interval_s(low: float | None, high: float | None, state: str) -> None:
    assert victims._state(Centre(1.0, low, high), 0.03) == state


def test_a_slowdown_is_of_logarithms() -> None:
    both = victims._centre([2.0, 8.0], Rules())
    assert both.value == pytest.approx(4.0)
    turned = victims._centre([1 / 2.0, 1 / 8.0], Rules())
    assert turned.value == pytest.approx(1 / 4.0)
    assert both.low == pytest.approx(1 / (turned.high or 0))
    alone = victims._centre([3.0], Rules())
    assert alone.value == pytest.approx(3.0)
    assert (alone.low, alone.high) == (None, None)
    assert victims._centre([], Rules()) == Centre(None, None, None)


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        (("a", "b", "r", "s", "t"), "no host"),
        (("s", "b", "r", "s", "t"), "a sender's host"),
        (("a", "t", "r", "s", "t"), "the host of another end that sends"),
    ],
)
def test_what_is_shared_in_words(hosts: tuple[str, ...], words: str) -> None:
    assert victims.shared_words(hosts) == words
