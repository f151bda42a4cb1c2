"""Metrics: the ids that files, tables and documents have, and the quantities that they are made of."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path

import pytest

from fabriscope.analysis.comparing.comparisons import sign_of
from fabriscope.model.benchmark_kind import APPLICATION, OF_STREAMS, SERVICE
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import METRICS, metric_of, metric_value
from fabriscope.model.quantity import Operations, Quantity, Ranks, Timing, quantity_of

LATER = (*OF_STREAMS, SERVICE, APPLICATION)
"""Patterns of what no operation of our engine times."""
IDS = (Path(__file__).parent / "data" / "metric_ids.txt").read_text().split()
"""What run folders, tables and documents of any version may hold: none is ever renamed."""


def test_the_ids_are_those_of_run_folders_and_documents() -> None:
    assert list(METRICS) == IDS


@pytest.mark.parametrize("metric_id", IDS)
def test_an_id_says_what_its_quantity_says(metric_id: str) -> None:
    quantity, read = METRICS[metric_id].quantity, quantity_of(metric_id)
    assert quantity.metric_id == read.metric_id == metric_id
    assert (quantity.what, quantity.unit) == (read.what, read.unit)
    if read.timing is not Timing.OWN_CLOCK:
        assert quantity.timing == read.timing
    if read.operations not in (Operations.MEDIAN, Operations.ALL):
        assert quantity.operations is read.operations
        assert read.ranks in (quantity.ranks, Ranks.PAIR)  # of which an id says nothing


def test_no_two_metrics_have_one_quantity_and_what_tells_them_apart_is_a_field() -> None:
    for first, second in combinations(METRICS.values(), 2):
        assert first.quantity != second.quantity
    ours, others = (METRICS[name].quantity for name in ("collective_latency_ns", "collective_latency_ns_barrier_mean"))
    differing = {field.name for field in fields(Quantity) if getattr(ours, field.name) != getattr(others, field.name)}
    assert differing == {"operations", "ranks", "timing"}


def test_changing_a_field_changes_the_id() -> None:
    quantity = METRICS["sendrecv_time_ns"].quantity
    assert replace(quantity, timing=Timing.BACK_TO_BACK).metric_id == "sendrecv_time_ns_back_to_back"
    one_rank = replace(quantity, timing=Timing.BARRIER, operations=Operations.MEAN, ranks=Ranks.LEAST)
    assert one_rank.metric_id == "sendrecv_time_ns_barrier_least_rank_mean"
    assert (
        replace(METRICS["latency_ns"].quantity, operations=Operations.LEAST_MEAN).metric_id == "latency_ns_least_mean"
    )


def test_what_a_metric_of_nobody_is_stands_in_its_name() -> None:
    metric = metric_of("training_step_energy_joules_mean")
    assert (metric.quantity.what, metric.quantity.operations) == ("training_step_energy", Operations.MEAN)
    assert metric.title == metric.metric_id
    assert sign_of("training_step_energy_joules_mean") == -1
    assert sign_of("own_time_ns") == -1, "a time of a plug-in is better when it is less"
    assert sign_of("own_rate_op_per_s") == 1


@pytest.mark.parametrize(
    ("metric_id", "title"),
    [
        ("message_rate_per_s", "thousand messages/s"),
        ("fetch_and_op_rate_per_s", "thousand operations/s"),
        ("fetch_and_op_stream_rate_per_s", "thousand operations/s"),
        ("own_rate_per_s", "thousand/s"),
        ("bandwidth_bytes_per_s", "Mb/s"),
        ("latency_ns", "µs"),
    ],
)
def test_an_axis_names_what_is_counted(metric_id: str, title: str) -> None:
    assert metric_of(metric_id).axis_title == title


@pytest.mark.parametrize(
    "metric_id",
    sorted({name for kind in BENCHMARKS.values() if kind.pattern not in LATER for name in kind.metrics}),
)
def test_what_the_engine_times_becomes_a_metric(metric_id: str) -> None:
    assert metric_value(metric_id, 1000.0, 64, 16) > 0


@pytest.mark.parametrize(
    "metric_id",
    ["latency_ns_mean", "fairness_ratio", "stream_bandwidth_bytes_per_s", "overlap_percent", "own_ns"],
)
def test_what_other_programs_state_is_made_of_no_time_of_ours(metric_id: str) -> None:
    with pytest.raises(KeyError):
        metric_value(metric_id, 1000.0, 64, 16)
