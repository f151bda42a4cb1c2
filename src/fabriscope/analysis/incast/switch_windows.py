"""What the lab's switch counted in the windows of streams, and not before, between and after them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.values.streams import StreamWindow, windows_by_launch
from fabriscope.analysis.values.ways import cables_of, wire_count
from fabriscope.model.benchmark_kind import BESIDE, OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Entry
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import COUNTERS, Counter, PortSeries, SwitchSeries

SWITCH_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "launch_id": pl.Int32,
    "fabric": pl.String,
    "host": pl.String,
    "at_unix_ns": pl.Int64,
    "length_ns": pl.Int64,
    **dict.fromkeys(COUNTERS, pl.Int64),
    "frames": pl.Int64,
}
_COLUMNS = tuple(SWITCH_SCHEMA)[4:]


@dataclass(frozen=True)
class SwitchCounts:
    """What was counted in all windows of a case."""

    dropped_by_port: Mapping[str, int]
    """By each host that receives: frames lost on their way there; and by the cable between switches that is on it."""
    marked_frames: int
    pauses: int
    """Of the hosts that send."""
    carried_bytes: float = 0.0
    """On the wire, to those that receive."""
    wire_ns: int = 0
    """For how long, of all wires together that bound it."""


@dataclass(frozen=True)
class WindowPorts:
    """The switch's ports while one window of streams was sent."""

    window: StreamWindow
    begin_unix_ns: int
    end_unix_ns: int
    """When the last sender ended."""
    entry: Entry
    ports: Mapping[str, PortSeries]
    """By host, and the cables between switches likewise."""
    cables: tuple[str, ...] = ()
    """Those that the streams cross."""
    wire_count: int = 1
    """How many wires bound what comes to those that receive."""

    @property
    def receivers(self) -> tuple[str, ...]:
        """Return the hosts that receive, each once."""
        return tuple(dict.fromkeys(self.entry.hosts[: self.entry.receivers]))

    @property
    def ways(self) -> tuple[str, ...]:
        """Return where frames may be lost or marked on their way: the ports to those that receive, and the cables."""
        return (*self.receivers, *self.cables)

    @property
    def senders(self) -> tuple[str, ...]:
        """Return the hosts that send, each once."""
        return tuple(dict.fromkeys(self.entry.hosts[self.entry.receivers :]))

    def total(self, hosts: Iterable[str], counter: Counter) -> int:
        """Return the sum of what was counted in the periods of which some part lies in the window."""
        return sum(sum(self.ports[host].within(counter, self.begin_unix_ns, self.end_unix_ns)) for host in hosts)

    def carried_bytes(self) -> float:
        """Return what was on the wire to those that receive; of periods that begin or end outside, their share."""
        step_ns = self.end_unix_ns - self.begin_unix_ns
        ports = (self.ports[host] for host in self.receivers)
        parts = (port.parts(port.column("wire_bytes"), self.begin_unix_ns, self.end_unix_ns, step_ns) for port in ports)
        return float(sum(share for of_port in parts for _, share, _ in of_port))

    def by_interval(self, hosts: Iterable[str], counter: Counter, fold: Callable[[list[int]], int]) -> list[int]:
        """Return a value for each interval in which the streams' bytes were written down.

        A period is in all intervals that it touches, for `max` with all of its value, for sums with its share; `fold`
        makes one value of several, and of several hosts.
        """
        step, count = self.window.interval_ns, len(next(iter(self.window.series.values())))
        found: list[list[int]] = [[0] for _ in range(count)]
        for host in hosts:
            port, end_ns = self.ports[host], self.begin_unix_ns + count * step
            for place, share, whole in port.parts(port.column(counter), self.begin_unix_ns, end_ns, step):
                found[place].append(whole if fold is max else share)
        return [fold(values) for values in found]


def ports_in(run: RunData, window: StreamWindow) -> WindowPorts | None:
    """Return what the switch's ports counted while a window was sent; None where it did not tell of all of it."""
    series = run.once(_series).get(window.launch_id)
    span, entry = window.span_unix_ns, run.manifest.cases[window.case_id].entry
    if series is None or span is None or span[0] < series.since_unix_ns:
        return None
    ports = series.of(entry.fabric or "")
    switch = run.manifest.switches.get(entry.fabric or "")
    cables = cables_of(entry, switch)
    if not {*entry.hosts, *cables} <= set(ports):
        return None
    return WindowPorts(window, *span, entry, ports, cables, wire_count(entry, switch))


def _series(run: RunData) -> dict[int, SwitchSeries]:
    """Return launch id to what the switch told of it; the counters of launches without streams are not read."""
    found = {record.launch_id: run.switch_series(record) for record in run.journal if _has_streams(run, record)}
    return {launch_id: series for launch_id, series in found.items() if series is not None}


def _has_streams(run: RunData, record: LaunchRecord) -> bool:
    cases = (run.manifest.cases[case_id] for case_id in record.results if case_id in run.manifest.cases)
    return any(kind_of(case.benchmark).pattern in (*OF_STREAMS, BESIDE) for case in cases)


def counts_by_case(run: RunData) -> dict[str, SwitchCounts]:
    """Return what the switch counted in the windows of each case; not of cases of which it told of none.

    Of launches whose windows it did not tell of, as it was killed in one, nothing is added.

    A period counts to each window of which it has a part: so what happened in the same period just before a window
    began may be taken for its own, and nothing that happened in it is lost.
    """
    parts: dict[str, list[SwitchCounts | None]] = defaultdict(list)
    for (_, case_id), windows in windows_by_launch(run).items():
        if kind_of(run.manifest.cases[case_id].benchmark).pattern != BESIDE:
            parts[case_id] += [_counts(ports_in(run, window)) for window in windows]
    return {case_id: _sum(known) for case_id, some in parts.items() if (known := [one for one in some if one])}


def evidence_of(counts: SwitchCounts | None, of_entry: Evidence) -> Evidence:
    """Return what is known of a case: by the switch of its windows, by the hosts of all that its entry launched."""
    if counts is None:
        return of_entry
    told = {**vars(of_entry), "dropped_frames": sum(counts.dropped_by_port.values()), "pauses": counts.pauses}
    return Evidence(**{**told, "marked_frames": counts.marked_frames})


def _counts(seen: WindowPorts | None) -> SwitchCounts | None:
    if seen is None:
        return None
    dropped = {port: seen.total([port], "dropped_frames") for port in seen.ways}
    marked, pauses = seen.total(seen.ways, "marked_frames"), seen.total(seen.senders, "pauses")
    wire_ns = (seen.end_unix_ns - seen.begin_unix_ns) * seen.wire_count
    return SwitchCounts(dropped, marked, pauses, seen.carried_bytes(), wire_ns)


def _sum(parts: Sequence[SwitchCounts]) -> SwitchCounts:
    ports = dict.fromkeys(port for part in parts for port in part.dropped_by_port)
    dropped = {port: sum(part.dropped_by_port.get(port, 0) for part in parts) for port in ports}
    marked, pauses = sum(part.marked_frames for part in parts), sum(part.pauses for part in parts)
    return SwitchCounts(
        dropped, marked, pauses, sum(part.carried_bytes for part in parts), sum(part.wire_ns for part in parts)
    )


def switch_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each port and period in which something happened there, SWITCH_SCHEMA.

    Of launches of streams over a fabric of the lab. `at_unix_ns` is the period's end;
    what an older switch did not say is null.
    """
    rows = [
        (launch_id, port.fabric, port.host, *values)
        for launch_id, series in run.once(_series).items()
        for port in series.ports
        for values in zip(port.at_unix_ns, *(_known(port, name) for name in _COLUMNS), strict=True)
    ]
    return pl.DataFrame(rows, schema=SWITCH_SCHEMA, orient="row")


def _known(port: PortSeries, name: str) -> Sequence[int | None]:
    values: tuple[int, ...] = getattr(port, name)
    return values or (None,) * len(port.at_unix_ns)
