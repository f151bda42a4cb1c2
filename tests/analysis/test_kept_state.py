"""A state that the machine keeps from launch to launch is seen over all entries, and widens single values alone."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from campaigns.statistics.noises import NOISES, values_of
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.numbers.evidence import ANYTIME, FIXED, Difference, Floats, Mean
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.numbers.persistence import MOST_KINDS, offset, p_of_independence, standardized
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.kept_state import KEPT, Order, kept_state, order_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.record import Details, ReadFrom
from fabriscope.model.run_data import RunData

SIX = tuple((name, "ping_pong", "") for name in "abcdef")
FAST = Entry("tcp", "ethernet-100", "inter", HOSTS)
SWING = (1.0, 1.1, 1.25, 1.3, 1.2, 1.1, 1.0, 0.9)


def made_up(name: str, runs: int, blocks: int, seed: int = 1) -> list[pl.DataFrame]:
    logs, places = NOISES[name].in_order(np.random.default_rng(seed), (runs, blocks, 6, 1))
    return values_of(logs, (8,), SIX, places).partition_by("series", maintain_order=True)


def in_turn(launches: int) -> Order:
    return {launch: (float(launch), str(launch)) for launch in range(1, launches + 1)}


def test_the_test_against_every_order_of_a_few_values() -> None:
    values, kinds, times = np.array([3.0, 2.5, 1.0, 0.7, -1.0]), np.zeros(5, dtype=np.int64), np.arange(5.0)
    scaled, deviations = standardized(values, kinds)
    assert scaled * deviations[0] == pytest.approx(values - values.mean())

    def alike(ordered: Floats) -> float:
        pairs = itertools.combinations(range(5), 2)
        return math.fsum(float(ordered[one] * ordered[other]) * math.exp(-(other - one) / 5) for one, other in pairs)

    every = [alike(np.array(order)) for order in itertools.permutations(scaled)]
    exact = np.mean([one >= alike(scaled) - 1e-9 for one in every])
    assert p_of_independence(scaled, kinds, times, 20_000) == pytest.approx(exact, abs=0.003)
    assert p_of_independence(scaled[[0, 4, 1, 3, 2]], kinds, times) > 0.5


def test_values_that_never_differ_say_nothing() -> None:
    scaled, deviations = standardized(np.ones(6), np.array([0, 1, 0, 1, 0, 1]))
    assert not scaled.any()
    assert not deviations.any()
    assert p_of_independence(scaled[:0], np.zeros(0, dtype=np.int64), scaled[:0]) == 1.0


def test_independent_launches_have_a_state_in_one_run_of_ten() -> None:
    for name in ("lognormal 10 %", "one in ten twice"):
        seen = [kept_state(values, in_turn(30)).is_seen for values in made_up(name, 100, 5)]
        assert sum(seen) <= 19, "of 100, ten percent and three standard deviations"


def test_a_state_is_seen_and_single_values_hold_other_hours() -> None:
    runs = made_up("kept, AR .95", 100, 5)
    assert sum(kept_state(values, in_turn(30)).is_seen for values in runs) >= 70
    covered = {True: 0, False: 0}
    for values in runs:
        for asks in covered:
            shown = values if asks else values.with_columns(pl.lit(0.0).alias(KEPT))
            low, high = estimates_of(shown.filter(pl.col("fabric") == "a")).select("low", "high").row(0)
            covered[asks] += low <= 20_000 <= high
    assert covered[True] >= 80
    assert covered[False] <= 72


def test_ratios_inside_blocks_stand() -> None:
    for values in made_up("kept, AR .95", 5, 8):
        assert values[KEPT].gt(0).any()
        plain = values.with_columns(pl.lit(0.0).alias(KEPT))
        assert compare(values, KINDS["fabric"]).equals(compare(plain, KINDS["fabric"]))


def test_launches_that_measured_in_turns_are_one_look_at_the_machine() -> None:
    # What the launches of a block share does not last: each block has its own.
    noise, seen = np.random.default_rng(3), {True: 0, False: 0}
    for _ in range(50):
        logs = noise.normal(0, 0.1, (1, 6, 1, 1)) + noise.normal(0, 0.01, (1, 6, 6, 1))
        values = values_of(logs, (8,), SIX)
        for together in seen:
            order = {launch: (float(launch), str((launch - 1) // 6 if together else launch)) for launch in range(1, 37)}
            seen[together] += kept_state(values, order).is_seen
    assert seen[True] <= 10
    assert seen[False] >= 45, "one after the other, they find what the one before has left"


def test_what_a_state_adds_to_a_few_kinds_and_to_many() -> None:
    noise, times = np.random.default_rng(4), np.arange(150.0)
    slow = np.cumsum(noise.normal(0, 0.05, 150)) + noise.normal(0, 0.01, 150)
    fast = noise.normal(0, 0.1, 150) + np.repeat(noise.normal(0, 0.2, 75), 2)
    for count in (3, 50):
        kinds = np.arange(150, dtype=np.int64) % count
        lasting, passing = (offset(standardized(values, kinds)[0], kinds, times) for values in (slow, fast))
        assert lasting.halves.min() > passing.halves.max()
        assert lasting.lasting > 10 > passing.lasting
    assert MOST_KINDS < 50


def test_two_squares_add_up() -> None:
    values = [float(number) for number in range(1, 9)]
    centre, low, high = median_with_interval(values, FIXED)
    assert median_with_interval(values, FIXED, kept=4.0) == pytest.approx(
        (centre, centre - np.hypot(centre - low, 4), centre + np.hypot(high - centre, 4))
    )


@pytest.mark.parametrize("method", [FIXED, ANYTIME])
def test_two_runs_differ_by_more_than_their_states_may(method: str) -> None:
    sides = Mean([0.30, 0.31, 0.32, 0.30, 0.31, 0.32], method), Mean([0.01, 0.0, -0.01, 0.01, 0.0, -0.01], method)
    assert Difference(*sides).p_not(0.0) < 0.01
    assert Difference(*sides, kept=0.1).p_not(0.0) < 0.01
    assert Difference(*sides, kept=0.4).p_not(0.0) == 1.0
    ends = [Difference(*sides, kept=kept).interval() for kept in (0.0, 0.1)]
    assert ends[1] == pytest.approx((ends[0][0] - 0.1, ends[0][1] + 0.1), abs=1e-6)


def swinging(levels: tuple[float, ...] = SWING) -> RunData:
    """Return a run of two entries on a machine that is as slow as that in each block."""
    noise = np.random.default_rng(5)
    measured = {
        Case(entry, "ping_pong", size): [
            [[200_000 * factor * level * float(noise.normal(1, 0.005))] * 5] * 4 for level in levels
        ]
        for entry, factor in ((FAST, 2), (TCP, 1))
        for size in (8, 64)
    }
    return run_of(measured)


def test_a_run_says_of_which_hour_its_values_are() -> None:
    results = results_of(swinging())
    assert results.kept_state.is_seen
    assert any("of this hour" in sentence and "Ratios inside blocks" in sentence for sentence in results.answer)
    assert all("of this hour" in (row.reasons or "") for row in results.graded)
    p50 = results.tails[0].p50 if results.tails else results.summaries[0].latency
    assert p50.low is not None
    assert p50.high is not None
    without = [math.log(level) for level in SWING]
    _, low, high = median_with_interval(without, FIXED)
    assert math.log(p50.high / p50.low) > 1.5 * (high - low)
    assert {row.verdict for row in results.compared if row.pair.kind == "fabric"} == {"slower"}


def test_few_launches_cannot_tell() -> None:
    run = swinging((1.0,) * 3)
    few = results_of(run)
    assert not few.kept_state.is_seen
    assert "6 launches cannot tell whether the machine keeps a state" in few.kept_state.sentence()
    one = results_of(replace(run, journal=run.journal[:1]))
    assert one.kept_state.sentence() == ""


def test_the_order_of_time_is_what_the_journal_says() -> None:
    run = swinging()
    assert order_of(run)[3] == (3.0, "launch 3")
    timed = [replace(one, started_unix_ns=(100 - one.launch_id) * 10**9) for one in run.journal]
    turns = [replace(one, details=replace(Details(), turn_group=f"group {one.block}")) for one in timed]
    assert order_of(replace(run, journal=tuple(turns)))[3] == (97.0, "group 2")
    read = [replace(one, details=Details(read_from=ReadFrom("a.log", "osu"))) for one in run.journal]
    assert order_of(replace(run, journal=tuple(read))) == {}
