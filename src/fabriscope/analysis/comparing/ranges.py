"""Neighbouring sizes with one verdict become a range."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import polars as pl

from fabriscope.analysis.frames import IDENTITY

PAIR = ("kind", "left", "right", *(f"{side}_{name}" for side in ("left", "right") for name in IDENTITY), "metric_id")
"""The columns that tell one pair of curves from another."""


def ranges(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each run of neighbouring sizes with one verdict.

    Columns: those of the pair, `verdict`, `first_size_bytes`, `last_size_bytes`, `size_count`, `covers_all` (the pair
    has no other range), `least_ratio` and `most_ratio` of the centres, `low` and `high` around all intervals,
    `ratio_at_first`, `ratio_at_last`, `low_at_last`, `high_at_last`, `blocks_to_decide`, the most that a size
    of the range needs, and `block_count`, the fewest that one has.
    """
    rows = list(_ranges(comparisons))
    numbers = dict.fromkeys(
        ("least_ratio", "most_ratio", "low", "high", "ratio_at_first", "ratio_at_last", "low_at_last", "high_at_last"),
        pl.Float64,
    )
    counts = dict.fromkeys(
        ("first_size_bytes", "last_size_bytes", "size_count", "blocks_to_decide", "block_count"), pl.Int64
    )
    schema = {**dict.fromkeys((*PAIR, "verdict"), pl.String), **counts, "covers_all": pl.Boolean, **numbers}
    return pl.DataFrame(rows, schema=schema)


def _ranges(comparisons: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for pair in comparisons.partition_by(PAIR, maintain_order=True):
        rows = pair.sort("message_size_bytes").to_dicts()
        runs = [list(run) for _, run in groupby(rows, key=lambda row: row["verdict"])]
        for run in runs:
            first, last = run[0], run[-1]
            lows, highs, needs = ([row[name] for row in run] for name in ("low", "high", "blocks_to_decide"))
            yield {
                **{name: first[name] for name in PAIR},
                "verdict": first["verdict"],
                "first_size_bytes": first["message_size_bytes"],
                "last_size_bytes": last["message_size_bytes"],
                "size_count": len(run),
                "covers_all": len(runs) == 1,
                "least_ratio": min(row["ratio"] for row in run),
                "most_ratio": max(row["ratio"] for row in run),
                "low": None if None in lows else min(lows),
                "high": None if None in highs else max(highs),
                "ratio_at_first": first["ratio"],
                "ratio_at_last": last["ratio"],
                "low_at_last": last["low"],
                "high_at_last": last["high"],
                "blocks_to_decide": None if None in needs else max(needs),
                "block_count": min(row["block_count"] for row in run),
            }
