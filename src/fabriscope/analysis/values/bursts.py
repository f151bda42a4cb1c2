"""What happened inside launches: one row a burst, changes of level over a launch, and how many samples count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fabriscope.analysis.values.batches import batches
from fabriscope.model.measurement import PARTIAL
from fabriscope.model.run_data import RunData

STEPS = 2**16
"""Logs are added up as whole numbers of such steps, so that the order of adding changes no digit."""
LEAST_SHIFT = 0.05
"""A level that moves by less is no drift that matters."""
CRITICAL = 1.95
"""Largest distance from 0 of a Brownian bridge, exceeded by chance once in 1,000 (Kolmogorov's distribution)."""
LEAST_SEGMENT = 5
MAD_TO_DEVIATION = 1.4826

BURST_SCHEMA = {
    "launch_id": pl.Int32,
    "case_id": pl.String,
    "quantity": pl.String,
    "burst": pl.Int32,
    "log_median": pl.Float64,
    "sample": pl.Float64,
    "log_sum": pl.Float64,
    "log_square_sum": pl.Float64,
    "sample_count": pl.Int64,
}
Floats = NDArray[np.float64]


def bursts(run: RunData) -> pl.DataFrame:
    """Return one row for each measured burst of each launch, case and quantity, in order, BURST_SCHEMA.

    `log_median` is of the time per operation, `sample` the median of the samples as they were recorded, the sums are
    of the logs. A few launches at a time: medians need all their samples in memory.
    """
    together = batches(run, (record.launch_id for record in run.journal if record.samples))
    parts = [_bursts_of(run.samples.filter(pl.col("launch_id").is_between(some[0], some[-1]))) for some in together]
    return pl.concat(parts) if parts else pl.DataFrame(schema=BURST_SCHEMA)


def _bursts_of(samples: pl.LazyFrame) -> pl.DataFrame:
    log = (pl.col("value") / pl.col("operations_per_sample")).log()
    steps = (log * STEPS).round().cast(pl.Int64)
    kept = samples.filter(
        (pl.col("phase") == "measure") & ~pl.col("quantity").is_in(list(PARTIAL)),
        pl.col("value").is_finite() & (pl.col("value") > 0),
    )
    grouped = kept.group_by("launch_id", "case_id", "quantity", "burst").agg(
        log.median().alias("log_median"),
        pl.col("value").median().alias("sample"),
        (steps.sum().cast(pl.Float64) / STEPS).alias("log_sum"),
        ((steps * steps).sum().cast(pl.Float64) / STEPS**2).alias("log_square_sum"),
        pl.len().cast(pl.Int64).alias("sample_count"),
    )
    return grouped.sort("launch_id", "burst", "case_id", "quantity").collect(engine="streaming")


def effective_samples(frame: pl.DataFrame) -> pl.DataFrame:
    """Return for each launch and case how many independent samples its samples are worth, and one sample's length.

    Columns `effective_count` (null where there are fewer than 3 bursts), `sample_count`, `burst_count`, `sample` (the
    median sample). By batch means, the bursts being the batches, of b samples each: n s^2 / (b s_b^2), between 1
    and n (Flegal and Jones, "Batch means and spectral variance estimators in MCMC", Annals of Statistics 38, 2010).
    """
    mean = pl.col("log_sum") / pl.col("sample_count")
    grouped = frame.group_by("launch_id", "case_id", "quantity", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("burst_count"),
        pl.col("sample_count").sum().alias("_n"),
        pl.col("sample").median(),
        (pl.col("log_square_sum").sum() - pl.col("log_sum").sum() ** 2 / pl.col("sample_count").sum()).alias("_ss"),
        mean.var(ddof=1).alias("_between"),
    )
    variance = pl.col("_ss") / (pl.col("_n") - 1)
    length = pl.col("_n") / pl.col("burst_count")
    effective = pl.col("_n") * variance / (length * pl.col("_between"))
    known = (pl.col("burst_count") >= 3) & (pl.col("_between") > 0) & (variance > 0)
    return grouped.select(
        "launch_id",
        "case_id",
        "quantity",
        "burst_count",
        "sample",
        pl.col("_n").alias("sample_count"),
        pl.when(known).then(effective.clip(1.0, pl.col("_n").cast(pl.Float64))).alias("effective_count"),
    )


def drifts(frame: pl.DataFrame) -> dict[int, list[tuple[int, float]]]:
    """Return for each launch where its level changed: the burst, and by which factor, of changes of 5 % and more.

    What is looked at is each burst's median against the median burst of its case in that launch, over all cases in the
    order of time: whatever slows the machine shows in all of them.
    """
    keys = ("launch_id", "case_id", "quantity")
    relative = frame.with_columns((pl.col("log_median") - pl.col("log_median").median().over(keys)).alias("_level"))
    several = relative.filter(pl.len().over(keys) >= 3).sort("launch_id", "burst")
    found = {}
    for part in several.partition_by("launch_id", maintain_order=True):
        launch_ids, at_bursts, relative_levels = part.select("launch_id", "burst", "_level").get_columns()
        levels = relative_levels.to_numpy()
        changes = list(changepoints(levels))
        ends = [0, *changes, len(levels)]
        means = [float(np.median(levels[first:last])) for first, last in pairwise(ends)]
        steps = [math.exp(after - before) for before, after in pairwise(means)]
        big = [(place, step) for place, step in zip(changes, steps, strict=True) if abs(math.log(step)) >= LEAST_SHIFT]
        if big:
            found[int(launch_ids[0])] = [(int(at_bursts[place]), step) for place, step in big]
    return found


def changepoints(values: Floats) -> list[int]:
    """Return where the level of a series changes: the index of the first value of each new level.

    CUSUM with binary segmentation: the largest |S_k - k/n S_n| / (sigma sqrt n) against the supremum of a Brownian
    bridge (Page 1954; Vostrikova 1981). Sigma is robust, from differences of neighbours, which a change of level
    leaves as they are; heavy tails are cut at 4 sigma first.
    """
    if len(values) < 2 * LEAST_SEGMENT:
        return []
    steps = np.diff(values)
    sigma = MAD_TO_DEVIATION * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    if sigma <= 0:
        return []
    centre = float(np.median(values))
    reach = max(4 * sigma, 2 * float(np.median(np.abs(values - centre))) * MAD_TO_DEVIATION)
    cut = np.clip(values, centre - reach, centre + reach)
    return sorted(_split(cut, 0, sigma))


def _split(values: Floats, offset: int, sigma: float) -> Iterator[int]:
    count = len(values)
    if count < 2 * LEAST_SEGMENT:
        return
    sums = np.cumsum(values - values.mean())
    distances = np.abs(sums[LEAST_SEGMENT - 1 : count - LEAST_SEGMENT]) / (sigma * math.sqrt(count))
    at = int(np.argmax(distances))
    if distances[at] <= CRITICAL:
        return
    place = at + LEAST_SEGMENT
    yield from _split(values[:place], offset, sigma)
    yield offset + place
    yield from _split(values[place:], offset + place, sigma)
