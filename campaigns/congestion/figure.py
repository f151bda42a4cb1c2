"""The picture of many to one: goodput, what a round takes, and what was lost and sent again, over the senders."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert
from benchmarks._peers_report import MOST_LOAD

from fabriscope.analysis.values.bounds import FRAME_OVERHEAD_BYTES, IPV4_HEADER_BYTES, wire_bytes
from fabriscope.reports._style import PALETTE, Spec, Style, config
from fabriscope.reports._vega import SCHEMA, channel, layer, layered

PER_FRAMES = 1000
SHOWN = {
    "verbs": (
        ("switch", "dropped_frames"),
        ("receiver", "out_of_seq_request"),
        ("senders", "completer_retry_err"),
        ("switch", "pauses"),
    ),
    "tcp": (
        ("switch", "dropped_frames"),
        ("senders", "Tcp.RetransSegs"),
        ("senders", "TcpExt.TCPTimeouts"),
        ("switch", "pauses"),
    ),
}
"""What counts losses, gaps or segments sent again, expired timers, pauses: whose counters, and which."""
COUNTERS = {
    "frames that the switch dropped": ("switch", "dropped_frames"),
    "gaps that the receiver saw (out_of_seq_request)": ("receiver", "out_of_seq_request"),
    "packets that came twice (duplicate_request)": ("receiver", "duplicate_request"),
    "retries of senders (completer_retry_err)": ("senders", "completer_retry_err"),
}
NAMES = {"verbs": "Soft RoCE", "tcp": "TCP (reno)"}
ROCE_PACKET_BYTES = IPV4_HEADER_BYTES + 8 + 12 + 4
"""UDP, base transport header, invariant CRC."""
ROCE_MTU_BYTES = 1024
WIDTH, HEIGHT, PNG_SCALE = 300, 250, 1.4
BESIDE = 0.05
"""How far apart, in senders, the curves stand."""
_STYLE = Style({}, ())
_LEGEND: Spec = {"title": None, "columns": 1, "symbolType": "stroke", "symbolSize": 500}
_POINTS = {"filled": True, "size": 40, "opacity": 1}


def median_of(launches: Sequence[Any], of: str, name: str) -> float:
    """Return the median over launches of a counter, for every 1000 frames that the switch delivered to the receiver."""
    shares: list[float] = []
    for one in launches:
        said = one if isinstance(one, Mapping) else vars(one)
        shares.append(PER_FRAMES * said[of].get(name, 0) / max(1, said["switch"]["delivered_frames"]))
    return statistics.median(shares)


def write(said: Mapping[str, Any], path: Path) -> list[Path]:
    """Draw what the campaign measured as PNG and SVG; returns the files."""
    spec = json.dumps(picture(said))
    written = [path.with_suffix(".svg"), path.with_suffix(".png")]
    written[0].write_text(vl_convert.vegalite_to_svg(spec))
    written[1].write_bytes(vl_convert.vegalite_to_png(spec, scale=PNG_SCALE))
    return written


def picture(said: Mapping[str, Any]) -> Spec:
    """Return the picture's specification."""
    asked = said["arguments"]
    good = [one for one in said["readings"] if one["goodput_bytes_per_s"] is not None]
    curves = list(dict.fromkeys(_curve(one) for one in sorted(good, key=lambda one: (one["layer"], one["mode"]))))
    panels = [
        _panel(list(_goodputs(good)), "goodput, Mb/s", curves, bounds=_bounds(asked)),
        _panel(list(_times(good)), "a round: median and longest, ms", curves, is_log=True),
        _counts(good),
    ]
    words = (
        f"{asked['rate'] / 1e6:g} Mb/s, {asked['buffer'] >> 10} KiB of buffer at each port, blocks of "
        f"{asked['block'] >> 10} KiB; medians and range of {asked['rounds']} launches; dotted: what the wire allows"
    )
    if said["load_before"] > MOST_LOAD:
        words += f". The machine was busy (load {said['load_before']:.0f}): shapes only"
    return {
        "$schema": SCHEMA,
        "hconcat": panels,
        "spacing": 24,
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        "title": {"text": "One asks, many answer at once", "subtitle": words, "anchor": "start"},
        "config": config(_STYLE),
    }


def _curve(reading: Mapping[str, Any]) -> str:
    how = "the switch drops" if reading["mode"] == "drop" else "the switch pauses"
    return f"{NAMES[reading['layer']]}, {how}"


def _of_points(readings: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int, list[Mapping[str, Any]]]]:
    for curve, count in sorted({(_curve(one), one["sender_count"]) for one in readings}):
        yield curve, count, [one for one in readings if (_curve(one), one["sender_count"]) == (curve, count)]


def _goodputs(readings: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for curve, count, launches in _of_points(readings):
        rates = [8e-6 * one["goodput_bytes_per_s"] for one in launches]
        yield {"curve": curve, "x": count, "y": statistics.median(rates), "lo": min(rates), "hi": max(rates)}


def _times(readings: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for curve, count, launches in _of_points(readings):
        times_ms = [1e-6 * value for one in launches for value in one["round_ns"]]
        median_ms = statistics.median(times_ms)
        yield {"curve": curve, "x": count, "y": median_ms, "lo": median_ms, "hi": max(times_ms)}


def _bounds(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the wire leaves for the payload of either kind of packet."""
    roce = ROCE_MTU_BYTES / (ROCE_MTU_BYTES + ROCE_PACKET_BYTES + FRAME_OVERHEAD_BYTES)
    block_bytes = asked["block"]
    tcp = block_bytes / wire_bytes(block_bytes, 1500)
    return [{"y": share * asked["rate"] / 1e6} for share in (roce, tcp)]


def _panel(
    rows: list[dict[str, Any]], title: str, curves: list[str], *, bounds: list[dict[str, Any]] | None = None,
    is_log: bool = False,
) -> Spec:  # fmt: skip
    for row in rows:  # side by side, so that ranges do not hide each other
        row["x"] += BESIDE * (curves.index(row["curve"]) - (len(curves) - 1) / 2)
    colours = [PALETTE[0] if name.startswith(NAMES["verbs"]) else PALETTE[1] for name in curves]
    dashes = [[1, 0] if name.endswith("drops") else [5, 3] for name in curves]
    legend = None if is_log else _LEGEND
    color = channel("curve:N", scale={"domain": curves, "range": colours}, legend=legend)
    dash = channel("curve:N", scale={"domain": curves, "range": dashes}, legend=legend)
    scale: Spec = {"domainMin": 0}
    if is_log:
        ends = [min(row["lo"] for row in rows) * 0.7, max(row["hi"] for row in rows) * 1.3]
        scale = {"type": "log", "nice": False, "domain": ends}
    data, y = {"values": rows}, channel("y:Q", title=title, scale=scale)
    base = {"x": _senders(rows), "color": color}
    ends_of = {"y": channel("lo:Q", title=title, scale=scale), "y2": channel("hi")}
    layers = [
        layer(data, "rule", {"opacity": 0.6}, base | ends_of),
        layer(data, "line", {"strokeWidth": 2}, base | {"y": y, "strokeDash": dash}),
        layer(data, "point", _POINTS, base | {"y": y}),
    ]
    if bounds:
        layers.append(layer({"values": bounds}, "rule", {"strokeDash": [1, 4], "color": _STYLE.ink}, {"y": y}))
    return layered(layers, WIDTH, HEIGHT)


def _counts(readings: Sequence[Mapping[str, Any]]) -> Spec:
    """Return what Soft RoCE's counters and the switch's say, where the switch drops."""
    dropped = [one for one in readings if (one["layer"], one["mode"]) == ("verbs", "drop")]
    rows = [
        {"what": what, "x": count, "y": median_of(launches, *of_name)}
        for what, of_name in COUNTERS.items()
        for _, count, launches in _of_points(dropped)
    ]
    colours = {"domain": list(COUNTERS), "range": [PALETTE[7], *PALETTE[2:5]]}
    color = channel("what:N", scale=colours, legend=_LEGEND | {"labelLimit": 340})
    # Nearly straight below 1, where 0 stands, and logarithmic above it.
    scale = {"type": "symlog", "constant": 1}
    axis = {"values": [0, 1, 3, 10, 30, 100, 300]}
    y = channel("y:Q", title=f"for {PER_FRAMES} frames delivered", scale=scale, axis=axis)
    data, encoding = {"values": rows}, {"x": _senders(rows), "y": y, "color": color}
    layers = [layer(data, "line", {"strokeWidth": 2}, encoding), layer(data, "point", _POINTS, encoding)]
    return {**layered(layers, WIDTH, HEIGHT), "title": "Soft RoCE where the switch drops"}


def _senders(rows: Sequence[Mapping[str, Any]]) -> Spec:
    most = max((round(row["x"]) for row in rows), default=1)
    axis = {"values": list(range(1, most + 1)), "format": "d", "grid": False}
    return channel("x:Q", title="senders", scale={"domain": [0.7, most + 0.3], "nice": False}, axis=axis)
