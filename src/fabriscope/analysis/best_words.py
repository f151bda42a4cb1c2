"""The best numbers of a run in sentences: how much, at which size, with which interval, and whose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial

from fabriscope.analysis.comparing.compared import FASTER
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.comparing.questions import Question
from fabriscope.analysis.curve import IN_TRUTH, Curve
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.launch_grades import GRADES
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
    rows: tuple[GradedEstimate, ...]
    """The estimates that it is made of."""

    @property
    def is_unreliable(self) -> bool:
        """Return whether all that it is made of has the worst grade."""
        return bool(self.rows) and all(row.grade == GRADES[-1] for row in self.rows)


Leads = AbstractSet[tuple[Curve, Curve, int]]
"""Of the verdicts that can be told: who leads whom at which message size."""


def best_sentences(
    table: Sequence[Summary], estimates: Sequence[GradedEstimate], asked: Sequence[Question] = ()
) -> Iterator[str]:
    """Yield for each placement the least latency and the largest bandwidth, of whoever has them.

    `table` sums the ping-pongs up. Where there are none, the best of what pairs of ranks measured instead is told.
    Whom a verdict of `asked`, which is of ratios inside blocks, sets behind the best is not told to overlap.
    """
    leads = _leads(asked)
    for placement, words in PLACEMENT_NAMES.items():
        rows = [row for row in estimates if row.placement == placement and _is_told(row)]
        head = f"{words[0].upper()}{words[1:]}, "
        ping_pongs = list(_ping_pongs([row for row in table if row.placement == placement], rows, leads))
        if ping_pongs:
            yield f"{head}{'; '.join(ping_pongs)}."
        others = parts([row for row in rows if row.benchmark != PING_PONG], lambda row: row.benchmark)
        if ping_pongs:
            others = [part for part in others if part[0].benchmark == BANDWIDTH]
        yield from (f"{head}{clause}." for part in others[:MOST_BENCHMARKS] if (clause := _clause(part, leads)))


def _leads(asked: Sequence[Question]) -> Leads:
    replies = (reply for question in asked for reply in question.replies if reply.leader and reply.is_reliable)
    found = set()
    for point in (point for reply in replies for point in reply.points):
        left, right, size_bytes = point.pair.left_curve, point.pair.right_curve, point.message_size_bytes
        found.add((left, right, size_bytes) if point.verdict == FASTER else (right, left, size_bytes))
    return found


def _is_told(row: GradedEstimate) -> bool:
    is_asked = not row.twin and IN_TRUTH not in row.layer
    return is_asked and row.layer != "null" and not row.impossible and kind_of(row.benchmark).pattern == PAIR


def _ping_pongs(table: Sequence[Summary], rows: Sequence[GradedEstimate], leads: Leads) -> Iterator[str]:
    fast = sorted(((row.latency_ns, row) for row in table if row.latency_ns is not None), key=lambda one: one[0])
    rates = ((row.bandwidth_bytes_per_s, row) for row in table if row.bandwidth_bytes_per_s is not None)
    wide = sorted(rates, key=lambda one: one[0], reverse=True)
    timed = [row for row in rows if row.benchmark == PING_PONG and base_of(row.metric_id) == TIME]
    if fast:
        small = [row for row in timed if row.message_size_bytes < SMALL_MESSAGE_BYTES]
        times = [_Point(row.label(), row.latency, _of_curve(row, small)) for _, row in fast]
        yield f"the least latency of small messages is {time_text(fast[0][0])}{_whose(times, leads, time_text)}"
    elif timed and (clause := _clause(timed, leads)):
        yield clause
    if wide and (wide[0][1].bandwidth_message_size_bytes or 0) > SMALL_MESSAGE_BYTES:
        rate, most = wide[0]
        limit = rate / most.share_of_limit if most.share_of_limit else None
        place = f" at {size_text(most.bandwidth_message_size_bytes)}{_share(rate, limit)}"
        speeds = [_Point(row.label(), row.bandwidth, _at_largest(row, timed)) for _, row in wide]
        yield f"the largest ping-pong bandwidth is {rate_text(rate)}{_whose(speeds, leads, rate_text, place, limit)}"


def _of_curve(curve: Curve, rows: Sequence[GradedEstimate]) -> tuple[GradedEstimate, ...]:
    return tuple(row for row in rows if row.curve == curve.curve)


def _at_largest(one: Summary, timed: Sequence[GradedEstimate]) -> tuple[GradedEstimate, ...]:
    """Return the estimates of the times that a curve's largest ping-pong bandwidth is the same as."""
    return tuple(row for row in _of_curve(one, timed) if row.message_size_bytes == one.bandwidth_message_size_bytes)


def _clause(rows: Sequence[GradedEstimate], leads: Leads) -> str:
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
    points = [_Point(_label(row, rows), Centre(row.value, row.low, row.high), (row,)) for row in of_curve.values()]
    text = partial(value_text, metric_id=metric_id)
    head = f"the largest {kind.title}" if is_rate else f"the least {_time_name(kind, metric_id)}"
    size = f" at {size_text(best.message_size_bytes)}{_share(best.value, limit)}"
    return f"{head} is {text(best.value)}{_whose(points, leads, text, size, limit)}"


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


def _whose(
    ranked: Sequence[_Point], leads: Leads, text: NumberText, place: str = "", limit: float | None = None
) -> str:
    """Return the best number's interval, where it is, and whose; where others' intervals overlap, nobody's alone.

    Others of whom a verdict says that the best one leads them do not overlap, whatever the single values say.
    An interval knows nothing of the wire: one that goes on beyond the limit of a rate says where the wire ends.
    """
    best, *others = ranked
    others = [one for one in others if not _is_behind(best, one, leads)]
    if best.centre.low is None or best.centre.high is None:
        alone = "" if len(ranked) == 1 else ": the order may be chance"
        return f"{place}, {best.label}, without an interval{alone}"
    beyond = f"; the wire allows {text(limit)}" if limit is not None and best.centre.high > limit else ""
    interval = f" ({interval_text(best.centre.low, best.centre.high, text)}{beyond}){place}"
    close = [one.label for one in others if best.centre.overlaps(one.centre)]
    overlap = f", whose interval overlaps that of {names_text(close)}" if close else ""
    is_vain = others and all(one.is_unreliable for one in (best, *others))
    vain = " (all of grade D, unreliable: this decides nothing)" if is_vain else ""
    return f"{interval}, {best.label}{overlap}{vain}"


def _is_behind(best: _Point, other: _Point, leads: Leads) -> bool:
    """Return whether verdicts set another number behind the best: at all of the sizes that it is made of."""
    curve = best.rows[0].curve if best.rows else None
    return bool(other.rows) and all((curve, row.curve, row.message_size_bytes) in leads for row in other.rows)


def names_text(names: list[str]) -> str:
    """Return a few names, of more how many."""
    return f"{len(names)} other curves" if len(names) > MOST_NAMES else listed(names)
