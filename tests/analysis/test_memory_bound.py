"""What copying in memory allows, by hand and in made-up runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.analysis.small_run import run_of

from fabriscope.analysis.values.estimates import estimates
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.memory_bound import MARGIN, copy_limit, copy_rate
from fabriscope.analysis.values.trust import trust
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import COPY_RATE, Fact, HostFacts
from fabriscope.model.manifest import Manifest
from fabriscope.model.ranks import Layout
from fabriscope.model.run_data import RunData

RATE = 10e9
SIZE = 1 << 20
LEAST_NS = SIZE / (MARGIN * RATE) * 1e9
BANDWIDTH = "bandwidth_bytes_per_s"


def limit(metric_id: str, layer: str = "shm", placement: str = "intra", **more: Any) -> float | None:
    return copy_limit(metric_id, RATE, SIZE, layer, placement, **more)


def test_limits_by_hand() -> None:
    assert limit(BANDWIDTH) == MARGIN * RATE
    assert limit("bidirectional_bandwidth_bytes_per_s") == 2 * MARGIN * RATE
    assert limit("latency_ns") == pytest.approx(LEAST_NS)
    assert limit("get_latency_ns", "mpi") == pytest.approx(LEAST_NS / 2)
    assert limit("multi_pair_bandwidth_bytes_per_s", "mpi", ranks=Layout(8, 8)) == 4 * 2 * MARGIN * RATE
    assert limit("goodput_bytes_per_s", "tcp", ranks=Layout(4, 4)) == 3 * MARGIN * RATE
    assert limit(BANDWIDTH, "tcp", "inter") == MARGIN * RATE


def test_what_no_processor_need_copy_has_no_limit() -> None:
    assert limit(BANDWIDTH, "mpi", "inter") is None
    assert limit(BANDWIDTH, "verbs", "inter") is None
    assert limit("latency_ns", "null") is None
    assert limit("floor_ns") is None
    assert copy_limit("latency_ns", RATE, 0, "shm", "intra") is None
    assert copy_limit(BANDWIDTH, None, SIZE, "shm", "intra") is None


def hosts(*rates: float | None) -> dict[str, HostFacts]:
    return {f"n{at}": HostFacts((Fact(COPY_RATE, rate),)) for at, rate in enumerate(rates)}


def test_the_fastest_host_counts_and_one_that_is_not_known_says_nothing() -> None:
    assert copy_rate(Manifest(2, hosts=hosts(3e9, 5e9))) == 5e9
    assert copy_rate(Manifest(2, hosts=hosts(3e9, None))) is None
    assert copy_rate(Manifest(2, hosts={**hosts(3e9), "old": HostFacts()})) is None
    assert copy_rate(Manifest(2, hosts={"old": HostFacts()})) is None
    assert copy_rate(Manifest(2)) is None


@pytest.mark.parametrize("layer", ["shm", "tcp", "mpi"])
def test_a_run_beyond_the_copy_rate_is_impossible_and_one_below_is_not(layer: str) -> None:
    """Half a round trip of the shortest time that is possible, and of half of that."""
    case = Case(Entry(layer, None, "intra", ("a", "a"), "openmpi" if layer == "mpi" else None), "ping_pong", SIZE)
    shortest_ns = LEAST_NS / (2 if layer == "mpi" else 1)
    sound, wrong = (
        with_rate(run_of({case: [[[2 * factor * shortest_ns] * 3], [[2 * factor * shortest_ns] * 3]]}), RATE)
        for factor in (1.1, 0.5)
    )
    assert launch_values(sound)["impossible"].to_list() == [False] * 4
    assert launch_values(wrong)["impossible"].to_list() == [True] * 4
    assert launch_values(with_rate(wrong, None))["impossible"].any() is False
    assert set(estimates(wrong)["metric_id"]) == {"latency_ns", "ping_pong_bandwidth_bytes_per_s"}
    graded = trust(wrong, estimates(wrong))
    assert set(graded["grade"]) == {"D"}
    assert graded["reasons"].str.contains("beyond what copying in memory allows").all()
    assert estimates(wrong)["limit"].is_null().all(), "the figures draw what the wire allows"


def test_the_wire_is_told_of_where_there_is_one() -> None:
    case = Case(Entry("tcp", "gige", "inter", ("a", "b")), "ping_pong", SIZE)
    run = run_of({case: [[[2 * LEAST_NS * 1.1] * 3], [[2 * LEAST_NS * 1.1] * 3]]})
    wired = {"gige": Fabric("gige", {}, "tcp", 10**9, 1500)}
    run = with_rate(replace(run, manifest=replace(run.manifest, fabrics=wired)), RATE)
    assert launch_values(run)["impossible"].all()
    assert trust(run, estimates(run))["reasons"].str.contains("beyond what the wire allows").all()


def with_rate(run: RunData, rate: float | None) -> RunData:
    """Return the run as if its hosts copied at this rate."""
    assert run.samples.collect_schema()["value"] == pl.Float64
    return replace(run, manifest=replace(run.manifest, hosts=hosts(rate)))
