"""Collectives and pairs: from samples and accounts to values, tables, comparisons, figures and sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.analysis import made_up_groups as made_up

from fabriscope.analysis.group_words import sentences
from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.values.groups import groups
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.model.metrics import metric_value, overlap_percent
from fabriscope.model.run_data import RunData
from fabriscope.registry import discover
from fabriscope.reports._charts import draw
from fabriscope.reports._figures import figures
from fabriscope.reports._style import style_of
from fabriscope.reports.base import Options


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    return made_up.write_run(tmp_path_factory.mktemp("runs") / "ranks").read()


@pytest.fixture(scope="module")
def results(run: RunData) -> Results:
    return results_of(run)


@pytest.mark.parametrize(
    ("metric_id", "value"),
    [
        ("multi_pair_latency_ns", 500.0),
        ("message_rate_per_s", 4 * 16 * 1e6),
        ("multi_pair_bandwidth_bytes_per_s", 4 * 16 * 8 * 1e6),
        ("goodput_bytes_per_s", 3 * 16 * 8 * 1e6),
        ("incast_time_ns", 1000.0),
        ("collective_latency_ns", 1000.0),
        ("collective_latency_ns_barrier", 1000.0),
        ("sendrecv_bandwidth_bytes_per_s", 16e6),
        ("exchange_bandwidth_bytes_per_s_back_to_back", 32e6),
    ],
)
def test_metrics_of_an_operation(metric_id: str, value: float) -> None:
    assert metric_value(metric_id, 1000.0, 8, 16, pair_count=4, sender_count=3) == pytest.approx(value)


@pytest.mark.parametrize(
    ("total_ns", "percent"), [(200.0, 0.0), (100.0, 100.0), (140.0, 60.0), (250.0, 0.0), (90.0, 110.0)]
)
def test_overlap_as_osu_defines_it(total_ns: float, percent: float) -> None:
    assert overlap_percent(total_ns, compute_ns=100.0, pure_ns=100.0) == pytest.approx(percent)
    assert math.isnan(overlap_percent(total_ns, 100.0, 0.0))


def test_values_rest_on_whole_operations_and_not_on_a_rank_s_share(run: RunData) -> None:
    values = launch_values(run).filter(pl.col("benchmark") == "allreduce", pl.col("message_size_bytes") == 8)
    assert set(values["metric_id"]) == {"collective_latency_ns", "collective_latency_ns_barrier"}
    plain = values.filter(pl.col("metric_id") == "collective_latency_ns", pl.col("ranks") == "8x2")
    assert set(plain["sample_count"]) == {6}
    gige = plain.filter(pl.col("fabric") == "gige")["value"]
    assert gige.to_list() == pytest.approx([3 * (25_000 + 64)] * 3, rel=0.1)


def test_the_table_names_the_slowest_rank_the_late_rounds_and_the_clock(results: Results) -> None:
    row = results.groups.row(
        by_predicate=(pl.col("benchmark") == "allreduce")
        & (pl.col("fabric") == "gige")
        & (pl.col("ranks") == "8x2")
        & (pl.col("metric_id") == "collective_latency_ns"),
        named=True,
    )
    assert (row["first_size_bytes"], row["last_size_bytes"], row["size_count"]) == (8, 65536, 4)
    assert row["first_low"] < row["first_value"] < row["first_high"] < row["last_low"]
    assert (row["slowest_rank"], row["slowest_host"]) == (3, "node2")
    assert row["slowest_share"] == pytest.approx(5 / 6)
    assert (row["operation_count"], row["late_operation_count"]) == (3 * 4 * 6, 3 * 4 * 2)
    assert row["clock_error_ns"] == made_up.CLOCK_ERROR_NS
    barrier = results.groups.filter(pl.col("metric_id") == "collective_latency_ns_barrier")
    assert barrier["clock_error_ns"].null_count() == barrier.height > 0


def test_overlap_is_a_share_and_compared_with_nothing(results: Results) -> None:
    overlap = results.estimates.filter(pl.col("metric_id") == "overlap_percent")
    assert overlap["value"].to_list() == pytest.approx([100 * made_up.OVERLAP] * overlap.height, abs=8)
    assert not results.comparisons["metric_id"].str.starts_with("overlap").any()


def test_what_is_compared_has_one_definition_and_as_many_ranks(results: Results) -> None:
    pairs = results.comparisons.filter(pl.col("left_benchmark") == "allreduce")
    assert set(pairs["kind"]) == {"fabric", "ranks"}
    assert {"collective_latency_ns", "collective_latency_ns_barrier"} == set(pairs["metric_id"])
    counts = {ranks.split("x")[0] for ranks in pairs.filter(pl.col("kind") == "ranks")["left_ranks"]}
    assert counts == {"8"}
    assert any("2 on each host leads 2 on each host, cyclic" in one.text for one in results.findings)
    assert any(one.where == "allreduce, MPI (mpich), between hosts, 4 ranks, 1 on each host"
               for one in results.findings)  # fmt: skip


def test_every_figure_draws_its_rows_over_sizes_or_ranks(results: Results) -> None:
    style = style_of(results.looks(), for_page=True)
    found = {figure.figure_id: figure for figure in figures(results)}
    assert len(found) == len(figures(results))
    for figure in found.values():
        spec = draw(figure, style, for_page=True).spec
        assert len(spec["datasets"]["marks"]) == len(figure.rows or figure.ratios)
    ranks = draw(found["inter-barrier-collective-latency-over-ranks-0"], style, for_page=True).spec
    assert {row["x"] for row in ranks["datasets"]["marks"]} == {4, 8}
    assert {row["hue"] for row in ranks["datasets"]["marks"]} == {
        f"{fabric}, {arrangement}" for fabric in made_up.FABRICS for arrangement in ("block", "cyclic")
    }
    pairs = draw(found["inter-message-rate-message-rate-over-pairs-8"], style, for_page=True).spec
    assert {row["x"] for row in pairs["datasets"]["marks"]} == {1, 4}
    assert "inter-allreduce-collective-latency-8x2" in found
    assert not any("barrier-collective-latency-4x1" in name for name in found)


def test_only_launches_that_count_tell_of_ranks_and_rounds(run: RunData) -> None:
    values = launch_values(run)
    launches = values.filter(pl.col("benchmark") == "allreduce")["launch_id"].unique().sort().to_list()
    counted = {
        len(some): groups(run, values.filter(pl.col("launch_id").is_in(some)))
        .filter(pl.col("benchmark") == "allreduce")["operation_count"]
        .sum()
        for some in (launches, launches[:1])
    }
    assert 0 < counted[1] < counted[len(launches)]


def test_the_answer_says_who_and_how_sure_the_clock_is(results: Results) -> None:
    (barrier,) = [sentence for sentence in results.answer if sentence.startswith("Barrier: collective latency between")]
    assert "gige · MPI (mpich), 8 ranks" in barrier
    assert "rank 3 (node2) finished last in 83% of the operations" in barrier
    assert "the common clock is right to 1.20 µs; 25.0% of the rounds were late" in barrier
    assert not any("after a barrier" in sentence for sentence in results.answer)


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (0, " at 8 B; rank 3 (node2) finished last in 83% of the operations; the common clock is right to 1.00 µs."),
        (90, " at 8 B; 90.0% of the rounds were late and are left out; rank 3 (node2) finished last in"),
        (10, "; the common clock is right to 1.00 µs; 50.0% of the rounds were late and are left out."),
    ],
)
def test_late_rounds_are_told_where_there_are_any_and_first_where_they_are_most(
    results: Results, late: int, said: str
) -> None:
    one = next(row for row in results.grouped if row.benchmark == "allreduce" and row.clock_error_ns is not None)
    row = replace(
        one, size_count=1, slowest_rank=3, slowest_host="node2", slowest_share=0.83, clock_error_ns=1000,
        late_operation_count=late, operation_count=10,
    )  # fmt: skip
    (sentence,) = sentences([row])
    assert said in sentence


@pytest.mark.parametrize("name", ["html", "markdown", "csv"])
def test_reports_have_the_table_of_ranks(run: RunData, tmp_path: Path, name: str) -> None:
    written = discover("reports", "REPORT").get(name).render(run, tmp_path, Options())
    text = "".join(path.read_text() for path in written)
    words = {"csv": "slowest_rank"}.get(name, "rank 3 (node2), 83%")
    assert words in text
    if name == "html":
        assert "Many ranks at once" in text
        assert '<h2 id="summary">' not in text
