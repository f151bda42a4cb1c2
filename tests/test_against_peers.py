"""What decides the comparison with NetPIPE, qperf and IMB: the median of ratios, and which launches count."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks import against_peers
from benchmarks._peers_values import OURS, Point, Reading, median_interval, overall, rows


def _readings(point: Point, peer: str, pairs: Sequence[tuple[float, float]]) -> list[Reading]:
    metric = "latency_ns" if point[1] == "ping_pong" else "stream_bandwidth_bytes_per_s"
    return [
        Reading(block, *point, program, {metric: value})
        for block, both in enumerate(pairs, 1)
        for program, value in zip((OURS, peer), both, strict=True)
    ]


def test_one_launch_of_another_kind_decides_no_ratio() -> None:
    pairs = [(100.0, 100.0)] * 9 + [(300.0, 100.0)]
    (row,) = rows(_readings(("tcp", "ping_pong", 8, 1), "netpipe", pairs))
    assert (row.ratio, row.ratio_low, row.ratio_high) == (1.0, 1.0, 1.0)
    assert row.holds
    assert row.is_decided


def test_a_ratio_is_taken_within_a_launch_of_both() -> None:
    levels = [20.0, 40.0, 80.0, 160.0, 320.0]
    readings = _readings(("mpi", "ping_pong", 8, 1), "imb", [(1.1 * level, level) for level in levels])
    del readings[-1]  # the last launch has no value of the peer
    (row,) = rows(readings)
    assert row.ratios == pytest.approx((1.1,) * 4)
    assert not row.holds


def test_a_rate_holds_above_its_bound() -> None:
    point = ("tcp", "bandwidth", 65536, 256)
    assert [row.holds for row in rows(_readings(point, "iperf3", [(98.5, 100.0)] * 3))] == [True]
    assert [row.holds for row in rows(_readings(point, "iperf3", [(97.5, 100.0)] * 3))] == [False]


def test_of_one_launch_nothing_is_known() -> None:
    assert median_interval([1.0]) == (0.0, math.inf)


def test_equal_ratios_have_no_width() -> None:
    assert median_interval([1.5] * 5) == (1.5, 1.5)


def test_one_launch_that_went_wrong_decides_no_interval() -> None:
    low, high = median_interval([*[1.0] * 19, 0.01])
    assert 0.9 < low <= 1.0 <= high < 1.1


def test_the_interval_of_many_launches_covers_their_median() -> None:
    ratios = [1 + step / 1000 for step in range(-20, 21)]
    low, high = median_interval(ratios)
    assert 0.98 < low < 1.0 < high < 1.02


def test_points_are_put_together_by_their_launches() -> None:
    one = _readings(("mpi", "ping_pong", 1, 1), "imb", [(1.0, 1.0), (1.0, 1.0)])
    two = _readings(("mpi", "ping_pong", 2, 1), "imb", [(1.21, 1.0), (1.21, 1.0)])
    (found,) = overall(rows([*one, *two]))
    assert found.point_count == 2
    assert found.ratio == pytest.approx(1.1)


class _Place:
    """A link at which every launch is read at once; the user interrupts the given one."""

    def __init__(self, interrupted_at: int) -> None:
        self.fabric = SimpleNamespace(line_rate_bits_per_s=1e9)
        self.left = interrupted_at
        self.budgets_ns: dict[Point, int] = {}

    def measure_in_turns(self, block: int, point: Point, programs: Sequence[str], budget_ns: int) -> list[Reading]:
        return [self.measure(block, point, program, budget_ns) for program in programs]

    def measure(self, block: int, point: Point, program: str, budget_ns: int) -> Reading:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        self.budgets_ns[point] = budget_ns
        return Reading(block, *point, program, {"latency_ns": 1.0})


def _measured(place: Any, points: Sequence[Point]) -> list[Reading]:
    wanted = argparse.Namespace(rounds=3, seconds=0.3, seed=1, programs=None)
    return against_peers._measure(place, points, wanted)


def test_a_launch_over_mpi_is_made_ten_times_in_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    found = _measured(
        _Place(0), [("tcp", "ping_pong", 8, 1), ("mpi", "ping_pong", 8, 1), ("mpi", "ping_pong", 1 << 20, 1)]
    )
    blocks = {
        (layer, size): sorted(
            one.block for one in found if (one.layer, one.message_size_bytes, one.program) == (layer, size, OURS)
        )
        for layer, size in (("tcp", 8), ("mpi", 8), ("mpi", 1 << 20))
    }
    assert blocks == {("tcp", 8): [1, 2, 3], ("mpi", 8): list(range(1, 31)), ("mpi", 1 << 20): [1, 2, 3]}
    assert "round 3 of 3" in capsys.readouterr().err


def test_a_round_that_was_interrupted_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    launches_of_a_round = 4 + 20
    found = _measured(_Place(2 * launches_of_a_round - 1), [("tcp", "ping_pong", 8, 1), ("mpi", "ping_pong", 8, 1)])
    assert len(found) == launches_of_a_round
    assert "interrupted in round 2" in capsys.readouterr().err


def test_a_launch_holds_several_windows() -> None:
    place = _Place(0)
    point = ("mpi", "bandwidth", 1 << 20, 64)
    _measured(place, [point])
    window_s = 64 * (1 << 20) * 8 / 1e9
    assert place.budgets_ns[point] >= 4 * window_s * 1e9
