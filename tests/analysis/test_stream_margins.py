"""Streams that are also sent before and after what is counted of them: how much of that is surely of all at once."""

from __future__ import annotations

import pytest

from fabriscope.analysis.values.streams import StreamWindow

S = 10**9


def window(skew_ns: int, error_ns: int, margin_ns: int) -> StreamWindow:
    counts = {1: (1000,), 2: (1000,)}
    return StreamWindow(
        1, 1, "c", 0, 3 * S, 3 * S, 0, (0,), skew_ns, counts, dict.fromkeys(counts, 0), error_ns, margin_ns
    )  # fmt: skip


@pytest.mark.parametrize(
    ("skew_ns", "error_ns", "margin_ns", "overlap"),
    [
        (S // 10, 0, 0, 1 - 0.1 / 3),
        (S // 10, S, 2 * S, 1.0),
        (S, S, 2 * S, 1.0),
        (S, 13 * S // 10, 2 * S, 0.9),
        (S, 2 * S, 2 * S, 2 / 3),
        (4 * S, 2 * S, 2 * S, 0.0),
    ],
)
def test_what_lies_within_the_margin_costs_nothing(skew_ns: int, error_ns: int, margin_ns: int, overlap: float) -> None:
    assert window(skew_ns, error_ns, margin_ns).overlap == pytest.approx(overlap)


def test_less_than_nine_tenths_are_no_aggregate() -> None:
    assert window(S, 13 * S // 10 - 1, 2 * S).is_comparable
    assert not window(S, 2 * S, 2 * S).is_comparable
