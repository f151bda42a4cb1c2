"""What several programs state of one thing, and how much of their difference is left under one definition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.comparisons import Curves, Key, blurs_of, points_of, steps_of
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, family_wise, judge
from fabriscope.analysis.rows import parts, rows_of
from fabriscope.analysis.values.estimates import Centre, Estimate, estimates_of
from fabriscope.analysis.values.restated import ENGINE, TRIALS, restated, restatements
from fabriscope.analysis.values.stopping import Rules
from fabriscope.model.metrics import metric_of
from fabriscope.model.quantity import PERCENTILES, SENDS_WHAT_CAME, Completion, Operations, Ranks, Timing
from fabriscope.model.run_data import RunData

_SAME = "the same definition"
_WAYS = ("stream_", "sent_")
_DERIVED = ("ping_pong_bandwidth", "overlap")
"""Computed of numbers that are reconciled themselves, or no speed."""


@dataclass(frozen=True)
class Statement:
    """What one program states, beside ours by its definition."""

    instrument: str
    metric_id: str
    printed: Centre
    """As it is printed, in the metric's unit, over launches."""
    ours: float | None
    """Ours by the same definition; None where it cannot be computed."""
    excess: Centre | None
    """The printed number over ours, from the blocks that both were measured in."""
    how: str
    """How ours was taken, or why it cannot be."""
    p_alike: float = math.nan
    """Of the hypothesis that both are the same by one definition; of fewer than three blocks there is none."""
    is_left_over: bool = False
    """Whether the definition does not explain the difference: in at most 5 % of runs that is false of any size."""


@dataclass(frozen=True)
class Reconciled:
    """All statements on one thing at one size."""

    curve: Curve
    """Whose, as if ours had measured it."""
    what: str
    """`latency`, `bandwidth` ..."""
    message_size_bytes: int
    statements: tuple[Statement, ...]

    @property
    def spread_before(self) -> float:
        """Return how many times the largest printed number is the least of another program, of like statistics."""
        numbers = [(one, one.printed.value) for one in self.statements if one.printed.value]
        every = [[(one.instrument, value) for one, value in like] for like in (*parts(numbers, _like), numbers)]
        spreads = [_spread(like) for like in every]
        return max(spreads[:-1]) or spreads[-1]

    @property
    def spread_after(self) -> float | None:
        """Return the same of numbers over ours, each by its own definition; None for none."""
        told = [(one, one.excess.value) for one in self.statements if one.excess is not None and one.excess.value]
        if len(told) < 2:
            return None
        over_ours = [[(one.instrument, over) for one, over in like] for like in parts(told, _like)]
        return max(_spread([(ENGINE, 1.0), *like]) for like in over_ours)

    @property
    def of_several(self) -> list[str]:
        """Return the programs that print several statistics that are not set against each other."""
        kinds = {(one.instrument, _like((one, 0.0))) for one in self.statements}
        names = [name for name, _ in sorted(kinds, key=str)]
        return [name for name in dict.fromkeys(names) if names.count(name) > 1]

    @property
    def left_over(self) -> list[Statement]:
        """Return the statements that the definition does not explain."""
        return [one for one in self.statements if one.is_left_over]


def _like(told: tuple[Statement, float]) -> tuple[Operations | None, Ranks | None]:
    """Return which statistic a number is: a median and a mean are both of the middle, a 99th percentile is not.

    What the fastest or the slowest rank took is none of what all took, either.
    """
    quantity = metric_of(told[0].metric_id).quantity
    tail = quantity.operations if quantity.operations in PERCENTILES else None
    return tail, quantity.ranks if quantity.ranks in (Ranks.LEAST, Ranks.MOST) else None


def _spread(numbers: list[tuple[str, float]]) -> float:
    """Return how many times the number of one program is that of another at most; 0 where there is one program."""
    ratios = [more / less for (name, more), (other, less) in permutations(numbers, 2) if name != other]
    return max(ratios, default=0.0)


def reconciled(run: RunData, values: pl.DataFrame, rules: Rules) -> list[Reconciled]:
    """Return every thing of which two programs or more state something, by curve and size.

    `values` are launch values. A number and ours by its definition are set against each other inside blocks.
    """
    sound = values.filter(pl.col("layer") != "null", ~pl.col("impossible"), pl.col("value") > 0)
    if sound.select("instrument").n_unique() < 2:
        return []
    ways = restatements(sound)
    printed, ours = _Told.of(sound, rules), _Told.of(restated(run, sound, ways), rules)
    how = {one.metric_id: one.how for one in ways}
    stated = [key for key in printed.points if _thing(key) not in _DERIVED]
    found = []
    for group in parts(stated, lambda key: (_link(key), _thing(key))):
        for size in sorted({size for key in group for size in printed.points[key]}):
            keys = [key for key in group if size in printed.points[key]]
            if len({key.curve.instrument for key in keys}) > 1:
                told = [_statement(key, size, (printed, ours), how, rules) for key in keys]
                found.append(Reconciled(_link(group[0]), _thing(group[0]), size, tuple(told)))
    return _judged(found, rules)


def _judged(found: list[Reconciled], rules: Rules) -> list[Reconciled]:
    """Return the same, with what is left over: the sizes of one number of one program are tested together."""
    statements = [list(one.statements) for one in found]
    places = [(row, column) for row, some in enumerate(statements) for column in range(len(some))]

    def family(place: tuple[int, int]) -> tuple[Curve, str, str, str]:
        one, said = found[place[0]], statements[place[0]][place[1]]
        return one.curve, one.what, said.instrument, said.metric_id

    for alike in parts(places, family):
        adjusted = family_wise([statements[row][column].p_alike for row, column in alike])
        for (row, column), p_alike in zip(alike, adjusted, strict=True):
            is_left_over = bool(p_alike < rules.error_rate)
            statements[row][column] = replace(
                statements[row][column], p_alike=float(p_alike), is_left_over=is_left_over
            )
    return [replace(one, statements=tuple(some)) for one, some in zip(found, statements, strict=True)]


@dataclass(frozen=True)
class _Told:
    """Numbers of launches, and what they come to, as a report's other tables have it."""

    points: Curves
    centres: Mapping[tuple[Key, int], Centre]
    steps: Mapping[Key, Mapping[int, float]]

    @classmethod
    def of(cls, values: pl.DataFrame, rules: Rules) -> _Told:
        rows = rows_of(estimates_of(values, rules.method), Estimate)
        centres = {
            (Key(row.curve, row.metric_id), row.message_size_bytes): Centre(row.value, row.low, row.high)
            for row in rows
        }
        return cls(points_of(values), centres, steps_of(values))


def _link(key: Key) -> Curve:
    return replace(key.curve, instrument=ENGINE)


def _thing(key: Key) -> str:
    """Return what is stated, whichever program's way: a stream's bandwidth is a bandwidth too."""
    what = metric_of(key.metric_id).quantity.what
    return next((what.removeprefix(way) for way in _WAYS if what.startswith(way)), what)


def _statement(key: Key, size: int, told: tuple[_Told, _Told], how: Mapping[str, str], rules: Rules) -> Statement:
    printed, restated_ours = told
    name, centre, by_us = key.curve.instrument, printed.centres[key, size], replace(key, curve=_link(key))
    if name == ENGINE:
        return Statement(name, key.metric_id, centre, centre.value, Centre(1.0, None, None), _SAME)
    ours, words = (printed, _SAME) if (by_us, size) in printed.centres else (restated_ours, how.get(key.metric_id, ""))
    like, theirs = ours.points.get(by_us, {}).get(size), printed.points[key][size]
    blocks = sorted(theirs.keys() & like.keys()) if like else []
    if like is None or not blocks:
        has_median = (Key(by_us.curve, _median_id(key.metric_id)), size) in printed.centres
        return Statement(name, key.metric_id, centre, None, None, _why_not(key, like, has_median=has_median))
    blurs = blurs_of(printed.steps.get(key, {}), ours.steps.get(by_us, {}))
    ratios = [theirs[block] / like[block] for block in blocks]
    ratio = judge(rules.mean(np.log(ratios), blurs.get(size, 0.0)))
    ends = [math.exp(end) if math.isfinite(end) else None for end in (ratio.low, ratio.high)]
    p_alike = ratio.p_different if ratio.block_count >= LEAST_BLOCKS else math.nan
    value, excess = ours.centres[by_us, size].value, Centre(math.exp(ratio.centre), *ends)
    return Statement(name, key.metric_id, centre, value, excess, words, p_alike)


def _median_id(metric_id: str) -> str:
    return replace(metric_of(metric_id).quantity, operations=Operations.MEDIAN).metric_id


def _why_not(key: Key, like: Mapping[int, float] | None, *, has_median: bool) -> str:
    """Return why there is nothing of ours beside a number; `has_median`: ours is there by another statistic."""
    if like is not None:
        return "they share no block of launches"
    quantity = metric_of(key.metric_id).quantity
    if quantity.completion is Completion.LOCAL:
        return "it counts what its own system took, whether it arrived or not; ours counts what arrived"
    if quantity.timing not in (Timing.OWN_CLOCK, Timing.COMMON_CLOCK):
        return f"it is timed another way: measure ours with `timing: {quantity.timing.value}` to set it beside"
    if quantity.operations is Operations.LEAST_MEAN and has_median:
        return f"ours had fewer than {TRIALS} bursts in each launch: a longer `budget` makes more"
    if quantity.what in SENDS_WHAT_CAME and not has_median:
        return f"it has other buffers: measure ours with `buffers: {quantity.buffers.value}` to set it beside"
    return "our engine measured nothing here from which it could be computed"
