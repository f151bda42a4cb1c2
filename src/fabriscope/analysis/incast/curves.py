"""From a run to its curves of many to one and many to many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

import polars as pl

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import PlannedCase, planned_cases
from fabriscope.analysis.incast.destinations import destinations_of
from fabriscope.analysis.incast.evidence import Evidence, evidence_by_entry
from fabriscope.analysis.incast.points import IncastCurve, IncastPoint
from fabriscope.analysis.incast.states import knee_of, state_of
from fabriscope.analysis.incast.switch_windows import SwitchCounts, counts_by_case, evidence_of
from fabriscope.analysis.incast.waiting import waits_for
from fabriscope.analysis.values.estimates import Centre, Estimate
from fabriscope.analysis.values.streams import (
    AGGREGATE,
    FAIRNESS,
    LEAST_OVERLAP,
    SLOWEST,
    StreamWindow,
    jain_index,
    windows_by_launch,
)
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Entry
from fabriscope.model.counting import counted
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import layout_from
from fabriscope.model.run_data import RunData

EVIDENCE = (
    "dropped_frames",
    "pauses",
    "marked_frames",
    "retransmitted_bytes",
    "rdma_retries",
    "not_ready_retries",
    "notifications",
    "lost_frames",
)
"""What a table has of Evidence."""
INCAST_SCHEMA = {
    "fabric": pl.String,
    "layer": pl.String,
    "mpi": pl.String,
    "series": pl.String,
    "message_size_bytes": pl.Int64,
    "streams": pl.Int32,
    "receivers": pl.Int32,
    "aggregate_bytes_per_s": pl.Float64,
    "aggregate_low": pl.Float64,
    "aggregate_high": pl.Float64,
    "limit_bytes_per_s": pl.Float64,
    "slowest_stream_bytes_per_s": pl.Float64,
    "fairness_ratio": pl.Float64,
    "start_skew_ns": pl.Float64,
    "least_overlap": pl.Float64,
    "launch_count": pl.Int64,
    "refused_window_count": pl.Int64,
    **dict.fromkeys(EVIDENCE, pl.Int64),
}


def incast_curves(run: RunData, estimates: Iterable[Estimate], method: str) -> list[IncastCurve]:
    """Return what came of many_to_one and many_to_many, one curve for each fabric, layer, series and message size.

    `method` is how intervals are taken (Rules.method).
    """
    of_cases: dict[str, dict[str, Estimate]] = defaultdict(dict)
    for row in estimates:
        if kind_of(row.benchmark).pattern in OF_STREAMS:
            of_cases[row.case_id][row.metric_id] = row
    failures = {(record.launch_id, case_id) for record in run.journal for case_id in record.failures}
    failed = {case_id for _, case_id in failures}
    windows: dict[str, list[StreamWindow]] = defaultdict(list)
    for (launch_id, case_id), of_launch in windows_by_launch(run).items():
        windows[case_id] += [] if (launch_id, case_id) in failures else of_launch
    cases: dict[tuple[Curve, int], list[PlannedCase]] = defaultdict(list)
    for case in planned_cases(run):
        measured = of_cases[case.case_id].get(AGGREGATE)
        is_refused = any(not window.is_comparable for window in windows[case.case_id])
        if measured is not None or is_refused or case.case_id in failed:
            curve = case.curve if measured is None else measured.curve
            cases[_without_ranks(curve), case.message_size_bytes].append(case)
    curves = []
    for (curve, size), some in cases.items():
        ordered = sorted(some, key=lambda case: case.rank_count)
        points = tuple(_point(run, case, of_cases[case.case_id], windows[case.case_id], method) for case in ordered)
        if not any(windows[case.case_id] for case in ordered):
            continue  # nothing was measured: there are failures alone
        knee = knee_of(points)
        state, because = state_of(points, knee)
        receivers = layout_from(ordered[0].ranks).receiver_count
        curves.append(IncastCurve(curve, size, points, knee, state, because, receivers))
    return curves


def _without_ranks(curve: Curve) -> Curve:
    return Curve(**{**vars(curve), "ranks": ""})


def _point(
    run: RunData, case: PlannedCase, metrics: Mapping[str, Estimate], windows: Sequence[StreamWindow], method: str
) -> IncastPoint:
    """Return what came of one number of streams; without an aggregate where no window is one, or it cannot be."""
    row = metrics.get(AGGREGATE)
    sound = {name: one for name, one in metrics.items() if row is not None and not row.impossible}
    aggregate = sound.get(AGGREGATE)
    of_entry = run.once(evidence_by_entry).get(case.entry_id, Evidence())
    counts, planned = run.once(counts_by_case).get(case.case_id), run.manifest.cases[case.case_id]
    entry, duration_ns = planned.entry, max((window.duration_ns for window in windows), default=None)
    fabric, switch = run.manifest.fabrics.get(entry.fabric or ""), run.manifest.switches.get(entry.fabric or "")
    return IncastPoint(
        case_id=case.case_id,
        stream_count=case.rank_count - layout_from(case.ranks).receiver_count,
        aggregate=Centre(aggregate.value, aggregate.low, aggregate.high) if aggregate else Centre(None, None, None),
        limit_bytes_per_s=row.limit if row else None,
        slowest_bytes_per_s=sound[SLOWEST].value if SLOWEST in sound else None,
        fairness=sound[FAIRNESS].value if FAIRNESS in sound else None,
        skew_ns=median(window.skew_ns for window in windows) if windows else None,
        least_overlap=min((window.overlap for window in windows), default=None),
        launch_count=row.launch_count if row else 0,
        refused_window_count=sum(not window.is_comparable for window in windows),
        evidence=evidence_of(counts, of_entry),
        destinations=destinations_of(run, planned, windows, method),
        sending_host_count=len(set(entry.hosts[entry.receivers :])),
        host_fairness=_host_fairness(entry, windows),
        lacks_because="" if aggregate else _why_lacking(windows, is_above_wire=row is not None),
        carried_share=_carried_share(run, entry, counts),
        waits_for=waits_for(planned, duration_ns, fabric, switch),
    )


def _host_fairness(entry: Entry, windows: Sequence[StreamWindow]) -> float | None:
    """Return the median over windows of Jain's index of the hosts that send, each by the mean rate of its streams.

    None where one host alone sends, or each has one stream: then it is the streams' own.
    """
    found = []
    for window in windows:
        of_host: dict[str, list[float]] = defaultdict(list)
        for rank, rate in window.rates_bytes_per_s.items():
            of_host[entry.hosts[rank]].append(rate)
        if window.is_comparable and 1 < len(of_host) < len(window.series):
            found.append(jain_index([fmean(rates) for rates in of_host.values()]))
    return median(found) if found else None


def _why_lacking(windows: Sequence[StreamWindow], *, is_above_wire: bool) -> str:
    """Return why there is no aggregate."""
    refused = [window for window in windows if not window.is_comparable]
    if is_above_wire:
        return "it was above the wire"
    if not windows:
        return "its launches failed"
    if len(refused) < len(windows):
        return "its launches do not count: their bytes went elsewhere"
    if all(window.has_messages for window in refused):
        return f"{counted(len(refused), 'window')} overlapped by less than {LEAST_OVERLAP:.0%}"
    return f"in {counted(len(refused), 'window')} fewer messages came than streams were sent"


def _carried_share(run: RunData, entry: Entry, counts: SwitchCounts | None) -> float | None:
    fabric = run.manifest.fabrics.get(entry.fabric or "")
    if counts is None or not counts.wire_ns or fabric is None or not fabric.line_rate_bits_per_s:
        return None
    if layer_of(entry.layer).needs_rdma or (entry.mpi and fabric.rdma_ports):
        return None
    return counts.carried_bytes * 8e9 / counts.wire_ns / fabric.line_rate_bits_per_s


def incast_frame(curves: Iterable[IncastCurve]) -> pl.DataFrame:
    """Return one row for each point, INCAST_SCHEMA."""
    rows = [
        (
            curve.curve.fabric, curve.curve.layer, curve.curve.mpi, curve.curve.series, curve.message_size_bytes,
            point.stream_count, curve.receiver_count, point.aggregate.value, point.aggregate.low, point.aggregate.high,
            point.limit_bytes_per_s, point.slowest_bytes_per_s, point.fairness, point.skew_ns, point.least_overlap,
            point.launch_count, point.refused_window_count, *(getattr(point.evidence, name) for name in EVIDENCE),
        )
        for curve in curves
        for point in curve.points
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=INCAST_SCHEMA, orient="row")
