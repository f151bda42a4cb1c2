"""What decides the comparison with perftest: the interval of a ratio of medians, and how resends are counted."""

from __future__ import annotations

import math

import pytest
from benchmarks import against_perftest
from benchmarks._peers_values import median_ratio_interval
from benchmarks.against_perftest import Reading


def test_one_round_tells_nothing() -> None:
    assert median_ratio_interval([(2.0, 1.0)]) == (0.0, math.inf)


def test_equal_ratios_have_no_width() -> None:
    assert median_ratio_interval([(3.0, 2.0)] * 5) == (1.5, 1.5)


def test_one_launch_with_a_timeout_decides_no_interval() -> None:
    steady = [(100.0 + step, 100.0 + step) for step in range(19)]
    low, high = median_ratio_interval([*steady, (1.0, 100.0)])
    assert 0.9 < low <= 1.0 <= high < 1.1


def test_resends_are_a_mean_over_a_programs_launches_of_a_point() -> None:
    def reading(benchmark: str, program: str, resends: dict[str, int]) -> Reading:
        return Reading(1, benchmark, 65536, program, 1.0, None, resends)

    readings = [
        reading("bandwidth", "perftest", {"completer_retry_err": 3, "rcvd_rnr_err": 1}),
        reading("bandwidth", "perftest", {}),
        reading("bandwidth", "fabriscope", {"completer_retry_err": 9}),
        reading("write_bandwidth", "perftest", {"completer_retry_err": 7}),
    ]
    assert against_perftest.resends_per_launch(readings, ("bandwidth", 65536), "perftest") == pytest.approx(2.0)


def test_our_stream_is_given_as_long_as_perftests_messages_need() -> None:
    size, message_count = 1 << 20, 100  # perftest's least, which a budget of 0.3 s does not change
    budgets = against_perftest._budgets_ns("bandwidth", size, 300_000_000)
    assert budgets["fabriscope"] == message_count * size * against_perftest.STREAM_NS_PER_BYTE
    assert budgets["fabriscope"] > budgets["perftest"]
    assert len(set(against_perftest._budgets_ns("ping_pong", 64, 300_000_000).values())) == 1
