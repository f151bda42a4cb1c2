"""What decides the comparison with perftest: launches side by side, how long they take, and how resends are counted."""

from __future__ import annotations

import pytest
from benchmarks import against_perftest
from benchmarks.against_perftest import Reading


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


def test_launches_are_compared_with_the_one_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The machine is three times slower after the second round, which no ratio shows."""
    values: dict[str, list[float | None]] = {
        "fabriscope": [10.2, 10.2, 30.6, 30.6, 30.6],
        "perftest": [10.0, 10.0, 30.0, 30.0, None],
    }
    readings = [
        Reading(1 + place, "ping_pong", 64, program, value, None if value else "no clock")
        for program, ones in values.items()
        for place, value in enumerate(ones)
    ]
    assert against_perftest._print_rows(readings)
    said = capsys.readouterr().out
    assert "1.020 (1.020 to 1.020, 4 rounds)" in said
    assert "medians 1.020" in said


def test_our_stream_is_given_as_long_as_perftests_messages_need() -> None:
    size, message_count = 1 << 20, 100  # perftest's least, which a budget of 0.3 s does not change
    budgets = against_perftest._budgets_ns("bandwidth", size, 300_000_000)
    assert budgets["fabriscope"] == message_count * size * against_perftest.STREAM_NS_PER_BYTE
    assert budgets["fabriscope"] > budgets["perftest"]
    assert len(set(against_perftest._budgets_ns("ping_pong", 64, 300_000_000).values())) == 1
