"""Figures of what many ranks do at once: over the message size for each layout, and over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.group_words import name_of
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import size_text
from fabriscope.model.benchmark_kind import PAIR, PAIRS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.ranks import CYCLIC, layout_from

MOST_LAYOUTS = 3
"""Layouts of ranks with figures of their own; of more, only the largest has any."""
COUNTS = ("rank_count", "pair_count")
"""Axes along which figures stand that are not drawn over the message size."""


CaseT = TypeVar("CaseT", bound=PlannedCase)
Hues = dict[tuple[str | None, str], str]


@dataclass(frozen=True)
class OverRanks:
    """What a figure over the number of ranks or pairs is drawn of."""

    axis: str
    name: str
    """The end of the figure's id."""
    title: str
    rows: Sequence[GradedEstimate]
    hues: Hues
    """What a colour stands for, where layouts differ in more than the number of ranks."""


def is_of_group(benchmark: str) -> bool:
    """Return what tells benchmarks of many ranks from the others."""
    return kind_of(benchmark).pattern != PAIR


def shown_layouts(labels: Iterable[str]) -> list[str]:
    """Return the layouts whose figures a report shows: all of few, the largest of many."""
    found = list(dict.fromkeys(labels))
    return found if len(found) <= MOST_LAYOUTS else [max(found, key=lambda label: layout_from(label).rank_count)]


def over_ranks(part: Sequence[GradedEstimate]) -> Iterator[OverRanks]:
    """Yield the figures of one benchmark and metric over swept numbers of ranks.

    One for the smallest and one for the largest message.
    """
    if len({row.rank_count for row in part}) < 2:
        return
    first = part[0]
    is_pairs = kind_of(first.benchmark).pattern == PAIRS
    axis = "pairs" if is_pairs else "ranks"
    place = PLACEMENT_NAMES[first.placement]
    sizes = sorted({row.message_size_bytes for row in part})
    for size in dict.fromkeys((sizes[0], sizes[-1])):
        at_size = [row for row in part if row.message_size_bytes == size]
        size_words = f", {size_text(size)}" if kind_of(first.benchmark).has_size else ""
        title = f"{name_of(first.benchmark, first.metric_id)} over the number of {axis}{size_words}, {place}"
        yield OverRanks(COUNTS[is_pairs], f"over-{axis}-{size}", title, at_size, _hues(at_size))


def _hues(rows: Sequence[GradedEstimate]) -> Hues:
    """Return what colours stand for where the same number of ranks was laid out in several ways, else nothing."""
    layouts = [layout_from(ranks) for ranks in {row.ranks for row in rows}]
    has_cyclic = any(layout.arrangement == CYCLIC for layout in layouts)
    blocks = [layout.rank_count for layout in layouts if layout.arrangement != CYCLIC]
    has_several = len(set(blocks)) < len(blocks)
    if not has_cyclic and not has_several:
        return {}
    return {(row.fabric, row.ranks): _hue(row, has_several) for row in rows}


def _hue(row: PlannedCase, has_several: bool) -> str:
    layout = layout_from(row.ranks)
    words = layout.spread_text() if has_several else layout.arrangement
    return f"{row.fabric}, {words}" if row.fabric else words


def along(rows: Iterable[CaseT], axis: str) -> list[CaseT]:
    """Return estimates or launch values with the number of ranks or pairs in the place of the message size."""
    pair = 2 if axis == COUNTS[1] else 1
    return [replace(row, message_size_bytes=row.rank_count // pair) for row in rows]
