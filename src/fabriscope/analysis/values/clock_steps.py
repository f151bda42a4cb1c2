"""Steps of the clock, or of the program that printed the numbers, as far as launch values show them."""

from __future__ import annotations

import polars as pl

from fabriscope.model.metrics import unit_of
from fabriscope.model.quantity import Unit

GROUP = ("instrument", "benchmark", "metric_id", "round")
CASE = ("case_id", "metric_id", "round")
STEP = "clock_step"
SAME = 1e-9
"""Times that differ by less than this share of them agree: what is left is arithmetic's."""


def with_clock_steps(values: pl.DataFrame) -> pl.DataFrame:
    """Return launch values with a column STEP: the step of the clock behind a value, as a share of it; 0 for none seen.

    Two launches of a case that agree to the last digit show that there are steps. How long they are is the least
    difference of two launches of any case of the same instrument, benchmark, metric and round, in time: one clock took
    them, and launches may agree by chance where the steps are short. Rates are taken as the time that their amount
    took. What a round of sharpening adds thus changes no step of what was planned.
    """
    metric_ids = values.get_column("metric_id").unique().to_list()
    amounts = {name: _amount(unit_of(name)) for name in metric_ids if unit_of(name).is_rate}
    times = [pl.when(pl.col("metric_id") == name).then(amount / pl.col("value")) for name, amount in amounts.items()]
    timed = values.with_columns(pl.coalesce(*times, pl.col("value")).alias("_time"))
    sorted_times = pl.col("_time").sort()
    gaps = sorted_times.diff().drop_nulls()
    is_gap = gaps > SAME * sorted_times.slice(1)
    cases = (
        timed.filter(pl.col("value") > 0)
        .group_by(*CASE, *(name for name in GROUP if name not in CASE))
        .agg(gaps.filter(is_gap).min().alias("_gap"), (~is_gap).any().alias("_agree"))
    )
    steps = cases.group_by(*GROUP).agg(pl.col("_gap").min(), pl.col("_agree").any()).filter("_agree").drop("_agree")
    joined = timed.join(steps, on=list(GROUP), how="left", maintain_order="left")
    share = (pl.col("_gap") / pl.col("_time").abs().median().over(CASE)).fill_null(0.0).fill_nan(0.0)
    return joined.with_columns(share.alias(STEP)).drop("_time", "_gap")


def _amount(unit: Unit) -> pl.Expr:
    """Return what a rate is of, for each value."""
    return pl.max_horizontal("message_size_bytes", 1) if unit.name == "bytes_per_s" else pl.lit(1)
