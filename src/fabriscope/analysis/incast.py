"""Many to one: does the fabric hold its aggregate as senders are added, and what tells why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.values.estimates import Centre, Estimate
from fabriscope.analysis.values.streams import AGGREGATE, FAIRNESS, SLOWEST, StreamWindow, windows_by_launch
from fabriscope.analysis.words import size_text, value_text
from fabriscope.model.benchmarks import STREAMS, kind_of
from fabriscope.model.counters import RANK
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData

KEEPS = 0.9
"""An aggregate below this share of what fewer senders had has fallen."""
FILLS = 0.9
"""An aggregate of at least this share of what the wire allows fills it."""
LEAST_FAIRNESS = 0.8
"""Jain's index below which streams are told to be unfair to each other."""
HOLDS, COLLAPSES, UNFAIR, PAUSED, DROPPED, UNDECIDED = "holds", "collapses", "unfair", "paused", "dropped", "undecided"
INCAST_SCHEMA = {
    "fabric": pl.String,
    "layer": pl.String,
    "mpi": pl.String,
    "series": pl.String,
    "message_size_bytes": pl.Int64,
    "streams": pl.Int32,
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
    "dropped_frames": pl.Int64,
    "pauses": pl.Int64,
    "marked_frames": pl.Int64,
    "retransmitted_bytes": pl.Int64,
}


@dataclass(frozen=True)
class Evidence:
    """What was counted while launches of one number of streams ran; None where nobody counted."""

    dropped_frames: int | None = None
    """By the lab's switch, on its way to the host that receives."""
    pauses: int | None = None
    """How often the lab's switch stopped a host that sends."""
    marked_frames: int | None = None
    """Marked by the lab's switch: congestion experienced (ECN)."""
    retransmitted_bytes: int | None = None
    """By the senders' TCP, on the job's connections."""


@dataclass(frozen=True)
class IncastPoint:
    """One number of streams at one message size."""

    case_id: str
    stream_count: int
    aggregate: Centre
    limit_bytes_per_s: float | None
    slowest_bytes_per_s: float | None
    fairness: float | None
    skew_ns: float | None
    """Median over windows."""
    least_overlap: float | None
    launch_count: int
    refused_window_count: int
    """Whose streams overlapped too little: their sum is no aggregate."""
    evidence: Evidence

    @property
    def share_of_limit(self) -> float | None:
        """Return the aggregate as a share of what the wire allows."""
        value = self.aggregate.value
        return value / self.limit_bytes_per_s if value is not None and self.limit_bytes_per_s else None


@dataclass(frozen=True)
class Knee:
    """From how many senders on the aggregate has fallen."""

    value: int
    low: int
    """It may have fallen from here on, by the intervals of the launches."""
    high: int | None
    """It has surely fallen here; None where no launch can tell."""


@dataclass(frozen=True)
class IncastCurve:
    """One fabric, layer and message size over the number of streams."""

    curve: Curve
    """Its ranks are those of the first point."""
    message_size_bytes: int
    points: tuple[IncastPoint, ...]
    knee: Knee | None
    state: str
    """HOLDS, COLLAPSES, UNFAIR, UNDECIDED, or it holds with senders PAUSED or frames DROPPED."""
    because: str
    """The evidence, in a clause."""

    @property
    def name(self) -> str:
        """Return how a sentence calls it."""
        return f"{self.curve.label(ranks=False)}, {size_text(self.message_size_bytes)}"

    @property
    def verdict(self) -> str:
        """Return the state in words: `collapses from 4 senders on`."""
        if self.state == COLLAPSES and self.knee is not None:
            return f"collapses from {self.knee.value} senders on"
        return {PAUSED: "holds, paused", DROPPED: "holds, with losses"}.get(self.state, self.state)

    def sentence(self) -> str:
        """Return the verdict with its evidence."""
        return f"{self.name}: {self.verdict}: {self.because}."


def knee_of(points: Sequence[IncastPoint]) -> Knee | None:
    """Return the first number of streams from which on the aggregate stays below KEEPS of the most that fewer had.

    `low` goes by the lower ends of the intervals, `high` by the upper ones against the lower end of the most.
    """
    found = _first_fallen([point.aggregate.value for point in points], [point.aggregate.value for point in points])
    if found is None:
        return None
    lows = [point.aggregate.low for point in points]
    highs = [point.aggregate.high for point in points]
    first = _first_fallen(lows, highs)
    sure = _first_fallen(highs, lows)
    low = found if first is None else min(found, first)
    return Knee(
        points[found].stream_count,
        points[low].stream_count,
        None if sure is None else points[max(found, sure)].stream_count,
    )


def _first_fallen(values: Sequence[float | None], mosts: Sequence[float | None]) -> int | None:
    """Return the first place from which on all `values` are below KEEPS of the most of `mosts` before it."""
    if any(value is None for value in (*values, *mosts)):
        return None
    for place in range(1, len(values)):
        most = max(value or 0.0 for value in mosts[:place])
        if all((value or 0.0) < KEEPS * most for value in values[place:]):
            return place
    return None


def state_of(points: Sequence[IncastPoint], knee: Knee | None) -> tuple[str, str]:
    """Return the state of a curve, and the evidence for it."""
    told = [point for point in points if point.aggregate.value is not None]
    if not told:
        refused = sum(point.refused_window_count for point in points)
        if refused:
            return (
                UNDECIDED,
                f"the streams of {refused} windows overlapped by less than 90 %: their sum is no aggregate",
            )
        return UNDECIDED, "nothing was measured"
    counted = _counted(told)
    if knee is not None and knee.high is not None:
        return COLLAPSES, f"{_fall(told, knee)}; {counted}"
    if knee is not None:
        return UNDECIDED, f"{_fall(told, knee)}, and the launches do not tell whether it did; {counted}"
    if machine := _machine_is_the_limit(told):
        return UNDECIDED, machine
    worst = min(told, key=lambda point: point.fairness if point.fairness is not None else 1.0)
    share = _share_words(told[-1])
    if worst.fairness is not None and worst.fairness < LEAST_FAIRNESS:
        words = f"Jain's index is {worst.fairness:.2f} with {worst.stream_count} streams, the slowest of which has"
        return UNFAIR, f"{words} {value_text(worst.slowest_bytes_per_s or 0.0, SLOWEST)}; {counted}"
    if any(point.evidence.dropped_frames or point.evidence.retransmitted_bytes for point in told):
        return DROPPED, f"{share}; {counted}"
    if any(point.evidence.pauses for point in told):
        return PAUSED, f"{share}; {counted}"
    return HOLDS, f"{share}; {counted}"


def _fall(points: Sequence[IncastPoint], knee: Knee) -> str:
    at = next(point for point in points if point.stream_count == knee.value)
    most = max(
        (point for point in points if point.stream_count < knee.value), key=lambda point: point.aggregate.value or 0.0
    )
    left, right = (value_text(point.aggregate.value or 0.0, AGGREGATE) for point in (most, at))
    between = f"between {knee.low} and {knee.high}" if knee.high not in (None, knee.low) else ""
    where = f" (the fall lies {between})" if between else ""
    return f"the aggregate falls from {left} with {most.stream_count} to {right} with {at.stream_count}{where}"


def _share_words(point: IncastPoint) -> str:
    value = value_text(point.aggregate.value or 0.0, AGGREGATE)
    share = point.share_of_limit
    of_wire = f", {share:.0%} of what the wire allows" if share is not None else ""
    return f"{value} with {point.stream_count}{of_wire}"


def _machine_is_the_limit(points: Sequence[IncastPoint]) -> str:
    """Return why the hosts and not the fabric are what was measured; empty where that is not so.

    Where no number of streams fills the wire, and the switch counted neither a drop nor a pause, nothing of the fabric
    was ever full.
    """
    shares = [share for point in points if (share := point.share_of_limit) is not None]
    if not shares or max(shares) >= FILLS:
        return ""
    full = [point.evidence.dropped_frames or point.evidence.pauses for point in points]
    if any(full):
        return ""
    return (
        f"the hosts send or receive at most {max(shares):.0%} of what the wire allows, and nothing was dropped or "
        "paused: the machine is the limit, and of the fabric nothing can be told"
    )


def _counted(points: Sequence[IncastPoint]) -> str:
    """Return what the counters say, of all points together."""
    words = []
    for name, what in (
        ("dropped_frames", "frames dropped"),
        ("pauses", "pauses"),
        ("marked_frames", "frames marked"),
        ("retransmitted_bytes", "bytes sent again"),
    ):
        numbers = [number for point in points if (number := getattr(point.evidence, name)) is not None]
        if numbers and (sum(numbers) or name == "dropped_frames"):
            words.append(f"{sum(numbers)} {what}")
    return ", ".join(words) or "no counter tells of the switch"


def incast_curves(run: RunData, estimates: Iterable[Estimate]) -> list[IncastCurve]:
    """Return what came of many_to_one, one curve for each fabric, layer, series and message size."""
    of_cases: dict[str, dict[str, Estimate]] = defaultdict(dict)
    cases: dict[tuple[Curve, int], list[Estimate]] = defaultdict(list)
    for row in estimates:
        if kind_of(row.benchmark).pattern != STREAMS:
            continue
        of_cases[row.case_id][row.metric_id] = row
        if row.metric_id == AGGREGATE:
            cases[_without_ranks(row.curve), row.message_size_bytes].append(row)
    windows: dict[str, list[StreamWindow]] = defaultdict(list)
    for (_, case_id), of_launch in windows_by_launch(run).items():
        windows[case_id] += of_launch
    evidence = run.once(evidence_by_entry)
    curves = []
    for (curve, size), rows in cases.items():
        points = tuple(
            _point(row, of_cases[row.case_id], windows[row.case_id], evidence.get(row.entry_id, Evidence()))
            for row in sorted(rows, key=lambda row: row.rank_count)
        )
        knee = knee_of(points)
        state, because = state_of(points, knee)
        curves.append(IncastCurve(curve, size, points, knee, state, because))
    return curves


def _without_ranks(curve: Curve) -> Curve:
    return Curve(**{**vars(curve), "ranks": ""})


def _point(
    row: Estimate, metrics: Mapping[str, Estimate], windows: Sequence[StreamWindow], evidence: Evidence
) -> IncastPoint:
    sound = not row.impossible
    return IncastPoint(
        case_id=row.case_id,
        stream_count=row.rank_count - 1,
        aggregate=Centre(row.value, row.low, row.high) if sound else Centre(None, None, None),
        limit_bytes_per_s=row.limit,
        slowest_bytes_per_s=metrics[SLOWEST].value if SLOWEST in metrics and sound else None,
        fairness=metrics[FAIRNESS].value if FAIRNESS in metrics and sound else None,
        skew_ns=median(window.skew_ns for window in windows) if windows else None,
        least_overlap=min((window.overlap for window in windows), default=None),
        launch_count=row.launch_count,
        refused_window_count=sum(not window.is_comparable for window in windows),
        evidence=evidence,
    )


def evidence_by_entry(run: RunData) -> dict[str, Evidence]:
    """Return what was counted during the launches of each entry of many_to_one, by its id."""
    records = sorted((line for line in run.lines if isinstance(line, LaunchRecord)), key=_began)
    before: Mapping[tuple[str, str], Mapping[str, int]] = {}
    found: dict[str, list[Evidence]] = defaultdict(list)
    for record in records:
        ports = _ports(record)
        case_id = next(iter(record.results), "")
        case = run.manifest.cases.get(case_id)
        if case is not None and kind_of(case.benchmark).pattern == STREAMS and case.entry.fabric is not None:
            switch = _of_switch(ports, before, case.entry.fabric, case.entry.hosts)
            found[case.entry.entry_id].append(Evidence(*switch, _sent_again(run, record)))
        before = ports or before
    return {entry_id: _sum(parts) for entry_id, parts in found.items()}


def _began(record: LaunchRecord) -> int:
    return int(record.started_unix_ns)


def _sum(parts: Sequence[Evidence]) -> Evidence:
    totals = []
    for name in ("dropped_frames", "pauses", "marked_frames", "retransmitted_bytes"):
        numbers = [number for part in parts if (number := getattr(part, name)) is not None]
        totals.append(sum(numbers) if numbers else None)
    return Evidence(*totals)


def _ports(record: LaunchRecord) -> dict[tuple[str, str], dict[str, int]]:
    """Return fabric and host to the counters of the switch's port."""
    ports = (record.fabric_counters or {}).get("ports")
    found = {}
    for port in ports if isinstance(ports, list) else []:
        if isinstance(port, dict):
            numbers = {name: value for name, value in port.items() if isinstance(value, int)}
            found[str(port.get("fabric")), str(port.get("host"))] = numbers
    return found


def _of_switch(
    ports: Mapping[tuple[str, str], Mapping[str, int]],
    before: Mapping[tuple[str, str], Mapping[str, int]],
    fabric: str,
    hosts: Sequence[str],
) -> tuple[int | None, int | None, int | None]:
    """Return by how much drops to the receiver, pauses of the senders and marks to the receiver grew; None: unknown.

    The counters go on from launch to launch; where they are smaller than before, the switch was made anew.
    """

    def grown(host: str, name: str) -> int | None:
        now = ports.get((fabric, host), {}).get(name)
        if now is None:
            return None
        earlier = before.get((fabric, host), {}).get(name, 0)
        return now - earlier if now >= earlier else now

    pauses = [count for host in dict.fromkeys(hosts[1:]) if (count := grown(host, "pauses")) is not None]
    return grown(hosts[0], "dropped_frames"), sum(pauses) if pauses else None, grown(hosts[0], "marked_frames")


def _sent_again(run: RunData, record: LaunchRecord) -> int | None:
    """Return what TCP sent again on the connections of the ranks, None where nobody watched."""
    numbers = [
        connection.retransmitted_bytes
        for watch in run.watches(record).values()
        for reading in watch.readings
        for connection in reading.connections
        if connection.role == RANK and connection.is_closed and connection.retransmitted_bytes is not None
    ]
    return sum(numbers) if numbers else None


def incast_frame(curves: Iterable[IncastCurve]) -> pl.DataFrame:
    """Return one row for each point, INCAST_SCHEMA."""
    rows = [
        (
            curve.curve.fabric, curve.curve.layer, curve.curve.mpi, curve.curve.series, curve.message_size_bytes,
            point.stream_count, point.aggregate.value, point.aggregate.low, point.aggregate.high,
            point.limit_bytes_per_s, point.slowest_bytes_per_s, point.fairness, point.skew_ns, point.least_overlap,
            point.launch_count, point.refused_window_count, point.evidence.dropped_frames, point.evidence.pauses,
            point.evidence.marked_frames, point.evidence.retransmitted_bytes,
        )
        for curve in curves
        for point in curve.points
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=INCAST_SCHEMA, orient="row")
