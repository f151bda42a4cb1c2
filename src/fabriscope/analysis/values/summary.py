"""The table that sums a run up: largest bandwidth, where it is reached, and latency, for every curve."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.numbers.evidence import FIXED
from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.clock_steps import STEP
from fabriscope.analysis.values.definitions import one_definition
from fabriscope.analysis.values.estimates import Centre, estimates_of
from fabriscope.analysis.values.kept_state import KEPT

SMALL_MESSAGE_BYTES = 64
"""The latency of the table is that of messages below this size, as NetPIPE and the e325 paper have it."""
RATE = "ping_pong_bandwidth_bytes_per_s"
TIME = "latency_ns"
PING_PONG = "ping_pong"
CURVE = tuple(name for name in IDENTITY if name != "benchmark")


@dataclass(frozen=True)
class Summary(Curve):
    """One curve of the benchmark ping_pong: a row of `summary`, which says what the fields are."""

    bandwidth_bytes_per_s: float | None
    bandwidth_bytes_per_s_low: float | None
    bandwidth_bytes_per_s_high: float | None
    bandwidth_message_size_bytes: int | None
    share_of_limit: float | None
    launch_count: int | None
    latency_ns: float | None
    latency_ns_low: float | None
    latency_ns_high: float | None

    @property
    def bandwidth(self) -> Centre:
        """Return the largest ping-pong bandwidth of all sizes, bytes per second."""
        return Centre(self.bandwidth_bytes_per_s, self.bandwidth_bytes_per_s_low, self.bandwidth_bytes_per_s_high)

    @property
    def latency(self) -> Centre:
        """Return the latency of messages below 64 B, ns."""
        return Centre(self.latency_ns, self.latency_ns_low, self.latency_ns_high)


def summaries(table: pl.DataFrame) -> list[Summary]:
    """Return the rows of `summary` as nouns."""
    return rows_of(table.with_columns(pl.lit(PING_PONG).alias("benchmark")), Summary)


def summary(values: pl.DataFrame, method: str = FIXED) -> pl.DataFrame:
    """Return one row for each curve of the benchmark ping_pong, in the plan's order.

    `values` are launch values, `method` is that of the intervals (analysis/numbers/evidence.py).

    Columns: those of the curve; `bandwidth_bytes_per_s` with `_low`, `_high`, the largest ping-pong bandwidth of all
    sizes, and `bandwidth_message_size_bytes`, where it is reached; `share_of_limit`, its share of what the wire allows;
    `latency_ns` with `_low`, `_high`, of messages below 64 B; `launch_count`. Impossible results do not count; the
    instrument's floor (layer null) is not part of it.
    """
    sound = values.filter(
        pl.col("benchmark") == PING_PONG, ~pl.col("impossible"), pl.col("value") > 0, pl.col("layer") != "null"
    )
    curves = sound.select(CURVE).unique(maintain_order=True)
    joined = curves.join(_largest(sound, method), on=CURVE, how="left", nulls_equal=True, maintain_order="left")
    return joined.join(_small(sound, method), on=CURVE, how="left", nulls_equal=True, maintain_order="left")


def _largest(sound: pl.DataFrame, method: str) -> pl.DataFrame:
    rates = estimates_of(one_definition(sound, RATE, CURVE), method)
    best = rates.sort("value", descending=True).group_by(CURVE, maintain_order=True).first()
    return best.select(
        *CURVE,
        pl.col("value").alias("bandwidth_bytes_per_s"),
        pl.col("low").alias("bandwidth_bytes_per_s_low"),
        pl.col("high").alias("bandwidth_bytes_per_s_high"),
        pl.col("message_size_bytes").alias("bandwidth_message_size_bytes"),
        (pl.col("value") / pl.col("limit")).alias("share_of_limit"),
        "launch_count",
    )


def _small(sound: pl.DataFrame, method: str) -> pl.DataFrame:
    """Return the latency of small messages: their geometric mean in each launch, then the estimate over launches.

    An empty message counts where a curve has no other below 64 B.
    """
    small = one_definition(sound, TIME, CURVE).filter(pl.col("message_size_bytes") < SMALL_MESSAGE_BYTES)
    has_bytes = pl.col("message_size_bytes") > 0
    small = small.filter(has_bytes | ~has_bytes.any().over(CURVE))
    curve = "|".join(["{}"] * len(CURVE))
    names = [pl.col(name).fill_null("") for name in CURVE]
    merged = small.group_by(*CURVE, "benchmark", "metric_id", "launch_id", "block", maintain_order=True).agg(
        pl.col("value").log().mean().exp(),
        pl.col(STEP).mean(),
        pl.col(KEPT).max(),
        pl.col("sample_count").sum(),
        pl.lit(None, dtype=pl.Float64).alias("limit"),
        pl.lit(False).alias("impossible"),
        pl.col("entry_id").first(),
        pl.col("window_size").first(),
        pl.col("rank_count").first(),
        pl.lit("").alias("socket"),
        pl.lit(0, dtype=pl.Int64).alias("message_size_bytes"),
    )
    # One made-up case for each curve: its sizes count as one.
    merged = merged.with_columns(pl.format(curve, *names).alias("case_id"))
    return estimates_of(merged, method).select(
        *CURVE,
        pl.col("value").alias("latency_ns"),
        pl.col("low").alias("latency_ns_low"),
        pl.col("high").alias("latency_ns_high"),
    )
