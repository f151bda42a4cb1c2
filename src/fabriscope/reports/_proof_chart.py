"""What carried a program's bytes over time, drawn: sent upwards, received downwards, a strip for each host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.proof.traffic import COUNTED, Flow
from fabriscope.reports._style import PALETTE, Spec, Style, config
from fabriscope.reports._vega import SCHEMA, channel, layer, layered

MOST_HOSTS = 8
"""Carriers drawn at most: those that moved most."""
LEAST_SHARE = 0.001
"""A carrier that never reached this share of the largest rate is left out."""
WIDTH, HEIGHT = 900, 140
TITLE = "Sent up, received down. Filled: payload of the program by carrier. Dashed: all that the interfaces counted."
_UNITS = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))


def drawn_hosts(flows: Sequence[Flow]) -> list[str]:
    """Return the hosts that a drawing has room for, in their order."""
    moved: dict[str, float] = {}
    for one in flows:
        both = one.sent_bytes_per_s + one.received_bytes_per_s
        moved[one.host] = moved.get(one.host, 0) + both * (one.end_s - one.start_s)
    most = sorted(moved, key=lambda host: -moved[host])[:MOST_HOSTS]
    return [host for host in moved if host in most]


def chart(flows: Sequence[Flow], *, for_page: bool) -> Spec | None:
    """Return the drawing as a Vega-Lite specification, None where nothing of the program was counted."""
    hosts = drawn_hosts(flows)
    peak = max((max(one.sent_bytes_per_s, one.received_bytes_per_s) for one in flows), default=0.0)
    if not peak:
        return None
    factor, unit = next(one for one in _UNITS if peak >= one[0] or one[0] == 1)
    shown = [one for one in flows if one.host in hosts and one.carrier in _notable(flows, peak)]
    names = [name for name in dict.fromkeys(one.carrier for one in shown) if name != COUNTED]
    if not names:
        return None
    style = Style({}, (), "currentColor", "var(--rule)") if for_page else Style({}, ())
    rows = [row for one in shown for row in _marks(one, one.start_s, factor)]
    spec = _spec(hosts, names, unit, style)
    spec["datasets"] = {"rows": [vars(row) for row in (*rows, *_ends(shown, factor))]}
    if not for_page:
        spec["title"] = {"text": TITLE, "fontWeight": "normal", "fontSize": 12, "anchor": "start"}
    spec["config"] = {
        **config(style),
        "header": {"labelColor": style.ink, "labelFont": style.font, "labelFontSize": 13},
    }
    return spec


def _notable(flows: Sequence[Flow], peak: float) -> set[str]:
    return {one.carrier for one in flows if max(one.sent_bytes_per_s, one.received_bytes_per_s) > LEAST_SHARE * peak}


@dataclass(frozen=True)
class _Mark:
    """A rate from one moment on; its fields are the names of the data in the specification."""

    host: str
    carrier: str
    direction: str
    x: float
    y: float


def _marks(one: Flow, at_s: float, factor: float) -> list[_Mark]:
    rates = {"sent": one.sent_bytes_per_s, "received": -one.received_bytes_per_s}
    return [_Mark(one.host, one.carrier, way, round(at_s, 4), rate / factor) for way, rate in rates.items()]


def _ends(flows: Sequence[Flow], factor: float) -> list[_Mark]:
    """Return the last rate of every carrier once more, where it ends: steps need it."""
    last = {(one.host, one.carrier): one for one in flows}
    return [mark for one in last.values() for mark in _marks(one, one.end_s, factor)]


def _spec(hosts: list[str], names: list[str], unit: str, style: Style) -> Spec:
    scale = {"domain": names, "range": [PALETTE[index % len(PALETTE)] for index in range(len(names))]}
    axis = {"labelExpr": "format(abs(datum.value), '~g')", "tickCount": 5}
    base = {
        "x": channel("x:Q", title="seconds since the start of the watch", axis={"grid": False}),
        "detail": channel("direction:N"),
    }
    area = {
        "y": channel("y:Q", title=unit, axis=axis, stack="zero"),
        "color": channel("carrier:N", scale=scale, title=None),
    }
    dashed = {"strokeDash": [4, 3], "strokeWidth": 1, "color": style.ink}
    steps = {"interpolate": "step-after"}
    layers = [
        layer(None, "area", {**steps, "opacity": 0.75}, base | area, f"datum.carrier != '{COUNTED}'"),
        layer(None, "line", steps | dashed, base | {"y": channel("y:Q", title=unit, axis=axis)},
              f"datum.carrier == '{COUNTED}'"),
    ]  # fmt: skip
    return {
        "$schema": SCHEMA,
        "data": {"name": "rows"},
        "facet": {"row": channel("host:N", title=None, sort=hosts)},
        "spec": layered(layers, WIDTH, HEIGHT),
    }
