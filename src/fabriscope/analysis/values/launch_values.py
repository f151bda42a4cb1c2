"""From samples to one value for each launch: the only numbers that statistics may treat as independent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import polars as pl

from fabriscope.analysis.frames import (
    CASE_COLUMNS,
    CASE_SCHEMA,
    PlannedCase,
    group_accounts,
    planned_cases,
    results_frame,
)
from fabriscope.analysis.proof.transport import without_refuted
from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.batches import batches
from fabriscope.analysis.values.bounds import LARGEST_MTU_BYTES, carrier_of, is_impossible, metric_limit
from fabriscope.analysis.values.clock_steps import STEP, with_clock_steps
from fabriscope.analysis.values.kept_state import KEPT, order_of, with_kept_state
from fabriscope.analysis.values.memory_bound import copy_limit, copy_rate
from fabriscope.analysis.values.streams import STREAM_METRICS, windows_by_launch
from fabriscope.analysis.values.ways import wire_count
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import drains_windows, kind_of
from fabriscope.model.manifest import Manifest
from fabriscope.model.measurement import OPERATION, PARTIAL
from fabriscope.model.metrics import metric_of, metric_value, metrics_of, overlap_percent, unit_of
from fabriscope.model.quantity import Operations
from fabriscope.model.ranks import layout_from
from fabriscope.model.record import GroupAccount
from fabriscope.model.run_data import RunData

SEEN_SCHEMA = {
    "launch_id": pl.Int32,
    "block": pl.Int32,
    **CASE_SCHEMA,
    "metric_id": pl.String,
    "value": pl.Float64,
    "limit": pl.Float64,
    "impossible": pl.Boolean,
    "sample_count": pl.Int64,
    "burst_count": pl.Int64,
    "round": pl.Int32,
}
VALUE_SCHEMA = {**SEEN_SCHEMA, STEP: pl.Float64, KEPT: pl.Float64}

CONDENSED_SCHEMA = {
    "launch_id": pl.Int32,
    "case_id": pl.String,
    "quantity": pl.String,
    "block": pl.Int32,
    "median": pl.Float64,
    "mean": pl.Float64,
    "harmonic_mean": pl.Float64,
    "sample_count": pl.Int64,
    "burst_count": pl.Int64,
}


@dataclass(frozen=True)
class LaunchValue(PlannedCase):
    """One case of one launch in one metric: a row of `all_launch_values`, as far as a figure shows it."""

    metric_id: str
    value: float


@dataclass(frozen=True)
class _Condensed:
    """What the samples of one quantity of one case come to in one launch."""

    launch_id: int
    case_id: str
    quantity: str
    block: int
    median: float
    mean: float
    harmonic_mean: float
    sample_count: int
    burst_count: int


def launch_values(run: RunData, *, anchors: bool = False) -> pl.DataFrame:
    """Return one row for each launch, case and metric, VALUE_SCHEMA; warm-up and failed cases do not count.

    Nor do launches that something else carried than what was asked for (transport.py): a number of shared memory must
    not stand for an Ethernet. Their values are among `all_launch_values`. What a launch of a later round measures
    again, beside the sizes that are new (its anchors, see analysis/values/fits.py), is left out unless it is asked for.
    """
    values = without_refuted(run, all_launch_values(run))
    return values if anchors else without_anchors(values)


def all_launch_values(run: RunData, *, tried: bool = False) -> pl.DataFrame:
    """Return the values of all launches that ended well, whatever carried their bytes, anchors too.

    Those over fabrics that a tuning tried are left out unless they are asked for.

    Rows stand in the order of `cases_frame`, then of the launches. `round` is 0 for a launch that was planned, else
    the round in which it was added.
    `value` and `limit` (what the wire allows) are in the metric's unit; `impossible` marks a value beyond its limit, or
    beyond what copying in memory allows where no wire limits it. STEP is the clock's step, as a share of the value;
    KEPT what the state that the machine kept adds to an interval.
    """
    condensed = pl.concat([_condense(run), _of_streams(run)])
    sound = results_frame(run).filter(pl.col("status") == "ok").select("launch_id", "case_id")
    condensed = condensed.join(sound, on=["launch_id", "case_id"], how="semi")
    cases = {case.case_id: case for case in planned_cases(run, tried=tried)}
    columns = {case_id: tuple(vars(case)[name] for name in CASE_COLUMNS) for case_id, case in cases.items()}
    places = {case_id: place for place, case_id in enumerate(cases)}
    parameters = {case_id: case.parameter_map for case_id, case in run.manifest.cases.items()}
    accounts = group_accounts(run)
    limits = _Limits(run.manifest)
    rounds = {line.launch_id: line.round for line in run.manifest.schedule}
    rows = []
    known = [line for line in rows_of(condensed, _Condensed) if line.case_id in cases]
    for line in sorted(known, key=lambda line: (places[line.case_id], line.launch_id)):
        case = cases[line.case_id]
        account = accounts.get((line.launch_id, line.case_id), GroupAccount())
        for metric_id, value in _metrics(line, case, parameters[line.case_id], account):
            limit = limits.of(metric_id, case)
            better = metric_of(metric_id).larger_is_better
            impossible = is_impossible(value, limit or limits.of_memory(metric_id, case), better)
            counts = line.sample_count, line.burst_count, rounds.get(line.launch_id, 0)
            about = line.launch_id, line.block, *columns[line.case_id]
            rows.append((*about, metric_id, value, limit, impossible, *counts))
    values = with_clock_steps(pl.DataFrame(rows, schema=SEEN_SCHEMA, orient="row"))
    return with_kept_state(values, order_of(run))


def without_anchors(values: pl.DataFrame) -> pl.DataFrame:
    """Return launch values without those of sizes that had been measured in an earlier round.

    How often those are measured depends on what was seen of them: in a test they would count for more than they are.
    """
    return values.filter(pl.col("round") == pl.col("round").min().over("case_id"))


def _condense(run: RunData) -> pl.DataFrame:
    """Return time per operation of each launch, case and quantity: the median over bursts, and the overall mean.

    A few launches at a time: medians need all their samples in memory, and a run's would need a gigabyte.
    """
    together = batches(run, (record.launch_id for record in run.journal))
    return pl.concat([_condense_batch(run.samples.filter(_among(some))) for some in together or [[]]])


def _of_streams(run: RunData) -> pl.DataFrame:
    """Return what the windows of many-to-one streams come to, one row for each launch, case and metric."""
    rows = []
    for (launch_id, case_id), windows in windows_by_launch(run).items():
        sound = [window for window in windows if window.is_comparable]
        for metric_id in STREAM_METRICS if sound else ():
            values = [window.metric(metric_id) for window in sound]
            mean = sum(values) / len(values)
            counts = len(values), len(windows)
            rows.append((launch_id, case_id, metric_id, windows[0].block, median(values), mean, mean, *counts))
    return pl.DataFrame(rows, schema=CONDENSED_SCHEMA, orient="row")


def _among(launch_ids: list[int]) -> pl.Expr:
    if not launch_ids:
        return pl.lit(False)
    return pl.col("launch_id").is_between(launch_ids[0], launch_ids[-1])


def _condense_batch(samples: pl.LazyFrame) -> pl.DataFrame:
    keys = ["launch_id", "case_id", "quantity"]
    bursts = (
        samples.filter(
            (pl.col("phase") == "measure") & ~pl.col("quantity").is_in(list(PARTIAL)) & pl.col("value").is_finite()
        )
        .group_by(*keys, "burst")
        .agg(
            pl.col("block").first(),
            (pl.col("value") / pl.col("operations_per_sample")).median().alias("median"),
            pl.col("value").sum().alias("total"),
            (1 / pl.col("value")).sort().sum().alias("inverse_total"),
            pl.col("operations_per_sample").sum().alias("operations"),
            pl.len().alias("samples"),
        )
    )
    return (
        bursts.group_by(keys)
        .agg(
            pl.col("block").first(),
            pl.col("median").median(),
            (pl.col("total").sum() / pl.col("operations").sum()).alias("mean"),
            (pl.col("samples").sum() / pl.col("inverse_total").sort().sum()).alias("harmonic_mean"),
            pl.col("samples").sum().cast(pl.Int64).alias("sample_count"),
            pl.len().cast(pl.Int64).alias("burst_count"),
        )
        .sort(keys)
        .collect(engine="streaming")
    )


def _metrics(
    line: _Condensed, case: PlannedCase, parameters: Mapping[str, str], account: GroupAccount
) -> Iterator[tuple[str, float]]:
    """Yield metric id and value; values that do not exist (a rate of no time) are left out.

    `account` is what the engine said of this case in this launch, beside its samples.
    """
    if line.quantity != OPERATION:
        value = line.harmonic_mean if unit_of(line.quantity).is_rate else line.median
        if math.isfinite(value):
            yield line.quantity, value
        return
    if kind_of(case.benchmark).pattern in OF_STREAMS:
        return  # of what arrived when, and not of how long it took: analysis/values/streams.py
    for metric_id in metrics_of(case.benchmark, parameters):
        quantity = metric_of(metric_id).quantity
        operation_ns = line.mean if quantity.operations is Operations.ALL else line.median
        if quantity.what == "overlap":
            value = overlap_percent(operation_ns, _or_nan(account.compute_ns), _or_nan(account.pure_ns))
        else:
            counts = {"pair_count": case.rank_count // 2, "sender_count": case.rank_count - 1}
            value = metric_value(metric_id, operation_ns, case.message_size_bytes, case.window_size, **counts)
        if math.isfinite(value):
            yield metric_id, value


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def limits_of(manifest: Manifest) -> _Limits:
    """Return what physics allows, in the metric's unit or None: `.of(metric_id, case)`, `.of_memory`."""
    return _Limits(manifest)


class _Limits:
    """The physical limits of a run's fabrics, remembered since many launches share a case."""

    def __init__(self, manifest: Manifest) -> None:
        self._fabrics = manifest.fabrics
        self._cases = manifest.cases
        self._switches = manifest.switches
        self._copy_rate = copy_rate(manifest)
        self._known: dict[tuple[str, str], float | None] = {}

    def of(self, metric_id: str, case: PlannedCase) -> float | None:
        key = (metric_id, case.case_id)
        if key not in self._known:
            self._known[key] = self._limit(metric_id, case)
        return self._known[key]

    def of_memory(self, metric_id: str, case: PlannedCase) -> float | None:
        """Return what copying in memory allows."""
        layer, placement, ranks = case.layer, case.placement, layout_from(case.ranks)
        return copy_limit(metric_id, self._copy_rate, case.message_size_bytes, layer, placement, ranks)

    def _limit(self, metric_id: str, case: PlannedCase) -> float | None:
        fabric = self._fabrics.get(case.fabric or "")
        if fabric is None or case.placement != "inter":
            return None
        carrier, mtu_bytes = carrier_of(case.layer, fabric)
        has_streams, switch = kind_of(case.benchmark).pattern in OF_STREAMS, self._switches.get(fabric.name)
        largest, planned = LARGEST_MTU_BYTES if has_streams else None, self._cases.get(case.case_id)
        parameters = planned.parameter_map if planned is not None else {}
        return metric_limit(
            metric_id,
            fabric.line_rate_bits_per_s,
            mtu_bytes or largest,
            case.message_size_bytes,
            case.window_size if drains_windows(case.benchmark, parameters) else None,
            carrier,
            switch.delay_ns if switch is not None else fabric.delay_ns or 0,
            layout_from(case.ranks),
            wire_count(planned.entry, switch) if has_streams and planned is not None else None,
        )
