"""Levels over a run: a launch that was slower stands above the middle, where it was in time."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.analysis.small_run import TCP, run_of

from fabriscope.analysis.values.levels import EntryLevels, LaunchLevels, entry_levels, thinned
from fabriscope.model.case import Case
from fabriscope.model.run_data import RunData
from fabriscope.reports._level_picture import HALF, STRIP, level_picture


def run_with(levels: list[float]) -> RunData:
    """Return a run whose launches have these levels, ten bursts of equal times in each."""
    run = run_of({Case(TCP, "ping_pong", 8): [[[10**6 * level] * 3 for _ in range(10)] for level in levels]})
    timed = [
        replace(record, started_unix_ns=10**18 + place * 2 * 10**9, elapsed_ns=10**9, samples="here")
        for place, record in enumerate(run.journal)
    ]
    return replace(run, journal=tuple(timed))


def test_levels_are_ratios_to_the_runs_median() -> None:
    (entry,) = entry_levels(run_with([1.0, 1.0, 1.3]))
    assert [launch.ratios for launch in entry.launches] == [
        pytest.approx((1.0,) * 10), pytest.approx((1.0,) * 10), pytest.approx((1.3,) * 10),
    ]  # fmt: skip
    assert [launch.began_s for launch in entry.launches] == [0, 2, 4]
    assert entry.spread == pytest.approx(1.3)


def test_one_launch_has_no_level_to_be_compared_with() -> None:
    assert entry_levels(run_with([1.0])) == []


def test_a_slow_launch_is_drawn_above_and_beyond_the_scale_at_its_end() -> None:
    launches = tuple(LaunchLevels(place, place, 1.0, (ratio,) * 3) for place, ratio in enumerate((1.0, 1.2, 0.9, 9.0)))
    picture = str(level_picture([EntryLevels("e", "<e>", "inter", launches)]))
    lines = re.findall(r'd="M([^"]*)" stroke-width', picture)
    heights = [float(line.split("L")[0].split()[1]) for line in lines]
    middle = STRIP - HALF - 4
    assert heights[0] == middle
    assert heights[1] < middle < heights[2]
    assert heights[3] == middle - HALF
    assert "&lt;e&gt;" in picture


def test_many_bursts_are_thinned_to_their_medians() -> None:
    assert thinned([1.0, 1.0, 5.0, 2.0, 2.0, 2.0], 2) == [1.0, 2.0]
    assert thinned([1.0, 2.0], 5) == [1.0, 2.0]
