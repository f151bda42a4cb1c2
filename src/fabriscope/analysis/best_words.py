"""The best numbers of a run in sentences: how much, at which size, with which interval, and whose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.curve import IN_TRUTH, Curve
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.summary import PING_PONG, SMALL_MESSAGE_BYTES, TIME, Summary
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import (
    NumberText,
    interval_text,
    rate_text,
    series_name,
    size_text,
    time_text,
    value_text,
)
from fabriscope.model.benchmark_kind import PAIR, BenchmarkKind
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counting import listed
from fabriscope.model.metrics import base_of, metric_of

MOST_NAMES = 3
MOST_BENCHMARKS = 3
"""Of a placement's benchmarks as many have their best number told; the tables and figures have all."""
BANDWIDTH = "bandwidth"
"""What is told beside a ping-pong: the rate that people mean by a network's."""


@dataclass(frozen=True)
class _Point:
    """One curve's number, as it is set beside the others'."""

    label: str
    centre: Centre


def best_sentences(table: Sequence[Summary], estimates: Sequence[GradedEstimate]) -> Iterator[str]:
    """Yield for each placement the least latency and the largest bandwidth, of whoever has them.

    `table` sums the ping-pongs up. Where there are none, the best of what pairs of ranks measured instead is told.
    """
    for placement, words in PLACEMENT_NAMES.items():
        rows = [row for row in estimates if row.placement == placement and _is_told(row)]
        head = f"{words[0].upper()}{words[1:]}, "
        ping_pongs = list(_ping_pongs([row for row in table if row.placement == placement], rows))
        if ping_pongs:
            yield f"{head}{'; '.join(ping_pongs)}."
        others = parts([row for row in rows if row.benchmark != PING_PONG], lambda row: row.benchmark)
        if ping_pongs:
            others = [part for part in others if part[0].benchmark == BANDWIDTH]
        yield from (f"{head}{clause}." for part in others[:MOST_BENCHMARKS] if (clause := _clause(part)))


def _is_told(row: GradedEstimate) -> bool:
    is_asked = not row.twin and IN_TRUTH not in row.layer
    return is_asked and row.layer != "null" and not row.impossible and kind_of(row.benchmark).pattern == PAIR


def _ping_pongs(table: Sequence[Summary], rows: Sequence[GradedEstimate]) -> Iterator[str]:
    fast = sorted(((row.latency_ns, row) for row in table if row.latency_ns is not None), key=lambda one: one[0])
    rates = ((row.bandwidth_bytes_per_s, row) for row in table if row.bandwidth_bytes_per_s is not None)
    wide = sorted(rates, key=lambda one: one[0], reverse=True)
    timed = [row for row in rows if row.benchmark == PING_PONG and base_of(row.metric_id) == TIME]
    if fast:
        times = [_Point(row.label(), row.latency) for _, row in fast]
        yield f"the least latency of small messages is {time_text(fast[0][0])}{_whose(times, time_text)}"
    elif timed and (clause := _clause(timed)):
        yield clause
    if wide and (wide[0][1].bandwidth_message_size_bytes or 0) > SMALL_MESSAGE_BYTES:
        rate, most = wide[0]
        limit = rate / most.share_of_limit if most.share_of_limit else None
        place = f" at {size_text(most.bandwidth_message_size_bytes)}{_share(rate, limit)}"
        speeds = [_Point(row.label(), row.bandwidth) for _, row in wide]
        yield f"the largest ping-pong bandwidth is {rate_text(rate)}{_whose(speeds, rate_text, place, limit)}"


def _clause(rows: Sequence[GradedEstimate]) -> str:
    """Return the best number of one benchmark: of rates the largest at any size, of times that of the least size."""
    kind = kind_of(rows[0].benchmark)
    rows = [row for row in rows if base_of(row.metric_id) == kind.metrics[0]]
    rows = [row for row in rows if row.metric_id == rows[0].metric_id]
    if not rows:
        return ""
    metric_id, is_rate = rows[0].metric_id, metric_of(rows[0].metric_id).larger_is_better
    if not is_rate:
        least = min(row.message_size_bytes for row in rows)
        rows = [row for row in rows if row.message_size_bytes == least]
    ranked = sorted(rows, key=lambda row: row.value, reverse=is_rate)
    best = ranked[0]
    of_curve: dict[object, GradedEstimate] = {}
    for row in ranked:
        of_curve.setdefault(row.curve, row)  # its best, in the order of the bests
    limit = best.limit if is_rate else None
    points = [_Point(_label(row, rows), Centre(row.value, row.low, row.high)) for row in of_curve.values()]
    text = partial(value_text, metric_id=metric_id)
    head = f"the largest {kind.title}" if is_rate else f"the least {_time_name(kind, metric_id)}"
    size = f" at {size_text(best.message_size_bytes)}{_share(best.value, limit)}"
    return f"{head} is {text(best.value)}{_whose(points, text, size, limit)}"


def _share(rate: float, limit: float | None) -> str:
    return f", {rate / limit:.0%} of what the wire allows" if limit else ""


def _time_name(kind: BenchmarkKind, metric_id: str) -> str:
    """Return `latency` of a ping-pong, `put latency`, and `time` where a metric is called otherwise."""
    word = "latency" if "latency" in metric_of(metric_id).words else "time"
    return word if kind.name == PING_PONG else f"{kind.title} {word}"


def _label(row: Curve, rows: Sequence[Curve]) -> str:
    """Return a curve's name; where others have settings, one without says so."""
    has_others = not row.series and any(one.series for one in rows)
    return f"{row.label()}, {series_name(row.series)}" if has_others else row.label()


def _whose(ranked: Sequence[_Point], text: NumberText, place: str = "", limit: float | None = None) -> str:
    """Return the best number's interval, where it is, and whose; where others' intervals overlap, nobody's alone.

    An interval knows nothing of the wire: one that goes on beyond the limit of a rate says where the wire ends.
    """
    best = ranked[0]
    if best.centre.low is None or best.centre.high is None:
        alone = "" if len(ranked) == 1 else ": the order may be chance"
        return f"{place}, {best.label}, without an interval{alone}"
    beyond = f"; the wire allows {text(limit)}" if limit is not None and best.centre.high > limit else ""
    interval = f" ({interval_text(best.centre.low, best.centre.high, text)}{beyond}){place}"
    close = [one.label for one in ranked[1:] if best.centre.overlaps(one.centre)]
    overlap = f", whose interval overlaps that of {names_text(close)}" if close else ""
    return f"{interval}, {best.label}{overlap}"


def names_text(names: list[str]) -> str:
    """Return a few names, of more how many."""
    return f"{len(names)} other curves" if len(names) > MOST_NAMES else listed(names)
