"""Ratios from neighbouring turns: what they come to, and that runs without turns are what they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from campaigns.statistics.in_turns import MACHINES, TRUTH, covered, ratios
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.comparing.shared_noise import shared_noise
from fabriscope.analysis.numbers.neighbours import Series, gained, log_ratio, nearest
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.case import Case, Entry
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.model.turns import TurnsTaken

FAST = Entry("tcp", "ethernet-100", "inter", HOSTS)


def series(cycles: list[int], times: list[float]) -> Series:
    values = np.array(times)
    logs = np.log(values)
    return Series(np.array(cycles), logs, values, float(np.median(logs)), float(np.log(values.mean())))


def test_a_cycle_is_set_against_the_nearest_of_two_the_mean() -> None:
    values = np.array([1.0, 2.0, 4.0])
    found = nearest(np.array([0, 3, 5, 9, 12]), np.array([2, 6, 10]), values)
    assert found.tolist() == [1.0, 1.0, 2.0, 4.0, 4.0]
    assert nearest(np.array([4]), np.array([2, 6]), values[:2]).tolist() == [1.5]


def test_a_level_that_both_meet_leaves_the_ratio() -> None:
    left = series([0, 1, 2, 3], [10.0, 10.0, 20.0, 20.0])
    right = series([0, 2, 3, 4], [11.0, 22.0, 22.0, 22.0])
    assert log_ratio(left, right, of_means=False) == pytest.approx(math.log(10 / 11))
    assert log_ratio(right, left, of_means=False) == pytest.approx(math.log(11 / 10))
    assert left.median_log - right.median_log + gained(left, right, of_means=False) == pytest.approx(math.log(10 / 11))
    assert left.median_log - right.median_log < math.log(0.7)


def test_a_stall_counts_for_a_rate_as_long_as_it_lasted() -> None:
    left, right = series([0, 1, 2], [10.0, 10.0, 100.0]), series([0, 1, 2], [10.0, 10.0, 10.0])
    assert log_ratio(left, right, of_means=False) == 0
    assert log_ratio(left, right, of_means=True) == pytest.approx(math.log(4))


def test_where_neighbours_share_nothing_the_launches_count() -> None:
    left = series([0, 1, 2, 3, 4], [10.0, 10.1, 30.0, 9.9, 28.0])
    right = series([0, 1, 2, 3, 4], [35.0, 10.0, 10.2, 29.0, 9.9])
    assert log_ratio(left, right, of_means=False) != pytest.approx(left.median_log - right.median_log, abs=0.001)
    assert gained(left, right, of_means=False) == 0
    noise = np.random.default_rng(6)
    turns, launches = ratios(noise, MACHINES["busy"], 300, of_means=False)
    assert turns.std() < 1.05 * launches.std()


@pytest.mark.parametrize("kind", ["times", "rates"])
@pytest.mark.parametrize("machine", ["quiet", "levels 20 % apart", "drift", "levels and carry-over", "busy"])
def test_intervals_of_turns_hold_the_truth(machine: str, kind: str) -> None:
    noise = np.random.default_rng(3)
    share, _, _ = covered(noise, MACHINES[machine], 200, 5, of_means=kind == "rates")
    assert share >= 0.9, "200 runs of 95 %, and three standard deviations"


def test_turns_take_levels_out_and_add_nothing_on_a_quiet_machine() -> None:
    noise = np.random.default_rng(4)
    for machine, most in (("levels 20 % apart", 0.5), ("quiet", 1.3)):
        turns, launches = ratios(noise, MACHINES[machine], 300, of_means=False)
        assert turns.std() < most * launches.std(), machine
        assert abs(turns.mean() - TRUTH) < 4 * turns.std() / math.sqrt(len(turns))


def told(begins: list[tuple[int, int]]) -> TurnsTaken:
    return TurnsTaken(0, 2, turns=tuple(begins))


def block_of(record: LaunchRecord) -> str:
    return f"group {record.block}"


def in_turns(run: RunData, cycles: dict[int, list[int]], groups: Callable[[LaunchRecord], str] = block_of) -> RunData:
    """Return a run whose launches measured a burst in each of these cycles, 1 ms after the turn began."""
    begins = {launch_id: [(cycle, 10_000_000 * cycle) for cycle in own] for launch_id, own in cycles.items()}
    journal = tuple(
        replace(
            record, details=replace(record.details, turns=told(begins[record.launch_id]), turn_group=groups(record))
        )
        for record in run.journal
    )
    place = pl.struct("launch_id", "burst").map_elements(
        lambda of: 10_000_000 * cycles[of["launch_id"]][of["burst"]] + 1_000_000, return_dtype=pl.Int64
    )
    return replace(run, journal=journal, samples=run.samples.with_columns(start_ns=place))


def two_levels() -> RunData:
    """Return three blocks of two entries, 10 % apart, that meet a slow machine in other shares of their bursts."""
    left = [[[40_000], [80_000], [80_000]] for _ in range(3)]
    right = [[[44_000], [44_000], [88_000]] for _ in range(3)]
    return run_of({Case(FAST, "ping_pong", 8): left, Case(TCP, "ping_pong", 8): right})


def test_a_runs_turns_change_its_ratios() -> None:
    run = two_levels()
    apart = compare(launch_values(run), KINDS["fabric"])
    assert apart["ratio"].to_list() == pytest.approx([22 / 40])
    fast = {record.launch_id for record in run.journal if record.entry_id == FAST.entry_id}
    turned = in_turns(run, {one.launch_id: [0, 4, 5] if one.launch_id in fast else [0, 1, 4] for one in run.journal})
    found = compare(launch_values(turned), KINDS["fabric"], turns=turn_series(turned))
    assert found["ratio"].to_list() == pytest.approx([1.1])
    assert found["left_value"].to_list() == apart["left_value"].to_list()


def test_turns_of_different_groups_are_no_neighbours() -> None:
    run = two_levels()
    turned = in_turns(run, {record.launch_id: [0, 4, 5] for record in run.journal}, lambda one: f"{one.launch_id}")
    found = compare(launch_values(turned), KINDS["fabric"], turns=turn_series(turned))
    assert found["ratio"].to_list() == pytest.approx([22 / 40])


def test_runs_without_turns_are_what_they_were() -> None:
    run = two_levels()
    assert turn_series(run) == {}
    assert shared_noise(launch_values(run), Rules(), turn_series(run)) is None


def test_how_much_of_the_noise_is_gone_is_told() -> None:
    factors = [1.0, 1.3, 1.7, 2.2]
    left = [[[40_000 * factor], [41_000 * factor], [40_000 * factor]] for factor in factors]
    right = [[[44_000 * factor], [44_000 * factor], [44_200 * factor]] for factor in factors]
    run = run_of({Case(FAST, "ping_pong", 8): left, Case(TCP, "ping_pong", 8): right})
    turned = in_turns(run, {record.launch_id: [0, 1, 2] for record in run.journal})
    shared = shared_noise(launch_values(turned), Rules(), turn_series(turned))
    assert shared is not None
    assert shared.point_count == 1
    assert shared.removed_share > 0.99
    assert shared.sentence().startswith("between blocks, ratios taken turn by turn vary 0.00")
