"""Percentiles, jitter and stalls, against samples of which they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy
from numpy.typing import NDArray
from tests.analysis.small_run import FAST, HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import compared_all
from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.values.tail_words import tail_notes
from fabriscope.analysis.values.tails import Tail, distributions, launch_tails, short_cases, tail_values
from fabriscope.model.case import Case, Entry
from fabriscope.model.metrics import metric_of
from fabriscope.model.run_data import RunData

PING_PONG = Case(TCP, "ping_pong", 8)
OTHER = Case(Entry("tcp", FAST.name, "inter", HOSTS), "ping_pong", 8)
LAUNCHES = 8


def run_with(*launches: Sequence[NDArray[np.float64]]) -> RunData:
    """Return a run of as many fabrics whose launches have these round trips in ns, in the order of time."""
    cases = (PING_PONG, OTHER)[: len(launches)]
    small = run_of({case: [[[1.0]]] * len(launches[0]) for case in cases})
    frame = small.samples.collect()
    given = {case.case_id: iter(times) for case, times in zip(cases, launches, strict=True)}
    parts = []
    for row in frame.sort("launch_id").iter_slices(1):
        times = pl.DataFrame({"value": next(given[row.item(0, "case_id")])})
        parts.append(row.drop("value").join(times, how="cross"))
    return replace(small, samples=pl.concat(parts).lazy())


def tail_of(run: RunData) -> Tail:
    (tail,) = Results(run).tails
    return tail


def test_percentiles_are_those_of_the_operations_and_half_of_a_round_trip() -> None:
    """Of 1 ... 10,000 the 99.9th percentile is that which ten operations exceed."""
    tail = tail_of(run_with([np.arange(1.0, 10_001.0)[::-1]] * 3))
    told = [tail.p50.value, tail.p90.value, tail.p99.value, tail.p99_9.value, tail.worst.value, tail.jitter.value]
    assert told == [pytest.approx(half / 2, abs=0.51) for half in (5000, 9000, 9900, 9990, 10_000, 1)]
    assert (tail.metric_id, tail.sample_count, tail.launch_count) == ("latency_ns", 30_000, 3)
    assert tail.stall_share == 0


@pytest.mark.parametrize(("count", "told"), [(9_999, False), (10_000, True)])
def test_a_percentile_needs_ten_operations_beyond_it_in_every_launch(count: int, told: bool) -> None:
    times = np.linspace(100.0, 200.0, 10_000)
    tail = tail_of(run_with([times, times[:count], times]))
    assert (tail.p99_9.value is not None) is told
    assert tail.p99.value is not None


def test_planted_stalls_are_told_as_such() -> None:
    """One operation of a hundred takes 5 ms more one way, in six of eight launches."""
    generator = np.random.default_rng(7)
    launches = []
    for number in range(LAUNCHES):
        times = generator.lognormal(np.log(40_000), 0.1, 20_000)
        if number < 6:
            times[generator.permutation(20_000)[:200]] += 10_000_000
        launches.append(times)
    run = run_with(launches)
    tail = tail_of(run)
    assert tail.stall_share == pytest.approx(0.0075)
    assert (tail.stalled_launch_count, tail.launch_count) == (6, LAUNCHES)
    assert tail.stall_ns == pytest.approx(5_020_000, rel=0.01)
    assert tail.p50.value == pytest.approx(20_000, rel=0.01)
    assert tail.p99_9.value == pytest.approx(5_020_000, rel=0.01)
    (points,) = distributions(run, [tail]).values()
    stalled = [share for time_ns, share in points if time_ns > 1_000_000]
    assert max(stalled) == pytest.approx(0.01)
    assert min(stalled) == pytest.approx(10 ** (-26 / 8)), "fewer than ten operations are beyond the next one"


@pytest.mark.parametrize("launch_count", [4, LAUNCHES])
def test_intervals_of_percentiles_cover(launch_count: int) -> None:
    """Launches differ by 5 %: the interval covers the percentile of the launch in the middle of all that there are."""
    generator = np.random.default_rng(11)
    covered = {"p90": 0, "p99": 0, "p99_9": 0}
    truths = {"p90": 0.9, "p99": 0.99, "p99_9": 0.999}
    count = 60
    for _ in range(count):
        launches = [
            np.exp(generator.normal(generator.normal(10, 0.05), 0.3, 20_000)).astype(np.float64)
            for _ in range(launch_count)
        ]
        tail = tail_of(run_with(launches))
        for name, share in truths.items():
            centre, truth = getattr(tail, name), np.exp(10 + 0.3 * scipy.special.ndtri(share)) / 2
            assert centre.low is not None
            covered[name] += centre.low <= truth <= centre.high
    assert min(covered.values()) >= 0.95 * count - 3 * (0.95 * 0.05 * count) ** 0.5


def test_the_tail_can_be_compared_where_medians_are_alike() -> None:
    """Two fabrics of one median, of which one has operations of three times the length, two of a hundred."""
    generator = np.random.default_rng(3)
    launches = []
    for _ in range(LAUNCHES):
        level = generator.lognormal(10, 0.05)
        for slow in (1, 3):
            times = level * generator.lognormal(0, 0.01, 4_000)
            times[generator.permutation(4_000)[:80]] *= slow
            launches.append(times)
    run = run_with(launches[::2], launches[1::2])
    results = results_of(run)
    values = tail_values(launch_tails(run), results.launch_values, "p99")
    assert set(values.get_column("metric_id")) == {"latency_ns_p99"}
    assert values.height == 2 * LAUNCHES
    assert metric_of("latency_ns_p99").title == "Latency, one buffer, 99th percentile"
    by_median = [one for one in results.compared if one.pair.metric_id == "latency_ns"]
    by_tail = compared_all(values, results.rules)
    assert [one.ratio for one in by_median] == pytest.approx([1.0], rel=0.01)
    (tail,) = by_tail
    assert max(tail.ratio, 1 / tail.ratio) == pytest.approx(3, rel=0.05)
    assert tail_values(launch_tails(run), results.launch_values, "p99.9").is_empty(), "4,000 operations are too few"


def test_cases_with_too_few_operations_in_some_launch_are_counted() -> None:
    """Of one fabric a launch has 999 operations, where 1,000 are needed."""
    many = [np.full(1_000, 10_000.0) for _ in range(LAUNCHES)]
    run = run_with(many, [*many[1:], many[0][:999]])
    rows, values = launch_tails(run), results_of(run).launch_values
    assert short_cases(rows, values, "p99") == (1, 2)
    assert short_cases(rows, values, "p99.9") == (2, 2)
    (note,) = tail_notes([(rows, values)], "p99")
    assert note.endswith("; of 2 cases that are timed, 1 have fewer in some launch, which then counts for nothing: "
                         "a larger budget gives more")  # fmt: skip
    enough = run_with(many, many)
    assert not list(tail_notes([(launch_tails(enough), results_of(enough).launch_values)], "p99"))
