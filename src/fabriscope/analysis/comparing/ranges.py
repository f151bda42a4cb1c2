"""Neighbouring sizes with one verdict become a range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from fabriscope.analysis.comparing.compared import FORECAST_SCHEMA, PAIR_SCHEMA, Compared, OfPair, by_pair
from fabriscope.analysis.numbers.forecasts import Forecast, joined

RANGE_SCHEMA = {
    **PAIR_SCHEMA,
    "verdict": pl.String,
    **dict.fromkeys(("first_size_bytes", "last_size_bytes", "size_count"), pl.Int64),
    **FORECAST_SCHEMA,
    "block_count": pl.Int64,
    "covers_all": pl.Boolean,
    **dict.fromkeys(
        ("least_ratio", "most_ratio", "low", "high", "ratio_at_first", "ratio_at_last", "low_at_last", "high_at_last"),
        pl.Float64,
    ),
}


@dataclass(frozen=True)
class Range(OfPair):
    """A pair at neighbouring sizes that have one verdict."""

    verdict: str
    first_size_bytes: int
    last_size_bytes: int
    size_count: int
    blocks_to_decide: Forecast | None
    """The most that a size of the range needs."""
    block_count: int
    """The fewest that one has."""
    covers_all: bool
    """The pair has no other range."""
    least_ratio: float
    most_ratio: float
    """Of the ratios as they are stated, like what follows."""
    low: float | None
    high: float | None
    """Around all intervals."""
    ratio_at_first: float
    ratio_at_last: float
    low_at_last: float | None
    high_at_last: float | None


def ranges(comparisons: Iterable[Compared]) -> list[Range]:
    """Return the runs of neighbouring sizes with one verdict, pair after pair, smallest sizes first."""
    return [one for pair in by_pair(comparisons) for one in _ranges(pair)]


def ranges_frame(rows: Iterable[Range]) -> pl.DataFrame:
    """Return one row for each range, RANGE_SCHEMA."""
    return pl.DataFrame([row.columns() for row in rows], schema=RANGE_SCHEMA)


def _ranges(of_pair: list[Compared]) -> Iterator[Range]:
    rows = sorted(of_pair, key=lambda row: row.message_size_bytes)
    runs = [list(run) for _, run in groupby(rows, key=lambda row: row.verdict)]
    for run in runs:
        first, last = run[0], run[-1]
        lows = [row.stated_low for row in run if row.stated_low is not None]
        highs = [row.stated_high for row in run if row.stated_high is not None]
        yield Range(
            pair=first.pair,
            verdict=first.verdict,
            first_size_bytes=first.message_size_bytes,
            last_size_bytes=last.message_size_bytes,
            size_count=len(run),
            blocks_to_decide=joined(row.blocks_to_decide for row in run),
            block_count=min(row.block_count for row in run),
            covers_all=len(runs) == 1,
            least_ratio=min(row.stated for row in run),
            most_ratio=max(row.stated for row in run),
            low=min(lows) if len(lows) == len(run) else None,
            high=max(highs) if len(highs) == len(run) else None,
            ratio_at_first=first.stated,
            ratio_at_last=last.stated,
            low_at_last=last.stated_low,
            high_at_last=last.stated_high,
        )
