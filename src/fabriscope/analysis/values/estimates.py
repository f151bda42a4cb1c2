"""From launch values to estimates: a centre and a 95 % interval over launches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from fabriscope.analysis.frames import CASE_COLUMNS, PlannedCase
from fabriscope.analysis.numbers.evidence import FIXED
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.values.clock_steps import STEP
from fabriscope.analysis.values.kept_state import KEPT
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.run_data import RunData

KEYS = (*CASE_COLUMNS, "metric_id")
ENDS = ("low", "high")


@dataclass(frozen=True)
class Centre:
    """A number with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None
    """None for one launch."""

    def overlaps(self, other: Centre) -> bool:
        """Return whether the order of two may be chance: without intervals it may."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return True
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True)
class Estimate(PlannedCase):
    """One case in one metric over its launches: a row of `estimates_of`, which says what the fields are."""

    metric_id: str
    value: float
    low: float | None
    high: float | None
    launch_min: float
    launch_max: float
    limit: float | None
    between_launch_spread: float | None
    launch_count: int
    sample_count: int
    impossible_launch_count: int
    impossible: bool


def estimates(run: RunData) -> pl.DataFrame:
    """Return the estimates of a run; `estimates_of` says which columns."""
    return estimates_of(launch_values(run), rules_of(run).method)


def estimates_of(values: pl.DataFrame, method: str = FIXED) -> pl.DataFrame:
    """Return one row for each case and metric, in the order of the values.

    Columns: those of a case, `metric_id`, and in the metric's unit
    - `value`: the median of the launch values, of an even number the geometric mean of the two in the middle,
    - `low`, `high`: its 95 % interval, by `method` (numbers/medians.py), wider where the machine kept a state
      (kept_state.py); null for one launch, or if one is zero,
    - `launch_min`, `launch_max`, `limit` (what the wire allows);
    - `between_launch_spread`: standard deviation of the logs, about the coefficient of variation; null for one launch,
    - `launch_count`, `sample_count`: what the estimate rests on,
    - `impossible_launch_count`: launches beyond what wire or memory allow, kept in the run and left out here,
    - `impossible`: every launch was beyond that; the estimate is of them and belongs in no summary.
    """
    possible = ~pl.col("impossible")
    flagged = values.with_columns(possible.any().over("case_id", "metric_id").alias("_some_possible"))
    counted = flagged.with_columns((possible | ~pl.col("_some_possible")).alias("_counts"))
    taken = pl.col("value").filter(pl.col("_counts"))
    grouped = counted.group_by(KEYS, maintain_order=True).agg(
        taken.log().alias("_logs"),
        (pl.col(STEP).max() / 2).alias("_blur"),
        pl.col(KEPT).max().alias("_kept"),
        taken.log().std(ddof=1).alias("_spread"),
        taken.median().alias("_median"),
        taken.min().alias("launch_min"),
        taken.max().alias("launch_max"),
        pl.col("limit").first(),
        pl.col("_counts").sum().cast(pl.Int64).alias("launch_count"),
        pl.col("sample_count").filter(pl.col("_counts")).sum(),
        pl.col("impossible").sum().cast(pl.Int64).alias("impossible_launch_count"),
        (~pl.col("_some_possible")).first().alias("impossible"),
    )
    return _with_interval(grouped, method).select(
        *KEYS, "value", "low", "high", "launch_min", "launch_max", "limit", "between_launch_spread",
        "launch_count", "sample_count", "impossible_launch_count", "impossible",
    )  # fmt: skip


def _with_interval(grouped: pl.DataFrame, method: str) -> pl.DataFrame:
    rows = [
        [math.exp(log) for log in median_with_interval(logs, method, blur, kept)] if least > 0 else [math.nan] * 3
        for logs, blur, kept, least in grouped.select("_logs", "_blur", "_kept", "launch_min").iter_rows()
    ]
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    named = [
        pl.Series(name, list(column), dtype=pl.Float64)
        for name, column in zip(("_centre", *ENDS), columns, strict=True)
    ]
    has_logs = pl.col("launch_min") > 0
    has_spread = has_logs & (pl.col("launch_count") > 1)
    is_told = has_spread & pl.all_horizontal(pl.col(*ENDS).is_finite())
    return grouped.with_columns(named).with_columns(
        pl.when(has_logs).then(pl.col("_centre")).otherwise(pl.col("_median")).alias("value"),
        *[pl.when(is_told).then(pl.col(name)).alias(name) for name in ENDS],
        pl.when(has_spread).then(pl.col("_spread")).alias("between_launch_spread"),
    )
