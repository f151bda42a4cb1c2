"""Streams of many to one and many to many: the window in which all of them were sent, and what each of them had of it.

A window lasts as long as each sender sends, from the first sender's start on: no byte in it can have been on the wire
before, and the aggregate cannot be above what the wire allows. By how much the last sender began later is its skew.
In rounds it lasts until the last round is over: all that was asked for has come then, and no message is cut by its end.

Where whole messages alone are seen, what came too early of them is taken away (whole_messages.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from fabriscope.analysis.frames import group_accounts
from fabriscope.analysis.values.whole_messages import too_early_bytes
from fabriscope.model.case import Case
from fabriscope.model.measurement import ARRIVED, RANK_OPERATION, RANK_START
from fabriscope.model.record import GroupAccount
from fabriscope.model.run_data import RunData

LEAST_OVERLAP = 0.9
"""Less than this share of the window in which all sent: the streams' sum is no aggregate."""
AGGREGATE, SLOWEST, FAIRNESS = "aggregate_bytes_per_s", "slowest_stream_bytes_per_s", "fairness_ratio"
STREAM_METRICS = (AGGREGATE, SLOWEST, FAIRNESS)
SERIES_SCHEMA = {
    "launch_id": pl.Int32,
    "case_id": pl.String,
    "burst": pl.Int32,
    "rank": pl.Int32,
    "to_rank": pl.Int32,
    "interval": pl.Int32,
    "start_ns": pl.Int64,
    "interval_ns": pl.Int64,
    "bytes": pl.Int64,
    "at_unix_ns": pl.Int64,
}


@dataclass(frozen=True)
class StreamWindow:
    """One operation of many_to_one: all streams at once."""

    launch_id: int
    block: int
    case_id: str
    burst: int
    duration_ns: int
    interval_ns: int
    first_start_ns: int
    """Of the first sender, on the launch's clock."""
    receiver_starts_ns: tuple[int, ...]
    """Of each rank that receives, which are the first ones: what the intervals of its streams count from."""
    skew_ns: int
    """From the first sender's start to the last one's."""
    series: Mapping[int, tuple[int, ...]]
    """Rank to what arrived of its stream in each interval, without what came after the last."""
    after_bytes: Mapping[int, int]
    """Rank to what came after them."""
    start_error_ns: int = 0
    """By how much two starts may be wrong together, of programs that cannot be told when to start."""
    margin_ns: int = 0
    """How long each stream was also sent before and after what is counted of it."""
    origin_unix_ns: int | None = None
    """What the launch's clock counts from; None where nobody said."""
    has_whole_rounds: bool = False
    """It ends with a round, and whatever came, came in it."""
    sees_whole: bool = False
    """What came of the streams is seen by whole messages alone."""
    least_bytes: int = 0
    """A message of each stream."""

    @property
    def span_unix_ns(self) -> tuple[int, int] | None:
        """Return from the first sender's start to the last one's end; None where the clock's origin is not known."""
        if self.origin_unix_ns is None:
            return None
        begin_ns = self.origin_unix_ns + self.first_start_ns
        return begin_ns, begin_ns + self.duration_ns + self.skew_ns

    def ends_at(self, rank: int, interval: int) -> int | None:
        """Return when an interval of a stream ended, by the system's clock."""
        if self.origin_unix_ns is None:
            return None
        begin_ns = self.origin_unix_ns + self.receiver_starts_ns[self.receiver_of(rank)]
        return begin_ns + (interval + 1) * self.interval_ns

    @property
    def overlap(self) -> float:
        """Return the share of the window in which all senders sent for certain."""
        apart_ns = self.skew_ns + self.start_error_ns - self.margin_ns
        return max(0.0, 1 - max(0, apart_ns) / self.duration_ns)

    @property
    def has_messages(self) -> bool:
        """Return whether as many messages came as there are streams; parts of fewer say little of what came when."""
        sees_all = self.has_whole_rounds or not self.sees_whole
        return sees_all or sum(map(sum, self.series.values())) >= self.least_bytes

    @property
    def is_comparable(self) -> bool:
        """Return whether the streams' sum is an aggregate: they overlapped enough, and messages of them came."""
        return self.overlap >= LEAST_OVERLAP and self.has_messages

    @cached_property
    def too_early_bytes(self) -> float:
        """Return how much of what had arrived in the window is told of it too early, in bytes of all streams."""
        if self.has_whole_rounds or not self.sees_whole:
            return 0.0
        sizes = self.interval_ns, self.duration_ns, self.least_bytes
        return too_early_bytes(lambda after_ns: sum(self._arrived(after_ns).values()), *sizes)

    @property
    def stream_bytes(self) -> dict[int, float]:
        """Return rank to what is counted of its stream, in bytes; of intervals that are cut, their share."""
        if self.has_whole_rounds:
            return {rank: float(sum(counts) + self.after_bytes[rank]) for rank, counts in self.series.items()}
        arrived = self._arrived(self.duration_ns)
        total = sum(arrived.values())
        share = (total - self.too_early_bytes) / total if total else 1.0
        return {rank: count * share for rank, count in arrived.items()}

    def _arrived(self, after_ns: int) -> dict[int, float]:
        """Return rank to what had arrived of its stream this long after the first start, in bytes."""
        at_ns = self.first_start_ns + after_ns
        return {
            rank: _until(counts, self.interval_ns, at_ns - self.receiver_starts_ns[self.receiver_of(rank)])
            for rank, counts in self.series.items()
        }

    def receiver_of(self, rank: int) -> int:
        """Return to which rank a rank sends: the senders of each that receives follow one another."""
        receiver_count = len(self.receiver_starts_ns)
        return (rank - receiver_count) // max(1, len(self.series) // receiver_count)

    @property
    def rates_bytes_per_s(self) -> dict[int, float]:
        """Return rank to the mean rate of its stream over the window."""
        return {rank: count * 1e9 / self.duration_ns for rank, count in self.stream_bytes.items()}

    def metric(self, metric_id: str, receiver: int | None = None) -> float:
        """Return one of STREAM_METRICS: of all streams, or of those to one rank that receives."""
        rates = [rate for rank, rate in self.rates_bytes_per_s.items() if receiver in (None, self.receiver_of(rank))]
        if metric_id == FAIRNESS:
            return jain_index(rates)
        return min(rates) if metric_id == SLOWEST else sum(rates)


def jain_index(rates: Sequence[float]) -> float:
    """Return (sum x)^2 / (n sum x^2), 1 where all are alike; of rates that are all 0 it is 1.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination (DEC-TR-301, 1984).
    """
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else 1.0


def _until(counts: Sequence[int], interval_ns: int, end_ns: int) -> float:
    """Return how much of counts by intervals came by a time."""
    whole = max(0, min(len(counts), end_ns // interval_ns))
    total = float(sum(counts[:whole]))
    if 0 <= whole < len(counts) and end_ns > 0:
        total += counts[whole] * (end_ns - whole * interval_ns) / interval_ns
    return total


def windows_by_launch(run: RunData) -> dict[tuple[int, str], list[StreamWindow]]:
    """Return the measured windows of each launch and case, in the order of their bursts."""
    return run.once(_windows_by_launch)


def _windows_by_launch(run: RunData) -> dict[tuple[int, str], list[StreamWindow]]:
    accounts = group_accounts(run)
    watched = {key for key, account in accounts.items() if account.interval_ns}
    if not watched:
        return {}
    case_ids = sorted({case_id for _, case_id in watched})
    frame = (
        run.samples.filter(
            pl.col("case_id").is_in(case_ids),
            pl.col("phase") == "measure",
            pl.col("quantity").is_in([ARRIVED, RANK_START, RANK_OPERATION]),
        )
        .group_by("launch_id", "block", "case_id", "burst", "rank", "quantity", maintain_order=True)
        .agg(pl.col("start_ns").first(), pl.col("value"))
        .collect()
    )
    receivers = {case_id: run.manifest.cases[case_id].entry.receivers for case_id in case_ids}
    found: dict[tuple[int, int, str, int], _Parts] = defaultdict(_Parts)
    for launch_id, block, case_id, burst, rank, quantity, start_ns, values in frame.iter_rows():
        parts = found[launch_id, block, case_id, burst]
        parts.start_ns, parts.receiver_count = start_ns, receivers[case_id]
        if quantity == ARRIVED:
            parts.series[rank] = tuple(int(value) for value in values)
        elif quantity == RANK_OPERATION:
            parts.operations_ns[rank] = int(values[0])
        else:
            parts.starts_ns[rank] = int(values[0])
    origins = {
        record.launch_id: record.details.start_unix_ns for record in run.journal if not record.details.hung_case_ids
    }
    windows: dict[tuple[int, str], list[StreamWindow]] = defaultdict(list)
    for (launch_id, block, case_id, burst), parts in sorted(found.items()):
        account = accounts.get((launch_id, case_id))
        if account is None or not account.interval_ns or not account.duration_ns or not parts.is_whole:
            continue
        window = parts.window(launch_id, block, case_id, burst, int(account.duration_ns), int(account.interval_ns))
        if ("mode", "rounds") in (case := run.manifest.cases[case_id]).parameters:
            window = parts.whole_rounds(window)
        windows[launch_id, case_id].append(_as_told(window, account, case, origins.get(launch_id)))
    return dict(windows)


def _as_told(window: StreamWindow, account: GroupAccount, case: Case, origin_unix_ns: int | None) -> StreamWindow:
    """Return a window with what its account says of its clock, and of what it saw."""
    return replace(
        window,
        start_error_ns=int(account.start_error_ns or 0),
        margin_ns=int(account.margin_ns or 0),
        origin_unix_ns=account.start_unix_ns or origin_unix_ns,
        sees_whole=account.sees_parts == 0,
        least_bytes=len(window.series) * case.message_size_bytes,
    )


class _Parts:
    """What the samples have of one burst."""

    def __init__(self) -> None:
        self.start_ns = 0
        self.receiver_count = 1
        self.series: dict[int, tuple[int, ...]] = {}
        self.starts_ns: dict[int, int] = {}
        self.operations_ns: dict[int, int] = {}

    @property
    def is_whole(self) -> bool:
        """Return whether every stream has its start and its series, and so have those that receive their starts."""
        ranks = {*range(self.receiver_count), *self.series}
        are_even = len(self.series) % self.receiver_count == 0
        return bool(self.series) and are_even and ranks <= set(self.starts_ns)

    def window(
        self, launch_id: int, block: int, case_id: str, burst: int, duration_ns: int, interval_ns: int
    ) -> StreamWindow:
        senders = [self.starts_ns[rank] for rank in self.series]
        return StreamWindow(
            launch_id,
            block,
            case_id,
            burst,
            duration_ns,
            interval_ns,
            self.start_ns + min(senders),
            tuple(self.start_ns + self.starts_ns[rank] for rank in range(self.receiver_count)),
            max(senders) - min(senders),
            {rank: counts[:-1] for rank, counts in sorted(self.series.items())},
            {rank: counts[-1] for rank, counts in sorted(self.series.items())},
        )

    def whole_rounds(self, window: StreamWindow) -> StreamWindow:
        """Return the window as it is in rounds: until the last of those that receive has its last round."""
        receivers = range(self.receiver_count)
        if not set(receivers) <= set(self.operations_ns):
            return window
        end_ns = max(self.start_ns + self.starts_ns[rank] + self.operations_ns[rank] for rank in receivers)
        return replace(window, duration_ns=end_ns - window.first_start_ns, has_whole_rounds=True)


def series_frame(windows: Iterable[StreamWindow]) -> pl.DataFrame:
    """Return one row for each stream and interval, SERIES_SCHEMA.

    `start_ns` is on the launch's clock; `at_unix_ns` is the interval's end by the system's, as in the series of switch
    and hosts, and null where nobody said what the launch's clock counts from.
    """
    rows = [
        (
            window.launch_id,
            window.case_id,
            window.burst,
            rank,
            window.receiver_of(rank),
            place,
            window.receiver_starts_ns[window.receiver_of(rank)] + place * window.interval_ns,
            window.interval_ns,
            count,
            window.ends_at(rank, place),
        )
        for window in windows
        for rank, counts in window.series.items()
        for place, count in enumerate(counts)
    ]
    return pl.DataFrame(rows, schema=SERIES_SCHEMA, orient="row")
