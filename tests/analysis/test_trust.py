"""Trust: grades follow their reasons, drift is found where it is and not where it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.bounds import least_latency_ns
from fabriscope.analysis.values.bursts import bursts, changepoints, drifts, effective_samples
from fabriscope.analysis.values.estimates import estimates
from fabriscope.analysis.values.launch_grades import GRADES
from fabriscope.analysis.values.trust import GradedEstimate, Outside, curve_grades, trust, with_trust
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.run_data import RunData

SHAPE = Shape(
    sizes=(8, 1024), launch_count=6, samples_per_burst=20, burst_count=9, stacks=(), benchmarks=("ping_pong",),
    placements=("inter",), failing=frozenset(), launch_noise=0.005,
)  # fmt: skip
noise = np.random.default_rng(5)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    written = write_run(tmp_path_factory.mktemp("trust") / "run", SHAPE).read()
    # As in a real run: every case has a burst in every round.
    burst = pl.col("round") * 10 + pl.col("burst") // SHAPE.burst_count
    return replace(written, samples=written.samples.with_columns(burst.cast(pl.Int32).alias("burst")))


def graded(run: RunData, outside: Outside | None = None) -> dict[str, dict[str, Any]]:
    """Return the rows of latencies of gige by case."""
    found = with_trust(run, estimates(run), outside)
    return {row["case_id"]: row for row in found.to_dicts() if row["metric_id"] == "latency_ns" and row["fabric"]}


def with_facts(run: RunData, **facts: Any) -> RunData:
    """Return the run with these facts of its hosts (`__` stands for a dot)."""
    listed = HostFacts(tuple(Fact(name.replace("__", "."), value) for name, value in facts.items()))
    return replace(run, manifest=replace(run.manifest, hosts={"node1": listed}))


def slowed(run: RunData, launches: list[int], from_round: int, factor: float) -> RunData:
    """Return the run with these launches slower from some round on."""
    is_slow = pl.col("launch_id").is_in(launches) & (pl.col("round") >= from_round)
    value = pl.when(is_slow).then(pl.col("value") * factor).otherwise(pl.col("value"))
    return replace(run, samples=run.samples.with_columns(value))


def test_what_nothing_speaks_against_is_sound(run: RunData) -> None:
    rows = graded(run)
    assert {row["grade"] for row in rows.values()} == {"A"}
    assert all("6 launches" in row["reasons"] for row in rows.values())
    assert all(0 < row["clock_share"] < 0.01 for row in rows.values())


def test_few_launches_and_a_wide_interval_lower_the_grade(run: RunData) -> None:
    found = estimates(run)
    for count, grade in ((1, "D"), (2, "C"), (3, "B"), (5, "A")):
        changed = found.with_columns(pl.lit(count, dtype=pl.Int64).alias("launch_count"))
        assert set(trust(run, changed).filter(pl.col("metric_id") == "latency_ns")["grade"]) == {grade}
    for half, grade in ((0.04, "A"), (0.1, "B"), (0.3, "C"), (0.9, "D")):
        changed = found.with_columns((pl.col("value") * (1 + half)).alias("high"))
        assert set(trust(run, changed).filter(pl.col("metric_id") == "latency_ns")["grade"]) == {grade}


def test_a_change_inside_launches_is_drift(run: RunData) -> None:
    ids = [record.launch_id for record in run.journal if record.entry_id == "gige.tcp.inter"]
    assert drifts(bursts(run)) == {}
    some = drifts(bursts(slowed(run, ids[:2], 5, 1.4)))
    assert set(some) == set(ids[:2])
    assert all(changes[0][1] == pytest.approx(1.4, rel=0.1) for changes in some.values())
    assert drifts(bursts(slowed(run, ids[:2], 5, 1.02))) == {}
    few, most = (graded(slowed(run, chosen, 5, 1.12)) for chosen in (ids[:2], ids[:5]))
    gige = [case_id for case_id, row in few.items() if row["fabric"] == "gige"]
    assert {few[case_id]["grade"] for case_id in gige} == {"B"}
    assert {most[case_id]["grade"] for case_id in gige} == {"C"}
    assert "changed inside 5 of 6 launches" in most[gige[0]]["reasons"]


def test_changepoints_are_where_they_are() -> None:
    false = sum(bool(changepoints(noise.normal(0, 1, 120))) for _ in range(500))
    assert false <= 5
    for count in (40, 200):
        (place,) = changepoints(np.r_[noise.normal(0, 1, count), noise.normal(3, 1, count)])
        assert abs(place - count) <= 3
    assert changepoints(np.r_[np.full(3, 9.0), noise.normal(0, 1, 5)]) == []
    outlier = noise.normal(0, 1, 100)
    outlier[50] = 1000
    assert changepoints(outlier) == []


def test_a_trend_over_launches_lowers_the_grade(run: RunData) -> None:
    ids = sorted(record.launch_id for record in run.journal if record.entry_id == "gige.tcp.inter")
    grown = run
    for step, launch_id in enumerate(ids):
        grown = slowed(grown, [launch_id], 0, 1 + 0.05 * step)
    rows = [row for row in graded(grown).values() if row["fabric"] == "gige"]
    assert all(row["grade"] == "C" and "became slower" in row["reasons"] for row in rows)


def test_autocorrelated_samples_are_worth_few() -> None:
    independent = noise.normal(0, 0.1, (40, 50))
    slow = noise.normal(0, 0.1, (40, 1)) + noise.normal(0, 0.01, (40, 50))
    counts = []
    for values in (independent, slow):
        rows = [
            {
                "launch_id": 1, "case_id": "a", "quantity": "operation_ns", "burst": burst, "log_median": 0.0,
                "sample": 1.0, "log_sum": float(one.sum()), "log_square_sum": float((one**2).sum()),
                "sample_count": len(one),
            }
            for burst, one in enumerate(values)
        ]  # fmt: skip
        counts.append(effective_samples(pl.DataFrame(rows))["effective_count"][0])
    assert counts[0] > 1000
    assert counts[1] < 80


def test_the_machine_s_state_speaks_against_a_number(run: RunData) -> None:
    calm = with_facts(run, load__mean_1min=0.1, cpu__thread_count=2, cpu__governor="performance")
    assert {row["grade"] for row in graded(calm).values()} == {"A"}
    for facts, words in (
        ({"load__mean_1min": 3.5, "cpu__thread_count": 2}, "load of 3.5 on 2 processors"),
        ({"cpu__governor": "powersave"}, "governor powersave"),
        ({"load__cpu_pressure_10s_percent": 40.0}, "40 % of the time"),
    ):
        rows = graded(with_facts(run, **facts))
        assert all(row["grade"] == "B" and words in row["reasons"] for row in rows.values()), words


def test_what_two_hosts_have_alike_is_told_once(run: RunData) -> None:
    busy = with_facts(run, load__mean_1min=6.5, cpu__thread_count=2)
    (facts,) = busy.manifest.hosts.values()
    both = replace(busy, manifest=replace(busy.manifest, hosts=dict.fromkeys(("node1", "node2"), facts)))
    for row in graded(both).values():
        assert row["reasons"].count("a load of 6.5 on 2 processors before the run") == 1
        assert "before the run (node1, node2)" in row["reasons"]


def test_what_others_found_counts(run: RunData) -> None:
    case_id = next(iter(graded(run)))
    refuted = graded(run, Outside(transport={case_id: ("refuted", "its bytes went over shm")}))
    assert [case for case, row in refuted.items() if row["grade"] == "D"] == [case_id]
    assert "went over shm" in refuted[case_id]["reasons"]
    assert {row["grade"] for row in graded(run, Outside(control="it failed")).values()} == {"D"}


def test_what_is_impossible_is_not_to_be_relied_on(run: RunData) -> None:
    fast = replace(run, samples=run.samples.with_columns(pl.col("value") / 100))
    assert {row["grade"] for row in graded(fast).values()} == {"D"}
    assert all("beyond what the wire allows" in row["reasons"] for row in graded(fast).values())
    assert least_latency_ns(None, None, 8, "tcp", 5000) == 5000
    assert least_latency_ns(None, None, 8, "tcp") is None


def test_each_curve_has_its_worst_point(run: RunData) -> None:
    found = with_trust(run, estimates(run))
    rows = curve_grades(rows_of(found, GradedEstimate))
    assert all(sum(row.counts.values()) == 2 for row in rows)
    assert all(row.grade in GRADES for row in rows)
