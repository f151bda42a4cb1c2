"""The verdicts of many pairs as a short table: what is told alike shares a row, the most telling comes first."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fabriscope.analysis.comparing.compared import FASTER, LEADS, SLOWER, UNDECIDED, VERDICTS, by_pair
from fabriscope.analysis.comparing.findings import MOST_RANGES, range_place, where_text
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.numbers.forecasts import joined
from fabriscope.analysis.words import advantage_range_text, sizes_text

MOST_WHERES = 2
"""More variants, if they are all that there are, are counted and not named."""
Ranges = tuple[Range, ...]


@dataclass(frozen=True)
class Item:
    """One thing that is told of a pair: who leads (or that nobody does), and where, by how much."""

    verdict: str
    name: str
    text: str


@dataclass(frozen=True)
class VerdictLine:
    """What is told of some pairs in some variants: benchmark, layer and so on."""

    where: str
    pair: str
    said: list[Item]


@dataclass(frozen=True)
class _Told:
    """What is told of some pairs in some variants: who leads, the same at the same sizes, or that nobody does."""

    wheres: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    ranges: Ranges
    """Of pairs with a lead those of one pair, with the widest ratios; else those of every pair, one after the other."""

    @property
    def pattern(self) -> Hashable:
        """Return the verdicts with their sizes; None where nobody leads at any size."""
        if not self._leads():
            return None
        return tuple((one.verdict, one.first_size_bytes, one.last_size_bytes) for one in self.ranges)

    @property
    def rank(self) -> tuple[int, float]:
        """Return the place among others: first where the lead changes, last where there is none; then by how much."""
        ratios = [ratio for one in self.ranges for ratio in (one.least_ratio, one.most_ratio)]
        return -len(self._leads()), -max(abs(math.log(ratio)) for ratio in ratios)

    def _leads(self) -> set[str]:
        return {one.verdict for one in self.ranges} & {*LEADS}


def verdict_lines(ranges: Iterable[Range]) -> list[VerdictLine]:
    """Return what is told of one kind of comparison, from its ranges.

    Every pair is in one line. Pairs with the same leads at the same sizes share it, with the widest of their ratios; so
    do those of which nobody leads.
    """
    told = [
        _Told((where_text(rows[0].pair),), ((rows[0].pair.left, rows[0].pair.right),), tuple(rows))
        for rows in by_pair(ranges)
    ]
    everywhere: dict[Hashable, int] = {}
    for one in told:
        everywhere[one.pairs] = everywhere.get(one.pairs, 0) + 1
    told = _merged(told, lambda one: (one.wheres, one.pattern and (one.pairs, one.pattern)))
    told = _merged(told, lambda one: (one.pairs, one.pattern))
    return [
        VerdictLine(
            _wheres_text(one.wheres, all(everywhere[(pair,)] == len(one.wheres) for pair in one.pairs)),
            _pairs_text(one.pairs),
            _said(one.ranges, len(one.wheres) * len(one.pairs)),
        )
        for one in sorted(told, key=lambda one: one.rank)
    ]


def _merged(told: Iterable[_Told], key: Callable[[_Told], Hashable]) -> list[_Told]:
    groups: dict[Hashable, _Told] = {}
    for one in told:
        known = groups.get(key(one))
        groups[key(one)] = one if known is None else _together(known, one)
    return list(groups.values())


def _together(one: _Told, other: _Told) -> _Told:
    wheres = tuple(dict.fromkeys((*one.wheres, *other.wheres)))
    pairs = tuple(dict.fromkeys((*one.pairs, *other.pairs)))
    if one.pattern is None:
        return _Told(wheres, pairs, (*one.ranges, *other.ranges))
    return _Told(wheres, pairs, tuple(_widest(*both) for both in zip(one.ranges, other.ranges, strict=True)))


def _widest(one: Range, other: Range) -> Range:
    return replace(
        one,
        least_ratio=min(one.least_ratio, other.least_ratio),
        most_ratio=max(one.most_ratio, other.most_ratio),
        blocks_to_decide=joined((one.blocks_to_decide, other.blocks_to_decide)),
    )


def _said(ranges: Ranges, pair_count: int) -> list[Item]:
    is_of_one = pair_count == 1 or any(one.verdict in LEADS for one in ranges)
    if is_of_one and len(ranges) <= MOST_RANGES:
        return [_item([one], range_place(ranges, index)) for index, one in enumerate(ranges)]
    total = sum(one.size_count for one in ranges)
    items = []
    for verdict in VERDICTS:
        some = [one for one in ranges if one.verdict == verdict]
        count = sum(one.size_count for one in some)
        if is_of_one and some:
            ends = sizes_text(some[0].first_size_bytes, some[-1].last_size_bytes)
            items.append(_item(some, f"at {count} of {total} sizes, {ends}"))
        elif some:
            items.append(_item(some, f"in {count} of {total} comparisons" if count < total else "at every size"))
    return items


def _item(ranges: Sequence[Range], place: str) -> Item:
    first = ranges[0]
    least, most = min(one.least_ratio for one in ranges), max(one.most_ratio for one in ranges)
    if first.verdict == FASTER:
        return Item(FASTER, first.pair.left, f"{place}, {advantage_range_text(least, most)}")
    if first.verdict == SLOWER:
        return Item(SLOWER, first.pair.right, f"{place}, {advantage_range_text(1 / most, 1 / least)}")
    needs = [one.blocks_to_decide for one in ranges if one.blocks_to_decide]
    advice = f" ({joined(needs)} blocks would decide)" if needs and first.verdict == UNDECIDED else ""
    return Item(first.verdict, first.verdict, f"{place}{advice}")


def _pairs_text(pairs: Sequence[tuple[str, str]]) -> str:
    """Return `a / b`, for all pairs of some names `any two of a, b and c`."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if len(names) > 2 and {frozenset(pair) for pair in pairs} == {frozenset(two) for two in combinations(names, 2)}:
        return f"any two of {', '.join(names[:-1])} and {names[-1]}"
    return "; ".join(f"{left} / {right}" for left, right in pairs)


def _wheres_text(wheres: Sequence[str], are_all: bool) -> str:
    """Return what all variants have in common, and then what each has of its own unless there are no others."""
    if len(wheres) == 1:
        return wheres[0]
    parts = [where.split(", ") for where in wheres]
    common = [part for part in parts[0] if all(part in other for other in parts)]
    if are_all and len(wheres) > MOST_WHERES:
        return f"{', '.join(common)}, in all {len(wheres)} variants"
    own = [", ".join(part for part in one if part not in common) or "default" for one in parts]
    return f"{', '.join(common)}: {'; '.join(own)}" if common else "; ".join(wheres)
