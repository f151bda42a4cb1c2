"""From samples to one statistic of both sides, and from rounds to ratios."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from fabriscope.model.case import Case
from fabriscope.model.measurement import SampleBlock

OURS = "fabriscope"
MOST_LATENCY_RATIO = 1.03
LEAST_BANDWIDTH_RATIO = 0.98
RESAMPLE_COUNT = 4000


@dataclass(frozen=True)
class Reading:
    """What one program said of one point in one launch."""

    block: int
    """Which launch of the point it was, counted over all rounds: all programs were launched in it."""
    layer: str
    benchmark: str
    message_size_bytes: int
    window_size: int
    program: str
    values: dict[str, float]
    """Metric id to value; empty if there is none."""
    operation_count: int | None = None
    """How many operations were timed; None where the peer does not say."""
    reason: str | None = None
    """Why there is no value."""


@dataclass(frozen=True)
class Row:
    """One point and one peer, by one statistic of both."""

    layer: str
    benchmark: str
    message_size_bytes: int
    window_size: int
    peer: str
    metric_id: str
    ours: float
    """Median over blocks."""
    theirs: float
    """Median over blocks."""
    ratios: tuple[float, ...]
    """Ours over theirs, of each block: both met the same machine there."""
    ratio_low: float
    """Of the 95 % interval of the median ratio, `median_interval`."""
    ratio_high: float
    our_operations: int | None
    """Median over blocks, as the peer's."""
    their_operations: int | None

    @property
    def ratio(self) -> float:
        """Return the median of the blocks' ratios: one launch in which something else happened does not decide it."""
        return statistics.median(self.ratios)

    @property
    def larger_is_better(self) -> bool:
        """Return whether it is a rate."""
        return self.benchmark == "bandwidth"

    @property
    def holds(self) -> bool:
        """Return whether ours is as good as the promise says."""
        return self.ratio >= LEAST_BANDWIDTH_RATIO if self.larger_is_better else self.ratio <= MOST_LATENCY_RATIO

    @property
    def is_decided(self) -> bool:
        """Return whether the interval lies wholly on one side of the promise."""
        edge = LEAST_BANDWIDTH_RATIO if self.larger_is_better else MOST_LATENCY_RATIO
        return not self.ratio_low <= edge <= self.ratio_high

    @property
    def disadvantage(self) -> float:
        """Return by which factor ours is the worse one: what the strictest peer of a point is told by."""
        return 1 / self.ratio if self.larger_is_better else self.ratio


def our_values(case: Case, blocks: Iterable[SampleBlock]) -> tuple[dict[str, float], int]:
    """Return our median latency or mean rate, and the number of operations behind it."""
    measured = [block for block in blocks if block.phase == "measure" and block.case_id == case.case_id]
    pairs = [(float(value), block.operations_per_sample) for block in measured for value in block.values]
    operation_count = sum(count for _, count in pairs)
    if not pairs:
        return {}, 0
    if case.benchmark == "bandwidth":
        rate = case.message_size_bytes * case.window_size * 1e9 * operation_count / sum(value for value, _ in pairs)
        # A stream without answers is set beside windows with one: said in docs/peers.md.
        return dict.fromkeys(("bandwidth_bytes_per_s", "stream_bandwidth_bytes_per_s"), rate), operation_count
    return {"latency_ns": statistics.median(value / count for value, count in pairs) / 2}, operation_count


def their_operations(program: str, case: Case, details: Mapping[str, Any]) -> int | None:
    """Return how many operations a peer timed, where it says so."""
    own = details.get(case.case_id) or {}
    name = {"qperf": "loc_send_msgs", "imb": "repetitions"}.get(program)
    return int(own[name]) if name in own else None


METRIC_OF_PEER = {
    **dict.fromkeys(itertools.product(("ping_pong",), ("netpipe", "sockperf", "qperf", "imb")), "latency_ns"),
    ("bandwidth", "iperf3"): "stream_bandwidth_bytes_per_s",
    ("bandwidth", "qperf"): "stream_bandwidth_bytes_per_s",
    ("bandwidth", "imb"): "bandwidth_bytes_per_s",
}
"""What both sides are compared by: half of the median round trip, which a peer is overheard at; a mean rate."""


Point = tuple[str, str, int, int]
"""Layer, benchmark, message size and window."""


def rows(readings: Sequence[Reading]) -> list[Row]:
    """Return one row for each point and peer that have values in at least one common block, by layer and size."""
    known: dict[Point, dict[str, dict[int, Reading]]] = {}
    for one in readings:
        point = (one.layer, one.benchmark, one.message_size_bytes, one.window_size)
        if one.values:
            known.setdefault(point, {}).setdefault(one.program, {})[one.block] = one
    found = []
    for point in sorted(known, key=lambda point: (point[0] != "tcp", point[1] != "ping_pong", point)):
        programs = known[point]
        for peer in sorted(set(programs) - {OURS}):
            row = _row(point, peer, programs.get(OURS, {}), programs[peer])
            if row is not None:
                found.append(row)
    return found


def _row(point: Point, peer: str, ours: Mapping[int, Reading], theirs: Mapping[int, Reading]) -> Row | None:
    metric_id = METRIC_OF_PEER[point[1], peer]
    common = [n for n in sorted(ours) if n in theirs and metric_id in ours[n].values and metric_id in theirs[n].values]
    if not common:
        return None
    our_values, their_values = ([side[number].values[metric_id] for number in common] for side in (ours, theirs))
    ratios = [mine / other for mine, other in zip(our_values, their_values, strict=True)]
    mine, other = statistics.median(our_values), statistics.median(their_values)
    counts = (_typical_count([side[number] for number in common]) for side in (ours, theirs))
    return Row(*point, peer, metric_id, mine, other, tuple(ratios), *median_interval(ratios), *counts)


@dataclass(frozen=True)
class Overall:
    """One layer, benchmark and peer over all of its points: what single points are too noisy to say."""

    layer: str
    benchmark: str
    peer: str
    point_count: int
    ratio: float
    """Geometric mean over the blocks, then over the points, each weighing alike."""
    ratio_low: float
    ratio_high: float


def overall(all_rows: Sequence[Row]) -> list[Overall]:
    """Return one line for each layer, benchmark and peer with two points or more; points are independent launches."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in all_rows:
        if len(row.ratios) > 1:
            groups.setdefault((row.layer, row.benchmark, row.peer), []).append(row)
    found = []
    for key, members in groups.items():
        if len(members) < 2:
            continue
        logs = [[math.log(ratio) for ratio in row.ratios] for row in members]
        center = statistics.fmean(statistics.fmean(one) for one in logs)
        errors = [statistics.stdev(one) / math.sqrt(len(one)) for one in logs]  # these add as squares
        half = float(ndtri(0.975)) * math.hypot(*errors) / len(members)
        found.append(Overall(*key, len(members), math.exp(center), math.exp(center - half), math.exp(center + half)))
    return found


def ratio_interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean log ratio (Student's t over blocks: launches are the replicates), as ratios.

    Of one round nothing is known: 0 to infinity.
    """
    if len(ratios) < 2:
        return 0.0, math.inf
    logs = [math.log(ratio) for ratio in ratios]
    half = float(stdtrit(len(logs) - 1, 0.975)) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(statistics.mean(logs) - half), math.exp(statistics.mean(logs) + half)


def median_interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median ratio, by drawing blocks anew. Of one nothing is known: 0 to infinity.

    One launch in which a timeout fell decides a mean, and its interval, but no median.
    """
    if len(ratios) < 2:
        return 0.0, math.inf
    values = np.array(ratios)
    drawn = np.random.default_rng(1).integers(len(values), size=(RESAMPLE_COUNT, len(values)))
    low, high = np.quantile(np.median(values[drawn], axis=1), [0.025, 0.975])
    return float(low), float(high)


def _typical_count(readings: Sequence[Reading]) -> int | None:
    counts = [one.operation_count for one in readings if one.operation_count is not None]
    return round(statistics.median(counts)) if counts else None


def strictest(all_rows: Sequence[Row]) -> list[Row]:
    """Return for each point the row of the peer against which ours does worst: the fastest peer, like with like."""
    worst: dict[Point, Row] = {}
    for row in all_rows:
        point = (row.layer, row.benchmark, row.message_size_bytes, row.window_size)
        if point not in worst or row.disadvantage > worst[point].disadvantage:
            worst[point] = row
    return list(worst.values())
