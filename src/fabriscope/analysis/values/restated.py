"""Our samples by the definitions of other programs: their mean, the least of three means, a stream without answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from fabriscope.analysis.curve import IDENTITY
from fabriscope.analysis.values.definitions import one_definition
from fabriscope.analysis.values.launch_values import VALUE_SCHEMA
from fabriscope.model.measurement import OPERATION
from fabriscope.model.metrics import metric_of
from fabriscope.model.quantity import Completion, Operations, Quantity
from fabriscope.model.run_data import RunData

ENGINE = "engine"
TRIALS = 3
"""NetPIPE's: it states the least of their means."""
_SAME_ENTRY = ["launch_id", *(name for name in IDENTITY if name not in ("benchmark", "series"))]


@dataclass(frozen=True)
class Restatement:
    """How a number of ours becomes one of another definition."""

    own_id: str
    metric_id: str
    """By the definition of which."""
    how: str
    """In words."""


_HOW = {
    Operations.MEAN: "our samples' mean",
    Operations.LEAST_MEAN: f"the least of the means of {TRIALS} thirds of our samples",
}
_WITHOUT_ANSWERS = "our windows less one round trip of the smallest message each, since a stream is not answered"


def restatements(values: pl.DataFrame) -> list[Restatement]:
    """Return what can be computed of the engine's numbers so that other programs' have their like among `values`."""
    engine = pl.col("instrument") == ENGINE
    own = values.filter(engine).get_column("metric_id").unique(maintain_order=True).to_list()
    theirs = values.filter(~engine).get_column("metric_id").unique(maintain_order=True).to_list()
    return [one for metric_id in theirs for own_id in own for one in _between(own_id, metric_id)]


def _between(own_id: str, metric_id: str) -> Iterator[Restatement]:
    own, other = metric_of(own_id).quantity, metric_of(metric_id).quantity
    if own == other or own.unit != other.unit:
        return
    if replace(other, operations=own.operations) == own and other.operations in _HOW:
        yield Restatement(own_id, metric_id, _HOW[other.operations])
    if _is_stream_of(other, own):
        yield Restatement(own_id, metric_id, _WITHOUT_ANSWERS)


def _is_stream_of(other: Quantity, own: Quantity) -> bool:
    """Return whether one is the rate of messages that nobody answers, and the other that of windows answered."""
    is_stream = other.completion is Completion.NEVER and own.completion is Completion.ARRIVED
    return is_stream and (own.what, other.what) == ("bandwidth", "stream_bandwidth")


def restated(run: RunData, values: pl.DataFrame, ways: Sequence[Restatement]) -> pl.DataFrame:
    """Return the engine's launch values by every definition of `ways`, which are `restatements`, VALUE_SCHEMA.

    A mean is that of all operations of a launch. A third of a launch is a third of its bursts; of fewer than three
    there is no least of three means.
    """
    engine = values.filter(pl.col("instrument") == ENGINE)
    found = [pl.DataFrame(schema=VALUE_SCHEMA)]
    means = _means(run) if any(one.how != _WITHOUT_ANSWERS for one in ways) else pl.DataFrame()
    for one in ways:
        own = engine.filter(pl.col("metric_id") == one.own_id)
        quantity = metric_of(one.metric_id).quantity
        told = _unanswered(own, engine) if one.how == _WITHOUT_ANSWERS else _by_means(own, means, quantity)
        told = told.filter(pl.col("value").is_finite() & (pl.col("value") > 0))
        told = told.with_columns(pl.lit(one.metric_id).alias("metric_id"), pl.lit(None, pl.Float64).alias("limit"))
        found.append(told.select(pl.col(name).cast(kind) for name, kind in VALUE_SCHEMA.items()))
    return pl.concat(found)


def _by_means(own: pl.DataFrame, means: pl.DataFrame, quantity: Quantity) -> pl.DataFrame:
    """Return values of operations' medians as values of their means: times grow with them, rates fall."""
    mean = "least_mean" if quantity.operations is Operations.LEAST_MEAN else "mean"
    growth = pl.col(mean) / pl.col("median")
    growth = 1 / growth if quantity.larger_is_better else growth
    return own.join(means, on=["launch_id", "case_id"]).with_columns(pl.col("value") * growth)


def _unanswered(own: pl.DataFrame, engine: pl.DataFrame) -> pl.DataFrame:
    """Return rates of windows as those of streams: the answer to each window costs a round trip of a small message."""
    latencies = one_definition(engine, "latency_ns", _SAME_ENTRY).sort("message_size_bytes")
    small = latencies.group_by(_SAME_ENTRY, maintain_order=True).agg(pl.col("value").first().alias("_one_way_ns"))
    moved = (pl.col("window_size") * pl.col("message_size_bytes")).cast(pl.Float64)
    elapsed_s = moved / pl.col("value") - 2e-9 * pl.col("_one_way_ns")
    joined = own.join(small, on=_SAME_ENTRY, nulls_equal=True)
    return joined.with_columns(pl.when(elapsed_s > 0).then(moved / elapsed_s).alias("value"))


def _means(run: RunData) -> pl.DataFrame:
    """Return of each launch and case, in ns an operation: `median` (of the bursts' medians), `mean`, `least_mean`."""
    case = ["launch_id", "case_id"]
    bursts = (
        run.samples.filter(
            (pl.col("phase") == "measure") & (pl.col("quantity") == OPERATION) & pl.col("value").is_finite()
        )
        .group_by(*case, "burst")
        .agg(
            (pl.col("value") / pl.col("operations_per_sample")).median().alias("median"),
            pl.col("value").sum().alias("total"),
            pl.col("operations_per_sample").sum().alias("operations"),
        )
        .sort(*case, "burst")
        .with_columns((pl.int_range(pl.len()) * TRIALS // pl.len()).over(case).alias("_trial"))
    )
    mean = pl.col("total").sum() / pl.col("operations").sum()
    trials = bursts.group_by(*case, "_trial").agg(mean.alias("_mean")).group_by(case)
    least = trials.agg(pl.when(pl.len() == TRIALS).then(pl.col("_mean").min()).alias("least_mean"))
    whole = bursts.group_by(case).agg(pl.col("median").median(), mean.alias("mean"))
    return whole.join(least, on=case).sort(case).collect(engine="streaming")
