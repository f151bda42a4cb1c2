"""Steps of the clock, or of the program that printed the numbers, as far as launch values show them."""

from __future__ import annotations

import polars as pl

GROUP = ("instrument", "benchmark", "metric_id")
CASE = ("case_id", "metric_id")
STEP = "clock_step"


def with_clock_steps(values: pl.DataFrame) -> pl.DataFrame:
    """Return launch values with a column STEP: the step of the clock behind a value, as a share of it; 0 for none seen.

    Launches that agree to the last digit show that there are steps: where launches of a case do, and others of it
    differ, the least difference between two of them. Of all such cases of one instrument, benchmark and metric the
    least counts, in time, for all of them: one clock took them. Rates are taken as the time that their bytes took.
    """
    time = pl.when(pl.col("metric_id").str.contains("_per_s")).then(
        pl.max_horizontal("message_size_bytes", 1) / pl.col("value")
    )
    timed = values.with_columns(time.otherwise(pl.col("value")).alias("_time"))
    cases = (
        timed.filter(pl.col("value") > 0)
        .group_by(*GROUP, "case_id")
        .agg(
            pl.col("_time").unique().sort().diff().drop_nulls().min().alias("_gap"),
            (pl.col("_time").n_unique() < pl.len()).alias("_agree"),
        )
    )
    steps = cases.filter("_agree").group_by(*GROUP).agg(pl.col("_gap").min())
    joined = timed.join(steps, on=list(GROUP), how="left", maintain_order="left")
    share = (pl.col("_gap") / pl.col("_time").abs().median().over(CASE)).fill_null(0.0).fill_nan(0.0)
    return joined.with_columns(share.alias(STEP)).drop("_time", "_gap")
