"""What carried a program's bytes over time, drawn: sent upwards, received downwards, a strip for each host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from fabriscope.analysis.proof.traffic import COUNTED, Flow
from fabriscope.reports._style import PALETTE, Style, config

MOST_HOSTS = 8
"""Of more than so many, those that moved most are drawn."""
LEAST_SHARE = 0.001
"""A carrier that never moved so much of the largest rate is left out."""
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


def chart(flows: Sequence[Flow], *, for_page: bool) -> dict[str, Any] | None:
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
    rows = [row for one in shown for row in _rows(one, factor)]
    spec = _spec(hosts, names, unit, style)
    spec["datasets"] = {"rows": [*rows, *_ends(shown, factor)]}
    if not for_page:
        spec["title"] = {"text": TITLE, "fontWeight": "normal", "fontSize": 12, "anchor": "start"}
    spec["config"] = {
        **config(style),
        "header": {"labelColor": style.ink, "labelFont": style.font, "labelFontSize": 13},
    }
    return spec


def _notable(flows: Sequence[Flow], peak: float) -> set[str]:
    return {one.carrier for one in flows if max(one.sent_bytes_per_s, one.received_bytes_per_s) > LEAST_SHARE * peak}


def _rows(one: Flow, factor: float) -> list[dict[str, Any]]:
    rates = {"sent": one.sent_bytes_per_s, "received": -one.received_bytes_per_s}
    return [
        {"host": one.host, "carrier": one.carrier, "direction": way, "x": round(one.start_s, 4), "y": rate / factor}
        for way, rate in rates.items()
    ]


def _ends(flows: Sequence[Flow], factor: float) -> list[dict[str, Any]]:
    """Return the last rate of every carrier once more, where it ends: steps need it."""
    last = {(one.host, one.carrier): one for one in flows}
    return [{**row, "x": round(one.end_s, 4)} for one in last.values() for row in _rows(one, factor)]


def _spec(hosts: list[str], names: list[str], unit: str, style: Style) -> dict[str, Any]:
    scale = alt.Scale(domain=names, range=[PALETTE[index % len(PALETTE)] for index in range(len(names))])
    x = alt.X("x:Q", title="seconds since the start of the watch", axis=alt.Axis(grid=False))
    axis = alt.Axis(labelExpr="format(abs(datum.value), '~g')", tickCount=5)
    base = alt.Chart().encode(x=x, detail="direction:N")
    area = (
        base.transform_filter(f"datum.carrier != '{COUNTED}'")
        .mark_area(interpolate="step-after", opacity=0.75)
        .encode(
            y=alt.Y("y:Q", title=unit, axis=axis, stack="zero"), color=alt.Color("carrier:N", scale=scale, title=None)
        )
    )
    line = (
        base.transform_filter(f"datum.carrier == '{COUNTED}'")
        .mark_line(interpolate="step-after", strokeDash=[4, 3], strokeWidth=1, color=style.ink)
        .encode(y=alt.Y("y:Q", title=unit, axis=axis))
    )
    layered = alt.layer(area, line).properties(width=WIDTH, height=HEIGHT)
    facet = layered.facet(row=alt.Row("host:N", title=None, sort=hosts), data=alt.NamedData(name="rows"))
    spec: dict[str, Any] = facet.to_dict(validate=False)
    return spec
