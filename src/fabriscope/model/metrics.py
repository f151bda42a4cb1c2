"""What is known of every metric that fabriscope prints; docs/metrics.md explains them at length.

Two numbers may be compared when their quantities, and so their metric ids, are equal, and otherwise only after a
stated conversion.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from fabriscope.model.benchmarks import metrics_of
from fabriscope.model.metric import PAIRS, SENDERS, TIMINGS, Metric
from fabriscope.model.metric_table import METRICS
from fabriscope.model.quantity import PERCENTILES, Buffers, Kind, Operations, Timing, Unit, quantity_of, unnamed_buffers

__all__ = [
    "METRICS", "PAIRS", "SENDERS", "Metric", "base_of", "definitions_of", "metric_of", "metric_value", "metrics_of",
    "overlap_percent", "percentile_id", "unit_of",
]  # fmt: skip


@lru_cache(maxsize=256)
def metric_of(metric_id: str) -> Metric:
    """Return a metric; of one that is not defined here (a plug-in's, a percentile) what its id says.

    Raises ParseError for an id that names no unit that is known.
    """
    known = METRICS.get(metric_id)
    if known is not None:
        return known
    quantity = quantity_of(metric_id)
    base = METRICS.get(replace(quantity, operations=Operations.MEDIAN).metric_id)
    if base is None or quantity.operations not in PERCENTILES:
        return Metric(quantity, metric_id, "as its program defines it")
    of = quantity.operations.value
    return replace(
        base,
        quantity=replace(base.quantity, operations=quantity.operations),
        title=f"{base.title}, {of.removeprefix('the ')}",
        definition=f"{of} of a launch's operations of: {base.definition}",
    )


def unit_of(metric_id: str) -> Unit:
    """Return the stored unit of a metric; raises as `metric_of` does."""
    return metric_of(metric_id).unit


def percentile_id(metric_id: str, percent: int) -> str:
    """Return the id of a percentile of a metric that is a median; the 50th is that metric itself."""
    words = f"the {percent}th percentile"
    operations = next((one for one in PERCENTILES if one.value == words), Operations.MEDIAN)
    return replace(metric_of(metric_id).quantity, operations=operations).metric_id


def base_of(metric_id: str) -> str:
    """Return the id without the words that name a timing and buffers."""
    quantity = metric_of(metric_id).quantity
    timing = Timing.OWN_CLOCK if quantity.timing in TIMINGS else quantity.timing
    base = replace(quantity, timing=timing, buffers=unnamed_buffers(quantity.what)).metric_id
    return base if base in METRICS else metric_id


def definitions_of(metric_id: str) -> tuple[str, ...]:
    """Return the ids of one thing by the buffers that its messages come from, the default of plans first."""
    quantity = metric_of(metric_id).quantity
    uses = (Buffers.SEPARATE, Buffers.SAME, Buffers.ROTATING)
    ids = (replace(quantity, buffers=use).metric_id for use in uses)
    return tuple(one for one in ids if one in METRICS)


def metric_value(
    metric_id: str,
    operation_ns: float,
    message_size_bytes: int,
    window_size: int,
    pair_count: int = 1,
    sender_count: int = 1,
) -> float:
    """Return the metric of one operation that took `operation_ns` (round trip, window, or nothing).

    Rates of a zero time are NaN. Raises KeyError for a metric id that is not derived from an operation's time.
    """
    metric = METRICS[metric_id]
    if metric.unit.kind is Kind.TIME and metric.quantity.operations in (Operations.MEDIAN, Operations.ALL):
        return operation_ns / metric.ways
    if metric.moves is None:
        raise KeyError(metric_id)
    moved = metric.moves.messages * {PAIRS: pair_count, SENDERS: sender_count}.get(metric.moves.flows, 1)
    moved *= window_size if metric.moves.is_window else 1
    moved *= message_size_bytes if metric.unit.name == "bytes_per_s" else 1
    return moved * 1e9 / operation_ns if operation_ns > 0 else float("nan")


def overlap_percent(total_ns: float, compute_ns: float, pure_ns: float) -> float:
    """Return the share of a non-blocking operation that the computation hid, in percent.

    As the OSU benchmarks define it: max(0, 100 (1 - (total - compute) / pure)). NaN where pure is 0.
    """
    return max(0.0, 100.0 * (1 - (total_ns - compute_ns) / pure_ns)) if pure_ns > 0 else float("nan")
