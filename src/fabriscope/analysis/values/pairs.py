"""Every host against every other: of half a million pairs what a person can read, one size after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fabriscope.analysis.frames import PlannedCase, results_frame
from fabriscope.analysis.values.launch_values import limits_of
from fabriscope.model.measurement import PAIR_OPERATION
from fabriscope.model.run_data import RunData

VALUE = "value"
QUANTILES = (0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0)
MOST_WORST = 10
CELLS = 48
"""Rows and columns of the picture: more cannot be told apart on a page."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairMatrix:
    """Half a round trip between every two ranks, for one case."""

    case: PlannedCase
    pair_count: int
    launch_count: int
    impossible_count: int
    """Pairs below what the wire allows: kept in the run, and left out here."""
    quantiles_ns: tuple[float, ...]
    """At QUANTILES, over pairs."""
    noise: float | None
    """Median over pairs of the standard deviation between launches, of logs; None for one launch."""
    worst: tuple[tuple[str, str, float, float | None], ...]
    """The slowest pairs: two hosts, time in ns, deviation between launches."""
    worst_hosts: tuple[tuple[str, float], ...]
    """The slowest hosts: the median over a host's pairs against the median over all."""
    picture: Floats
    """CELLS x CELLS (or ranks x ranks): the slowest pair of each cell against the median of all; NaN for no pair."""


def pair_matrices(run: RunData, cases: Sequence[PlannedCase]) -> list[PairMatrix]:
    """Return the matrix of each case that was measured between pairs, in the order of `cases`.

    One case at a time, so that memory does not grow with the number of sizes.
    """
    if "peer" not in run.samples.collect_schema():
        return []
    of_pairs = run.samples.filter(pl.col("quantity") == PAIR_OPERATION, pl.col("phase") == "measure")
    ids = of_pairs.select(pl.col("case_id").unique()).collect(engine="streaming")
    measured = set(ids.to_series())
    sound = results_frame(run).filter(pl.col("status") == "ok")
    limits = limits_of(run.manifest)
    matrices = []
    for case in cases:
        if case.case_id in measured:
            launches = sound.filter(pl.col("case_id") == case.case_id).select("launch_id").to_series().to_list()
            some = of_pairs.filter(pl.col("case_id") == case.case_id, pl.col("launch_id").is_in(launches))
            hosts = run.manifest.cases[case.case_id].entry.hosts
            matrix = _matrix(case, some, hosts, limits.of("latency_ns", case))
            matrices += [matrix] if matrix is not None else []
    return matrices


def _matrix(
    case: PlannedCase, samples: pl.LazyFrame, hosts: Sequence[str], limit_ns: float | None
) -> PairMatrix | None:
    half_ns = pl.col("value") / pl.col("operations_per_sample") / 2
    per_launch = samples.group_by("rank", "peer", "launch_id").agg(half_ns.median().log().alias("log")).collect()
    # Sorted, and in that order: how sums are added up must not change a digit from one time to the next.
    logs = per_launch.sort("rank", "peer", "launch_id").group_by("rank", "peer", maintain_order=True).agg(
        pl.col("log").mean().exp().alias("value"), pl.col("log").std(ddof=1).alias("spread"),
        pl.len().alias("launches"),
    )  # fmt: skip
    possible = logs if limit_ns is None else logs.filter(pl.col("value") >= limit_ns * 0.99)
    if not possible.height:
        return None
    values = possible[VALUE].to_numpy()
    quantiles = np.quantile(values, QUANTILES)
    median = float(quantiles[QUANTILES.index(0.5)])
    slow = possible.sort("value", "rank", "peer", descending=[True, False, False]).head(MOST_WORST)
    worst = tuple((hosts[rank], hosts[peer], value, spread) for rank, peer, value, spread, _ in slow.iter_rows())
    noise = possible.select(pl.col("spread").median()).item()
    return PairMatrix(
        case, possible.height, logs.select(pl.col("launches").max()).item(), logs.height - possible.height,
        tuple(float(one) for one in quantiles), float(noise) if isinstance(noise, float) else None, worst,
        _worst_hosts(possible, hosts, median), _picture(possible, len(hosts), median),
    )  # fmt: skip


def _worst_hosts(pairs: pl.DataFrame, hosts: Sequence[str], median: float) -> tuple[tuple[str, float], ...]:
    both = pl.concat(
        [pairs.select("rank", "value"), pairs.select(pl.col("peer").alias("rank"), "value")], how="vertical"
    )
    per_host = (
        both.group_by("rank").agg(pl.col("value").median() / median).sort("value", "rank", descending=[True, False])
    )
    return tuple((hosts[rank], value) for rank, value in per_host.head(MOST_WORST).iter_rows())


def _picture(pairs: pl.DataFrame, rank_count: int, median: float) -> Floats:
    cells = min(CELLS, rank_count)
    picture = np.full((cells, cells), -np.inf)
    rows, columns = (pairs[name].to_numpy().astype(np.int64) * cells // rank_count for name in ("rank", "peer"))
    relative = pairs[VALUE].to_numpy() / median
    np.maximum.at(picture, (rows, columns), relative)
    np.maximum.at(picture, (columns, rows), relative)
    picture[np.isinf(picture)] = np.nan
    return picture
