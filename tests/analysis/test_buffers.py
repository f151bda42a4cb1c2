"""From which buffers messages came is part of what a number means: old runs keep theirs, and two are never mixed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.analysis import made_up
from tests.analysis.small_run import FAST, TCP, Bursts, run_of

from fabriscope.analysis.comparing.choices import runs_compared
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.fits import fits
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.analysis.values.summary import summary
from fabriscope.model.benchmarks import BENCHMARKS, choices_of, metrics_of
from fabriscope.model.case import Case
from fabriscope.model.metrics import METRICS, base_of, definitions_of, metric_of
from fabriscope.model.quantity import Buffers, quantity_of
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Table
from fabriscope.reports.sections import summary as summary_section

SEPARATE, SAME, ROTATING = ((("buffers", use),) for use in ("separate", "same", "rotating"))
SHAPE = made_up.Shape(
    sizes=(8, 1024), launch_count=4, stacks=(), benchmarks=("ping_pong", "bandwidth"), placements=("inter",),
    failing=frozenset(),
)  # fmt: skip


def pong(size: int, *parameters: tuple[tuple[str, str], ...]) -> list[Case]:
    return [Case(TCP, "ping_pong", size, parameters=one) for one in parameters]


def of_two(runs: tuple[RunData, RunData]) -> tuple[set[str], list[str]]:
    """Return the metrics that were compared, and what was not."""
    values = [results_of(run).launch_values for run in runs]
    rules = [rules_of(run) for run in runs]
    families, refused = runs_compared(runs, (values[0], values[1]), ("new", "old"), (rules[0], rules[1]))
    return {family.pair.metric_id for family in families}, refused


def with_buffers(run: RunData, **uses: str) -> RunData:
    """Return the run as if its cases had named buffers, by benchmark."""
    cases = {
        key: replace(case, parameters=(("buffers", uses[case.benchmark]),)) if case.benchmark in uses else case
        for key, case in run.manifest.cases.items()
    }
    return replace(run, manifest=replace(run.manifest, cases=cases))


def test_a_case_that_names_no_buffers_is_what_it_was_before_there_was_a_choice() -> None:
    assert metrics_of("ping_pong") == ("latency_ns", "ping_pong_bandwidth_bytes_per_s")
    assert metrics_of("ping_pong", dict(SAME)) == metrics_of("ping_pong")
    assert metric_of("latency_ns").quantity.buffers is Buffers.SAME
    assert metrics_of("bandwidth", dict(SEPARATE)) == metrics_of("bandwidth") == ("bandwidth_bytes_per_s",)
    assert metric_of("bandwidth_bytes_per_s").quantity.buffers is Buffers.SEPARATE


@pytest.mark.parametrize("benchmark", [name for name, kind in BENCHMARKS.items() if "buffers" in kind.parameters])
def test_each_definition_of_a_benchmark_has_ids_of_its_own_and_is_in_the_table(benchmark: str) -> None:
    uses = choices_of("buffers", benchmark)
    use_of = {metric_id: use for use in uses for metric_id in metrics_of(benchmark, {"buffers": use})}
    assert len(use_of) == len(uses) * len(metrics_of(benchmark))
    for metric_id, use in use_of.items():
        assert METRICS[metric_id].title
        assert METRICS[metric_id].quantity.buffers.value == quantity_of(metric_id).buffers.value == use
        assert definitions_of(metric_id) == definitions_of(base_of(metric_id))


def test_one_run_has_both_definitions_side_by_side_and_its_tables_show_the_usual_one() -> None:
    measured: dict[Case, list[Bursts]] = {}
    for size in (8, 1024):
        separate, same = pong(size, SEPARATE, SAME)
        measured |= {separate: [[[4e4]], [[4e4]]], same: [[[6e4]], [[6e4]]]}
    run = run_of(measured)
    values = launch_values(run)
    told = values.filter(pl.col("message_size_bytes") == 8).select("metric_id", "value").unique()
    assert set(told.iter_rows()) >= {("latency_ns_separate", 2e4), ("latency_ns", 3e4)}
    (row,) = summary(values).rows(named=True)
    assert row["latency_ns"] == pytest.approx(2e4)
    assert row["bandwidth_bytes_per_s"] == pytest.approx(1024 / 2e-5)
    (section,) = summary_section.SECTION.build(results_of(run))
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    place = [column.title for column in table.columns].index("buffers")
    assert [line[place] for line in table.rows] == ["separate"]


def test_an_old_run_s_table_says_which_buffers_it_had() -> None:
    (section,) = summary_section.SECTION.build(results_of(run_of({Case(TCP, "ping_pong", 8): [[[4e4]]]})))
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    assert "same" in table.rows[0]


def test_a_curve_of_either_definition_has_one_model() -> None:
    measured: dict[Case, list[Bursts]] = {}
    for power in range(8):
        separate, same = pong(2**power, SEPARATE, SAME)
        measured |= {separate: [[[4e4 + 100 * 2**power]]] * 3, same: [[[9e4 + 100 * 2**power]]] * 3}
    (piece,) = fits(launch_values(run_of(measured))).rows(named=True)
    assert piece["latency_ns"] == pytest.approx(2e4, rel=0.01)


def test_runs_of_two_definitions_are_not_compared_and_it_is_said(tmp_path: Path) -> None:
    old = made_up.write_run(tmp_path / "old", SHAPE).read()
    told, refused = of_two((with_buffers(old, ping_pong="separate"), old))
    assert told == {"bandwidth_bytes_per_s"}
    assert refused[0].endswith("ping_pong, inter: buffers separate against same")
    assert len(refused) == len(SHAPE.fabrics)


def test_the_control_s_second_entry_is_not_said_once_more() -> None:
    twin = replace(TCP, twin=True)
    one, other = (
        run_of({Case(entry, "ping_pong", 8, parameters=use): [[[4e4]]] * 3 for entry in (TCP, twin)})
        for use in (SEPARATE, SAME)
    )
    told, refused = of_two((one, other))
    assert told == set()
    assert [line.rpartition(": ")[2] for line in refused] == ["buffers separate against same"]


def test_a_run_that_names_what_an_old_one_had_is_compared_with_it(tmp_path: Path) -> None:
    old = made_up.write_run(tmp_path / "old", SHAPE).read()
    new = with_buffers(old, ping_pong="same", bandwidth="separate")
    assert of_two((new, old)) == ({"latency_ns", "bandwidth_bytes_per_s"}, [])


def test_definitions_inside_a_run_are_never_compared() -> None:
    measured: dict[Case, list[Bursts]] = {}
    slow = replace(TCP, fabric=FAST.name)
    (separate,), (same,) = pong(8, SEPARATE), pong(8, SAME)
    measured |= {separate: [[[4e4]]] * 4, replace(same, entry=slow): [[[6e4]]] * 4}
    assert results_of(run_of(measured)).comparisons.height == 0


def stands(name: str, metric_id: str, *ours: tuple[tuple[str, str], ...]) -> Any:
    """Return what `reconcile` says of a number of another program beside pings of ours, each of 20 us."""
    other = Case(replace(TCP, instrument=name), "ping_pong", 64)
    launches: list[Bursts] = [[[40_000.0] * 4] * 3] * 3
    run = run_of({**dict.fromkeys(pong(64, *ours), launches), other: [[[20_000.0]]] * 3})
    told = pl.when(pl.col("case_id") == other.case_id).then(pl.lit(metric_id)).otherwise(pl.col("quantity"))
    (one,) = results_of(replace(run, samples=run.samples.with_columns(told.alias("quantity")))).reconciled
    return next(said for said in one.statements if said.instrument == name)


@pytest.mark.parametrize(
    ("name", "metric_id", "use"),
    [
        ("imb", "latency_ns_separate_mean", SEPARATE),
        ("qperf", "latency_ns_mean", SAME),
        ("netpipe", "latency_ns_least_mean", SAME),
    ],
)
def test_a_program_is_set_beside_ours_with_its_buffers_and_no_other(
    name: str, metric_id: str, use: tuple[tuple[str, str], ...]
) -> None:
    said = stands(name, metric_id, SEPARATE, SAME, ROTATING)
    assert said.excess.value == pytest.approx(1)
    other = SAME if use is SEPARATE else SEPARATE
    lacking = stands(name, metric_id, other, ROTATING)
    assert lacking.excess is None
    assert lacking.how == f"it has other buffers: measure ours with `buffers: {dict(use)['buffers']}` to set it beside"
