"""Where more sizes would tell more: the intervals in which a lead passes from one to another, or a protocol changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from fabriscope.analysis.comparing.compared import by_pair
from fabriscope.analysis.comparing.comparisons import KINDS, compared
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.crossovers import MOST_TOLD, Crossover, crossovers
from fabriscope.analysis.comparing.findings import where_text
from fabriscope.analysis.comparing.ranges import Range, ranges
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.values.fits import fitted
from fabriscope.analysis.values.launch_values import launch_values, without_anchors
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.analysis.words import size_text
from fabriscope.model.manifest import Near
from fabriscope.model.run_data import RunData

PER_INTERVAL = 3
"""Sizes added inside one interval, which leaves a quarter of it."""
NARROW = 1.05
"""An interval whose ends are closer than this is narrow enough."""
STEPS = 16
"""A size that is added is a multiple of about a 16th of the gap that it divides, a power of two."""


@dataclass(frozen=True)
class Interval:
    """Two neighbouring sizes between which something changes."""

    what: str
    """In words: `ping-pong, TCP, between hosts: the lead passes to gige`."""
    curves: tuple[Curve, ...]
    """Both sides of a crossover, or the curve that a protocol's change is of."""
    above_bytes: int
    below_bytes: int
    level: tuple[int, int] | None = None
    """The first and the last size inside it at which neither side is shown to lead: nothing is to be had between."""

    @property
    def ratio(self) -> float:
        """Return how many times as large the upper end is as the lower."""
        return self.below_bytes / max(1, self.above_bytes)


def intervals(run: RunData, kinds: Iterable[str] = ()) -> list[Interval]:
    """Return the intervals of a run that are not narrow yet: of leads first, the widest first.

    `kinds` of comparison, or all. Only what our engine measured counts: other programs choose their sizes themselves.
    """
    everything = launch_values(run, anchors=True).filter(pl.col("twin") == "", pl.col("instrument") == "engine")
    found = [*_of_leads(without_anchors(everything), run, tuple(kinds)), *_of_protocols(everything)]
    return [one for one in found if one.ratio > NARROW and one.below_bytes - one.above_bytes > 1]


def _of_leads(values: pl.DataFrame, run: RunData, kinds: tuple[str, ...]) -> list[Interval]:
    rules, turns = rules_of(run), run.once(turn_series)
    asked = [kind for name, kind in KINDS.items() if name != CONTROL and (name in kinds or not kinds)]
    found = []
    for rows in by_pair(ranges(row for kind in asked for row in compared(values, kind, rules, turns))):
        pair, changes = rows[0].pair, crossovers(rows)
        for one in changes if len(changes) <= MOST_TOLD else ():
            what = f"{where_text(pair)}: the lead passes to {one.leader}"
            curves = pair.left_curve, pair.right_curve
            found.append(Interval(what, curves, one.above_bytes, one.below_bytes, level_of(rows, one)))
    return sorted(found, key=lambda one: -one.ratio)


def level_of(rows: Sequence[Range], one: Crossover) -> tuple[int, int] | None:
    """Return between which sizes inside a crossover neither side is shown to lead, from the pair's ranges."""
    ends = one.above_bytes, one.below_bytes
    inside = [row for row in rows if ends[0] < row.first_size_bytes <= row.last_size_bytes < ends[1]]
    return (inside[0].first_size_bytes, inside[-1].last_size_bytes) if inside else None


def _of_protocols(values: pl.DataFrame) -> Iterator[Interval]:
    for piece, following in pairwise(fitted(values)):
        if piece.curve == following.curve:
            ends = piece.last_size_bytes, following.first_size_bytes
            yield Interval(f"{piece.label()}: the protocol changes", (piece.curve,), *ends)


def sizes_inside(interval: Interval, taken: Iterable[int], count: int) -> list[int]:
    """Return at most a number of sizes inside an interval, none of them taken, each in the middle of the widest gap."""
    low, high = interval.above_bytes, interval.below_bytes
    level = interval.level or (high, low)
    points = sorted({low, high, *(size for size in taken if low < size < high)})
    chosen: list[int] = []
    while len(chosen) < count:
        gaps = [gap for gap in pairwise(points) if not (level[0] <= gap[0] and gap[1] <= level[1])]
        gaps = [gap for gap in gaps if gap[1] - gap[0] > 1]
        if not gaps:
            break
        one, other = max(gaps, key=lambda gap: round(math.log(gap[1] / max(1, gap[0])), 6))
        step = 1 << max(0, math.floor(math.log2(max(1, (other - one) // STEPS))))
        middle = round(math.sqrt(max(1, one) * other) / step) * step
        middle = min(max(middle, one + 1), other - 1)
        chosen.append(middle)
        points = sorted([*points, middle])
    return sorted(chosen)


def words_of(near: Near) -> str:
    """Return why sizes were added, where, and which."""
    sizes = ", ".join(size_text(size) for size in near.sizes_bytes)
    place = f"between {size_text(near.above_bytes)} and {size_text(near.below_bytes)}"
    return f"{near.what} {place} ({sizes})"
