"""How slow the slow operations are: percentiles, jitter and stalls of the times that launches stored.

A launch gives one number for each of them, as it gives one median; estimates go over launches. What a benchmark takes
of a time (half of a round trip) is taken of its percentiles too. Rates are left out: they are taken over all time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import polars as pl

from fabriscope.analysis.frames import CASE_COLUMNS, CASE_SCHEMA, PlannedCase
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.batches import batches
from fabriscope.analysis.values.clock_steps import STEP, with_clock_steps
from fabriscope.analysis.values.estimates import Centre
from fabriscope.model.measurement import OPERATION
from fabriscope.model.metrics import METRICS, metric_of
from fabriscope.model.quantity import Kind, Operations
from fabriscope.model.run_data import RunData

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}
"""Name to the share of a launch's operations that are not slower."""
BY_WORD = {"p99": Operations.P99, "p99.9": Operations.P99_9}
"""What `compare --of` takes."""
BEYOND = 10
"""Operations of a launch that must be slower than a percentile, or it would be told by one or two of them."""
LEAST_OPERATIONS = {word: round(BEYOND / (1 - SHARES[word.replace(".", "_")])) for word in BY_WORD}
"""That a launch needs for each."""
STALL = 10
"""An operation that takes this many times the median of its launch is a stall."""
CURVE_SHARES = tuple(10 ** (-place / 8) for place in range(1, 41))
"""Shares of slower operations at which a distribution is drawn: eight a decade, to one in 100,000."""


@dataclass(frozen=True)
class LaunchTail:
    """What the operations of one case came to in one launch; times in ns of a whole operation."""

    launch_id: int
    case_id: str
    operations_per_sample: int
    """1 where each operation was timed alone; else the times are means of so many."""
    sample_count: int
    p50: float
    p90: float | None
    p99: float | None
    p99_9: float | None
    """None where fewer than BEYOND are slower."""
    worst: float
    jitter: float | None
    """The mean difference of an operation and the one before it."""
    stall_count: int
    stall_ns: float | None
    """The median of the stalls."""


@dataclass(frozen=True)
class Tail(PlannedCase):
    """The tail of one case in one metric over its launches; every Centre is of the launches' values."""

    metric_id: str
    operations_per_sample: int
    sample_count: int
    launch_count: int
    p50: Centre
    p90: Centre
    p99: Centre
    p99_9: Centre
    worst: Centre
    jitter: Centre
    stall_share: float
    """Of all operations of all launches."""
    stalled_launch_count: int
    stall_ns: float | None
    """The median launch's, of those that had any."""


@dataclass(frozen=True)
class _Value(PlannedCase):
    """A launch value, as far as it says which of its operations count."""

    launch_id: int
    metric_id: str
    kept_state: float


CENTRES = (*SHARES, "worst", "jitter")
COUNTS = {"operations_per_sample": pl.Int64, "sample_count": pl.Int64, "launch_count": pl.Int64}
STALLS = {"stall_share": pl.Float64, "stalled_launch_count": pl.Int64, "stall_ns": pl.Float64}
TAIL_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **CASE_SCHEMA, "metric_id": pl.String, **COUNTS,
    **{f"{name}{end}": pl.Float64 for name in CENTRES for end in ("", "_low", "_high")}, **STALLS,
}  # fmt: skip


def launch_tails(run: RunData) -> list[LaunchTail]:
    """Return one row for each launch and case whose operations were timed, in the order of launches and cases.

    A percentile is the least time that so large a share of the operations does not exceed.
    """
    found: list[LaunchTail] = []
    for some in batches(run, (record.launch_id for record in run.journal)):
        found += rows_of(_tails_of(run.samples.filter(pl.col("launch_id").is_between(some[0], some[-1]))), LaunchTail)
    return found


def _operations(samples: pl.LazyFrame) -> pl.LazyFrame:
    return samples.filter(
        (pl.col("phase") == "measure") & (pl.col("quantity") == OPERATION),
        pl.col("value").is_finite() & (pl.col("value") > 0),
    ).with_columns((pl.col("value") / pl.col("operations_per_sample")).alias("operation"))


def _tails_of(samples: pl.LazyFrame) -> pl.DataFrame:
    operation = pl.col("operation")
    slow = operation.filter(operation > STALL * operation.median())
    shares = [
        pl.when(pl.len() * (1 - share) >= BEYOND * (1 - 1e-9) if name != "p50" else True)
        .then(operation.quantile(share, interpolation="higher"))
        .alias(name)
        for name, share in SHARES.items()
    ]
    every = (
        _operations(samples)
        .group_by("launch_id", "case_id", maintain_order=True)
        .agg(
            pl.col("operations_per_sample").max(),
            pl.len().cast(pl.Int64).alias("sample_count"),
            *shares,
            operation.max().alias("worst"),
            operation.diff().abs().mean().alias("jitter"),
            slow.len().cast(pl.Int64).alias("stall_count"),
            slow.median().alias("stall_ns"),
        )
    )
    return every.sort("launch_id", "case_id").collect()


def tails(launch_rows: Sequence[LaunchTail], values: pl.DataFrame, method: str) -> list[Tail]:
    """Return the tail of every case of which `values` has a time that is taken of operations, in the order of `values`.

    Launches that `values` (launch values) leaves out (refuted, failed, measured again as an anchor) do not count.
    """
    by_launch = {(one.launch_id, one.case_id): one for one in launch_rows}
    found: dict[tuple[str, str], list[LaunchTail]] = {}
    cases: dict[tuple[str, str], _Value] = {}
    for value in rows_of(values.filter(pl.col("layer") != "null"), _Value):
        one = by_launch.get((value.launch_id, value.case_id))
        if one is not None and _ways(value.metric_id):
            cases.setdefault((value.case_id, value.metric_id), value)
            found.setdefault((value.case_id, value.metric_id), []).append(one)
    return [_tail(cases[key], rows, method) for key, rows in found.items()]


def tails_frame(every: Iterable[Tail]) -> pl.DataFrame:
    """Return one row for each tail, TAIL_SCHEMA: times in ns with the ends of their 95 % intervals."""
    rows = []
    for one in every:
        row = {name: getattr(one, name) for name in (*CASE_COLUMNS, "metric_id", *COUNTS, *STALLS)}
        for name in CENTRES:
            centre: Centre = getattr(one, name)
            row |= {name: centre.value, f"{name}_low": centre.low, f"{name}_high": centre.high}
        rows.append(row)
    return pl.DataFrame(rows, schema=dict(TAIL_SCHEMA))


def _ways(metric_id: str) -> int:
    """Return what a whole operation's time is divided by for a metric; 0 for what is no such time."""
    metric = METRICS.get(metric_id)
    is_time = metric is not None and metric.unit.kind is Kind.TIME
    return metric.ways if metric and is_time and metric.quantity.operations is Operations.MEDIAN else 0


def _tail(value: _Value, rows: Sequence[LaunchTail], method: str) -> Tail:
    case = {name: getattr(value, name) for name in CASE_COLUMNS}
    ways = _ways(value.metric_id)
    stalled = [one.stall_ns / ways for one in rows if one.stall_ns is not None]
    count = sum(one.sample_count for one in rows)

    def centre(values: Iterable[float | None]) -> Centre:
        return _centre(list(values), ways, method, value.kept_state)

    return Tail(
        **case,
        metric_id=value.metric_id,
        operations_per_sample=max(one.operations_per_sample for one in rows),
        sample_count=count,
        launch_count=len(rows),
        p50=centre(one.p50 for one in rows),
        p90=centre(one.p90 for one in rows),
        p99=centre(one.p99 for one in rows),
        p99_9=centre(one.p99_9 for one in rows),
        worst=centre(one.worst for one in rows),
        jitter=centre(one.jitter for one in rows),
        stall_share=sum(one.stall_count for one in rows) / count,
        stalled_launch_count=len(stalled),
        stall_ns=median(stalled) if stalled else None,
    )


def _centre(values: Sequence[float | None], ways: int, method: str, kept: float) -> Centre:
    known = [one / ways for one in values if one is not None and one > 0]
    if len(known) < len(values):
        return Centre(None, None, None)
    centre, low, high = map(math.exp, median_with_interval([math.log(one) for one in known], method, kept=kept))
    return Centre(centre, low, high) if math.isfinite(low) and len(known) > 1 else Centre(centre, None, None)


def short_cases(launch_rows: Sequence[LaunchTail], values: pl.DataFrame, word: str) -> tuple[int, int]:
    """Return of how many cases a launch has too few operations for a percentile (a key of BY_WORD), and of how many.

    Cases are those of `values` (launch values) with a time that is taken of operations.
    """
    name = word.replace(".", "_")
    known = {(one.launch_id, one.case_id): getattr(one, name) is not None for one in launch_rows}
    timed = [metric_id for metric_id in values.get_column("metric_id").unique() if _ways(metric_id)]
    rows = values.filter(pl.col("layer") != "null", pl.col("metric_id").is_in(timed))
    keys = set(rows.select("launch_id", "case_id").iter_rows()) & known.keys()
    short = {case_id for launch_id, case_id in keys if not known[launch_id, case_id]}
    return len(short), len({case_id for _, case_id in keys})


def tail_values(launch_rows: Sequence[LaunchTail], values: pl.DataFrame, word: str) -> pl.DataFrame:
    """Return launch values whose numbers are a percentile (a key of BY_WORD) instead of the median.

    Their metric says so (`latency_ns_p99`); launches with too few operations for it have none.
    """
    name = word.replace(".", "_")
    metric_ids = [one for one in values.get_column("metric_id").unique(maintain_order=True) if _ways(one)]
    renamed = {one: replace(metric_of(one).quantity, operations=BY_WORD[word]).metric_id for one in metric_ids}
    ways = pl.DataFrame(
        [(one, renamed[one], _ways(one)) for one in metric_ids],
        schema={"metric_id": pl.String, "_renamed": pl.String, "_ways": pl.Int64}, orient="row",
    )  # fmt: skip
    told = pl.DataFrame(
        [(one.launch_id, one.case_id, getattr(one, name)) for one in launch_rows],
        schema={"launch_id": pl.Int32, "case_id": pl.String, "_tail": pl.Float64}, orient="row",
    )  # fmt: skip
    joined = values.drop(STEP).join(ways, on="metric_id", how="left", maintain_order="left")
    joined = joined.join(told, on=["launch_id", "case_id"], how="left", maintain_order="left").drop_nulls(
        ("_tail", "_ways")
    )
    replaced = joined.with_columns(
        (pl.col("_tail") / pl.col("_ways")).alias("value"),
        pl.col("_renamed").alias("metric_id"),
        pl.lit(None, pl.Float64).alias("limit"),
        pl.lit(False).alias("impossible"),
    )
    return with_clock_steps(replaced.select(values.drop(STEP).columns)).select(values.columns)


def distributions(run: RunData, wanted: Iterable[Tail]) -> dict[str, list[tuple[float, float]]]:
    """Return case to (time in ns, share of operations that are slower), of the median launch at each share."""
    ways = {one.case_id: _ways(one.metric_id) for one in wanted}
    operation = pl.col("operation")
    grid = [operation.quantile(1 - share, interpolation="higher").alias(str(share)) for share in CURVE_SHARES]
    every = _operations(run.samples.filter(pl.col("case_id").is_in(list(ways)))).group_by("case_id", "launch_id")
    frame = every.agg(pl.len().alias("_count"), operation.min().alias("_least"), *grid).sort("case_id").collect()
    found = {}
    for part in frame.partition_by("case_id", maintain_order=True):
        case_id = part.item(0, "case_id")
        line = [(median(part.get_column("_least")), 1.0)]
        for share in CURVE_SHARES:
            known = part.filter(pl.col("_count") * share >= BEYOND).get_column(str(share)).to_list()
            if len(known) == part.height:
                line.append((median(known), share))
        found[case_id] = [(time_ns / ways[case_id], share) for time_ns, share in line]
    return found
