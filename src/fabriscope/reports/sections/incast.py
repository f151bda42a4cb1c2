"""Many to one, or to many: the aggregate over the number of senders, each stream over time, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fabriscope.analysis.incast.points import COLLAPSES, UNDECIDED, UNFAIR, Destination, IncastCurve, IncastPoint
from fabriscope.analysis.incast.switch_windows import WindowPorts, counts_by_case, ports_in
from fabriscope.analysis.results import Results
from fabriscope.analysis.values.streams import AGGREGATE, SLOWEST, StreamWindow, windows_by_launch
from fabriscope.analysis.words import UNKNOWN, bytes_text, interval_text, time_text, value_text
from fabriscope.model.counting import counted
from fabriscope.reports._stream_map import stream_map
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Grid,
    Heading,
    Paragraph,
    Picture,
    Row,
    Section,
    Sections,
    Table,
)

_NOTE = (
    "The aggregate is what had arrived of all streams while every sender sent, over that time; streams that overlapped "
    "by less than 90 % have none. Fairness is Jain’s index. It has fallen where it stays below nine tenths of what "
    "fewer senders had. {} is of all message sizes and launches of a number of streams together: TCP tells bytes, an "
    "RDMA port how often it began to send again."
)
_OF_WINDOWS = (
    "What the lab’s switch dropped, paused and marked is that of the windows themselves, to some 10 ms. What was lost "
    "on the lab’s cables, what was sent again, and what a real host’s card counts,"
)
_OF_LAUNCHES = "What was dropped, paused, marked and sent again"
_MOST_MAPS = 4
_STYLES = {COLLAPSES: "slower", UNFAIR: "slower", UNDECIDED: "undecided"}


def _build(results: Results) -> list[Section]:
    curves = results.incast_curves
    if not curves:
        return []
    sentences = [curve.sentence() for curve in curves]
    rows = [_row(curve, point) for curve in curves for point in curve.points]
    groups = [curve.name for curve in curves for _ in curve.points]
    numbers = ("streams", "aggregate", "of the wire", "slowest stream", "fairness", "start skew", "dropped", "pauses")
    columns = [Column("what"), *(Column(name, "number") for name in (*numbers, "sent again", "launches"))]
    columns.append(Column("state"))
    table = Table(columns, rows, groups)
    maps = _maps(results, curves)
    note = Paragraph(_NOTE.format(_scope(results)), is_note=True)
    blocks: list[Block] = [Bullets(sentences), table, *_destinations(curves), *maps, note]
    title = "Many to many" if all(curve.receiver_count > 1 for curve in curves) else "Many to one"
    brief: list[Block] = [Heading(title.lower())]
    for curve in curves:
        brief += [Bullets([curve.sentence()]), Table(_brief_columns(), [_brief(point) for point in curve.points])]
        brief += _destinations([curve])
    return [Section("incast", title, blocks, title, brief=brief)]


def _scope(results: Results) -> str:
    """Return what of the evidence is of windows: nothing in runs whose switch told nothing over time."""
    told = results.run.once(counts_by_case)
    points = [point for curve in results.incast_curves for point in curve.points]
    return _OF_WINDOWS if all(point.case_id in told for point in points) else _OF_LAUNCHES


def _destinations(curves: Sequence[IncastCurve]) -> list[Block]:
    """Return a table of what came to each host that receives, where there are several."""
    found = [(curve, point, one) for curve in curves for point in curve.points for one in point.destinations]
    if not found:
        return []
    numbers = ("streams", "to host", "its aggregate", "of the whole", "slowest stream", "fairness", "dropped")
    rows = [_destination(curve, point, one) for curve, point, one in found]
    columns = [Column("what"), *(Column(name, "number") for name in numbers)]
    return [Table(columns, rows, [curve.name for curve, _, _ in found])]


def _destination(curve: IncastCurve, point: IncastPoint, one: Destination) -> Row:
    value, whole = one.aggregate.value, point.aggregate.value
    interval = interval_text(one.aggregate.low, one.aggregate.high, partial(value_text, metric_id=AGGREGATE))
    return [
        curve.name,
        str(point.stream_count),
        one.host,
        Cell(_rate(value, AGGREGATE), interval),
        UNKNOWN if value is None or not whole else f"{value / whole:.0%}",
        _rate(one.slowest_bytes_per_s, SLOWEST),
        UNKNOWN if one.fairness is None else f"{one.fairness:.2f}",
        _count(one.dropped_frames),
    ]


def _row(curve: IncastCurve, point: IncastPoint) -> Row:
    centre = point.aggregate
    interval = interval_text(centre.low, centre.high, partial(value_text, metric_id=AGGREGATE))
    return [
        curve.name,
        str(point.stream_count),
        Cell(_rate(centre.value, AGGREGATE), interval),
        _share(point),
        _rate(point.slowest_bytes_per_s, SLOWEST),
        UNKNOWN if point.fairness is None else f"{point.fairness:.2f}",
        Cell(time_text(point.skew_ns), _refused(point)),
        _count(point.evidence.dropped_frames),
        _count(point.evidence.pauses),
        _sent_again(point),
        str(point.launch_count),
        Cell(curve.verdict, style=_STYLES.get(curve.state, "equivalent")),
    ]


def _brief_columns() -> list[Column]:
    numbers = ("streams", "aggregate", "of wire", "slowest", "fairness", "dropped", "pauses", "sent again", "refused")
    return [Column(name, "number") for name in numbers]


def _brief(point: IncastPoint) -> Row:
    return [
        str(point.stream_count),
        _rate(point.aggregate.value, AGGREGATE),
        _share(point),
        _rate(point.slowest_bytes_per_s, SLOWEST),
        UNKNOWN if point.fairness is None else f"{point.fairness:.2f}",
        _count(point.evidence.dropped_frames),
        _count(point.evidence.pauses),
        _sent_again(point),
        counted(point.refused_window_count, "window") if point.refused_window_count else "0",
    ]


def _rate(value: float | None, metric_id: str) -> str:
    return UNKNOWN if value is None else value_text(value, metric_id)


def _share(point: IncastPoint) -> str:
    return UNKNOWN if point.share_of_limit is None else f"{point.share_of_limit:.0%}"


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else str(number)


def _sent_again(point: IncastPoint) -> str:
    """Return TCP's bytes, or how often RDMA began again."""
    again, retries = point.evidence.retransmitted_bytes, point.evidence.rdma_retries
    if again is not None:
        return bytes_text(again)
    return UNKNOWN if retries is None else f"{retries} {'retry' if retries == 1 else 'retries'}"


def _refused(point: IncastPoint) -> str:
    count = point.refused_window_count
    return f"{counted(count, 'window')} refused" if count else ""


def _maps(results: Results, curves: Sequence[IncastCurve]) -> list[Block]:
    """Return a picture of the most streams of the first curves: one of each fabric and program, then the others."""
    windows: dict[str, StreamWindow] = {}
    for (_, case_id), of_launch in windows_by_launch(results.run).items():
        windows.setdefault(case_id, of_launch[0])
    parts: list[list[Block]] = []
    later = {id(curve): sum(one.curve == curve.curve for one in curves[:place]) for place, curve in enumerate(curves)}
    for curve in sorted(curves, key=lambda curve: later[id(curve)])[:_MOST_MAPS]:
        point = curve.points[-1]
        window = windows.get(point.case_id)
        if window is not None and point.stream_count > 1:
            ports = ports_in(results.run, window)
            what = f"{curve.name}, {point.stream_count} streams, {time_text(window.interval_ns)} a cell or more"
            what += f": a row for each stream, darker for more bytes{_under(ports) if ports else ''}"
            parts.append([Picture(what, stream_map(window, ports))])
    return [Grid(parts)] if parts else []


def _under(ports: WindowPorts) -> str:
    """Return what the rows of the switch are, and the most of each."""
    fullest = max(ports.by_interval(ports.ways, "queue_bytes", max), default=0)
    paused_ns = ports.by_interval(ports.senders, "paused_ns", sum)
    share = sum(paused_ns) / (max(1, len(paused_ns)) * ports.window.interval_ns * len(ports.senders))
    where = "queue to the receiver" if len(ports.receivers) == 1 else "queues to the receivers"
    where += " and of the cable between the switches" if ports.cables else ""
    return (
        f"; under them the {where} (at most {bytes_text(fullest)}), where frames were dropped "
        f"({ports.total(ports.ways, 'dropped_frames')}), and for how long senders were paused ({share:.0%} of "
        "their time)"
    )


SECTION = Sections("incast", 55, _build)
