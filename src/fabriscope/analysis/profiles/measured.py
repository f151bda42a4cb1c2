"""The times that a run has measured over one fabric, by message size: what applications are explained by."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

import polars as pl

from fabriscope.analysis.comparing.comparisons import Points, points_of
from fabriscope.analysis.curve import Curve
from fabriscope.model.benchmark_kind import GROUP
from fabriscope.model.benchmarks import kind_of

PING_PONG, TOGETHER = "ping_pong", ("collective_latency_ns", "sendrecv_time_ns")
ONE_WAY = ("latency_ns_separate", "latency_ns", "latency_ns_rotating")
"""Half a round trip: the first of these that a run has."""


@dataclass(frozen=True)
class TimeCurve:
    """Times by size, ascending."""

    sizes: tuple[int, ...]
    times_ns: tuple[float, ...]

    def at(self, size: float) -> float:
        """Return the time of a message of any size, in ns.

        Between two sizes it is a straight line in the logarithms of both; below the least size it is the time of that,
        and beyond the greatest it grows as the bytes do.
        """
        if size <= self.sizes[0]:
            return self.times_ns[0]
        if size >= self.sizes[-1]:
            return self.times_ns[-1] * size / self.sizes[-1]
        above = bisect_left(self.sizes, size)
        below = above - 1
        share = math.log(size / self.sizes[below]) / math.log(self.sizes[above] / self.sizes[below])
        return float(self.times_ns[below] * (self.times_ns[above] / self.times_ns[below]) ** share)


@dataclass(frozen=True)
class Measured:
    """What one fabric was measured to take in one block."""

    one_way: TimeCurve
    together: Mapping[str, TimeCurve]
    """Collectives of as many ranks, in the same places, by the benchmark's name; `sendrecv` among them."""


@dataclass(frozen=True)
class Curves:
    """All curves of a run that an application over one fabric can be explained by."""

    ping_pong: Points
    collectives: Mapping[str, Points]

    def in_block(self, block: int) -> Measured:
        """Return the curves of a block; a size that the block lacks has its median over the others."""
        return Measured(
            _curve(self.ping_pong, block), {name: _curve(points, block) for name, points in self.collectives.items()}
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the least and the greatest message of the ping-pong."""
        return min(self.ping_pong), max(self.ping_pong)


def _curve(points: Points, block: int) -> TimeCurve:
    sizes = sorted(points)
    times = (points[size].get(block, median(points[size].values())) for size in sizes)
    return TimeCurve(tuple(max(size, 1) for size in sizes), tuple(times))


def curves_for(application: Curve, values: pl.DataFrame) -> Curves | None:
    """Return what the run has measured over an application's fabric by its MPI library; None without a ping-pong.

    `values` are launch values. Of several curves of one benchmark (buffers, datatypes) the first counts.
    """
    fabric = values.filter(
        pl.col("fabric") == application.fabric,
        pl.col("placement") == application.placement,
        pl.col("layer") == application.layer,
        pl.col("mpi").eq_missing(pl.lit(application.mpi)),
        pl.col("instrument") == "engine",
        pl.col("twin") == "",
        ~pl.col("impossible"),
        pl.col("value") > 0,
        pl.col("metric_id").is_in([*ONE_WAY, *TOGETHER]),
    )
    one_way: dict[str, Points] = {}
    collectives: dict[str, Points] = {}
    for key, points in points_of(fabric).items():
        if key.curve.benchmark == PING_PONG:
            one_way.setdefault(key.metric_id, points)
        elif kind_of(key.curve.benchmark).pattern == GROUP and key.curve.ranks == application.ranks:
            collectives.setdefault(key.curve.benchmark, points)
    ping_pong = next((one_way[name] for name in ONE_WAY if name in one_way), None)
    return None if ping_pong is None else Curves(ping_pong, collectives)


def apart_from_fabric(curve: Curve) -> Curve:
    """Return what two applications must have in common to be compared over two fabrics."""
    return replace(curve, fabric=None)
