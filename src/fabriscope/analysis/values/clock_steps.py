"""Steps of the clock, or of the program that printed the numbers, as far as launch values show them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from fabriscope.model.metrics import unit_of
from fabriscope.model.quantity import Unit

GROUP = ("instrument", "benchmark", "metric_id", "round")
CASE = ("case_id", "metric_id", "round")
STEP = "clock_step"
SAME = 1e-9
"""Times that differ by less than this share of them agree: what is left is arithmetic's."""
OURS = "engine"
"""The instrument whose values no program printed."""
MICROSECOND_NS, MEGA = 1e3, 1e6
"""What programs count times, and rates, in."""
_DIGITS = 9
"""A number with more digits was not printed as it stands."""
_UNITS = (1.0, 8.0, 2.0**-10, 2.0**-20, 2.0**-30)
"""What a value is multiplied by to be in the unit of who printed it, powers of ten apart: bytes, bits, KiB to GiB."""
_LEAST_DIVISORS = {2: 21, 3: 4, 4: 3}
"""Number of distinct numbers to the common divisor that they do not have by chance, at 5 %; of more it is 2."""


def with_clock_steps(values: pl.DataFrame) -> pl.DataFrame:
    """Return launch values with a column STEP: the step of the clock behind a value, as a share of it; 0 for none seen.

    Two launches of a case that agree to the last digit show that there are steps. How long they are is the least
    difference of two launches of any case of the same instrument, benchmark, metric and round, in time: one clock took
    them, and launches may agree by chance where the steps are short. Rates are taken as the time that their amount
    took. What a round of sharpening adds thus changes no step of what was planned.

    A number that a program printed has a step of its own at least: `printed_step`.
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
    joined = joined.join(_printed(timed), on=["case_id", "metric_id", "round"], how="left", maintain_order="left")
    share = (pl.col("_gap") / pl.col("_time").abs().median().over(CASE)).fill_null(0.0).fill_nan(0.0)
    return joined.with_columns(pl.max_horizontal(share, pl.col("_printed").fill_null(0.0)).alias(STEP)).drop(
        "_time", "_gap", "_printed"
    )


def _printed(timed: pl.DataFrame) -> pl.DataFrame:
    """Return for each case, metric and round the step of what a program printed, `_printed`, a share of the value."""
    found: list[tuple[str, str, int, float]] = []
    printed = timed.filter(pl.col("instrument") != OURS, pl.col("sample_count") == 1, pl.col("value") > 0)
    for group in printed.partition_by(*GROUP, maintain_order=True):
        ways = [(group.get_column("value") * factor).to_list() for factor in _UNITS]
        is_time = unit_of(group.item(0, "metric_id")).name == "ns"
        most = MICROSECOND_NS if is_time else MEGA
        numbers, step = _as_printed([*ways, group.get_column("_time").to_list()], most)
        sized = group.with_columns(pl.Series("_number", numbers)).group_by(CASE, maintain_order=True)
        found += [(*case, step / middle) for *case, middle in sized.agg(pl.col("_number").median()).iter_rows()]
    schema = {"case_id": pl.String, "metric_id": pl.String, "round": pl.Int32, "_printed": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def _as_printed(ways: Sequence[list[float]], most: float) -> tuple[list[float], float]:
    """Return the numbers in the unit in which they have fewest digits, and their step; 0 where none was printed."""
    digits = [max(len(_significant(one)[0]) for one in numbers) for numbers in ways]
    least = min(digits)
    numbers = ways[digits.index(least)]
    return numbers, printed_step(numbers, most) if least <= _DIGITS else 0.0


def printed_step(numbers: Iterable[float], most: float) -> float:
    """Return the step of numbers that a program printed: its last decimal, or the common divisor of all of them.

    A divisor counts where it is not common to so many distinct numbers by chance; where all are one number, its
    noughts before the point are none of the program's: the step is `most` at most.
    """
    distinct = sorted(set(numbers))
    unit = 10.0 ** min(power for _, power in map(_significant, distinct))
    if len(distinct) == 1:
        return min(unit, most)
    divisor = math.gcd(*(round(one / unit) for one in distinct))
    return unit * divisor if divisor >= _LEAST_DIVISORS.get(len(distinct), 2) else unit


def _significant(number: float) -> tuple[str, int]:
    """Return the digits of a number as far as arithmetic leaves them, and the power of ten of the last one."""
    mantissa, _, power = f"{number:.11e}".partition("e")
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    return digits, int(power) - len(digits) + 1


def _amount(unit: Unit) -> pl.Expr:
    """Return what a rate is of, for each value."""
    return pl.max_horizontal("message_size_bytes", 1) if unit.name == "bytes_per_s" else pl.lit(1)
