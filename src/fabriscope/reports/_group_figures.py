"""Figures of what many ranks do at once: over the message size for each layout, and over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.group_words import name_of
from fabriscope.analysis.words import size_text
from fabriscope.model.benchmarks import PAIR, PAIRS, kind_of
from fabriscope.model.ranks import CYCLIC, layout_from

MOST_LAYOUTS = 3
"""So many layouts of ranks have figures of their own; of more, only the largest."""
COUNTS = ("rank_count", "pair_count")
"""Axes along which figures stand that are not drawn over the message size."""


def is_of_group() -> pl.Expr:
    """Return what tells the rows of benchmarks of many ranks from the others."""
    return ~pl.col("benchmark").map_elements(lambda name: kind_of(name).pattern == PAIR, return_dtype=pl.Boolean)


def shown_layouts(part: pl.DataFrame, column: str = "ranks") -> list[str]:
    """Return the layouts whose figures a report shows: all of few, the largest of many."""
    found = part[column].unique(maintain_order=True).to_list()
    return found if len(found) <= MOST_LAYOUTS else [max(found, key=lambda label: layout_from(label).rank_count)]


def over_ranks(part: pl.DataFrame) -> Iterator[tuple[str, str, str, pl.DataFrame]]:
    """Yield axis, id, title and rows of the figures of one benchmark and metric over swept numbers of ranks.

    One for the smallest and one for the largest message; where layouts differ in more than the number of ranks, the
    column `hue` tells them apart.
    """
    if part["rank_count"].n_unique() < 2:
        return
    first = part.row(0, named=True)
    is_pairs = kind_of(first["benchmark"]).pattern == PAIRS
    axis = "pairs" if is_pairs else "ranks"
    place = PLACEMENT_NAMES[first["placement"]]
    sizes = sorted(part["message_size_bytes"].unique().to_list())
    for size in dict.fromkeys((sizes[0], sizes[-1])):
        at_size = part.filter(pl.col("message_size_bytes") == size)
        size_words = f", {size_text(size)}" if kind_of(first["benchmark"]).has_size else ""
        title = f"{name_of(first['benchmark'], first['metric_id'])} over the number of {axis}{size_words}, {place}"
        yield COUNTS[is_pairs], f"over-{axis}-{size}", title, _with_hues(at_size)


def _with_hues(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a column `hue` where the same number of ranks was laid out in several ways."""
    layouts = [layout_from(ranks) for ranks in rows["ranks"].unique().to_list()]
    has_cyclic = any(layout.arrangement == CYCLIC for layout in layouts)
    blocks = [layout.rank_count for layout in layouts if layout.arrangement != CYCLIC]
    has_several = len(set(blocks)) < len(blocks)
    if not has_cyclic and not has_several:
        return rows
    return rows.with_columns(pl.Series("hue", [_hue(row, has_several) for row in rows.iter_rows(named=True)]))


def _hue(row: dict[str, Any], has_several: bool) -> str:
    layout = layout_from(row["ranks"])
    words = layout.spread_text() if has_several else layout.arrangement
    return f"{row['fabric']}, {words}" if row["fabric"] else words


def along(rows: pl.DataFrame, axis: str) -> pl.DataFrame:
    """Return estimates or launch values with the number of ranks or pairs in the place of the message size."""
    count = pl.col("rank_count").cast(pl.Int64)
    return rows.with_columns((count // 2 if axis == "pair_count" else count).alias("message_size_bytes"))
