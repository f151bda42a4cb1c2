"""What came to each host of many to many."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

import polars as pl

from fabriscope.analysis.incast.evidence import drops_by_receiver
from fabriscope.analysis.incast.points import Destination, IncastCurve
from fabriscope.analysis.incast.switch_windows import counts_by_case
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.streams import AGGREGATE, FAIRNESS, SLOWEST, StreamWindow
from fabriscope.model.case import Case
from fabriscope.model.run_data import RunData

DESTINATION_SCHEMA = {
    "fabric": pl.String,
    "layer": pl.String,
    "mpi": pl.String,
    "series": pl.String,
    "message_size_bytes": pl.Int64,
    "streams": pl.Int32,
    "host": pl.String,
    "host_streams": pl.Int32,
    "aggregate_bytes_per_s": pl.Float64,
    "aggregate_low": pl.Float64,
    "aggregate_high": pl.Float64,
    "slowest_stream_bytes_per_s": pl.Float64,
    "fairness_ratio": pl.Float64,
    "dropped_frames": pl.Int64,
}


def destinations_of(run: RunData, case: Case, windows: Sequence[StreamWindow], method: str) -> tuple[Destination, ...]:
    """Return what came to each host that receives, in the order of their ranks; nothing where there is but one.

    `windows` are those of all launches of a case. Those whose streams overlapped too little count for nothing.
    """
    entry = case.entry
    if entry.receivers == 1:
        return ()
    drops, of_windows = run.once(drops_by_receiver), run.once(counts_by_case).get(case.case_id)
    stream_count = (len(entry.hosts) - entry.receivers) // entry.receivers
    found = []
    for rank, host in enumerate(entry.hosts[: entry.receivers]):
        of_launches: dict[str, dict[int, list[float]]] = {}
        for metric_id in (AGGREGATE, SLOWEST, FAIRNESS):
            of_launches[metric_id] = defaultdict(list)
            for window in windows:
                if window.is_comparable:
                    of_launches[metric_id][window.launch_id].append(window.metric(metric_id, rank))
        aggregates, slowest, fairness = ([median(of) for of in one.values()] for one in of_launches.values())
        dropped = of_windows.dropped_by_port[host] if of_windows else drops.get((entry.entry_id, host))
        found.append(
            Destination(
                host, stream_count, _centre(aggregates, method), median(slowest) if slowest else None,
                median(fairness) if fairness else None, dropped,
            )
        )  # fmt: skip
    return tuple(found)


def _centre(values: Sequence[float], method: str) -> Centre:
    if not values:
        return Centre(None, None, None)
    middle, low, high = median_with_interval(values, method)
    return Centre(middle, low, high) if math.isfinite(low + high) else Centre(middle, None, None)


def destinations_frame(curves: Iterable[IncastCurve]) -> pl.DataFrame:
    """Return one row for each host that receives and each point, DESTINATION_SCHEMA."""
    rows = [
        (
            curve.curve.fabric, curve.curve.layer, curve.curve.mpi, curve.curve.series, curve.message_size_bytes,
            point.stream_count, one.host, one.stream_count, one.aggregate.value, one.aggregate.low, one.aggregate.high,
            one.slowest_bytes_per_s, one.fairness, one.dropped_frames,
        )
        for curve in curves
        for point in curve.points
        for one in point.destinations
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=DESTINATION_SCHEMA, orient="row")
