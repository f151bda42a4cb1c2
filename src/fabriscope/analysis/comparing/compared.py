"""Two curves set against each other at one size: what is compared, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.numbers.forecasts import Forecast
from fabriscope.analysis.rows import parts

FASTER, SLOWER, EQUIVALENT, UNDECIDED = "faster", "slower", "equivalent", "undecided"
VERDICTS = (FASTER, SLOWER, EQUIVALENT, UNDECIDED)
LEADS = (FASTER, SLOWER)
_OTHER_WAY = {FASTER: SLOWER, SLOWER: FASTER}
PAIR_SCHEMA = {
    "kind": pl.String,
    "left": pl.String,
    "right": pl.String,
    **{f"{side}_{name}": pl.String for side in ("left", "right") for name in IDENTITY},
    "metric_id": pl.String,
}
"""The columns that tell one pair of curves from another."""
FORECAST_SCHEMA = {"least_blocks_to_decide": pl.Int64, "blocks_to_decide": pl.Int64}
COMPARISON_SCHEMA = {
    **PAIR_SCHEMA,
    "message_size_bytes": pl.Int64,
    "left_value": pl.Float64,
    "right_value": pl.Float64,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "block_count": pl.Int64,
    "p_different": pl.Float64,
    "p_equivalent": pl.Float64,
    "verdict": pl.String,
    **FORECAST_SCHEMA,
    "method": pl.String,
    **dict.fromkeys(("stated", "stated_low", "stated_high"), pl.Float64),
}


@dataclass(frozen=True)
class CurvePair:
    """Two curves that are compared."""

    kind: str
    left: str
    """What tells the left one from the right one, in words."""
    right: str
    left_curve: Curve
    right_curve: Curve
    metric_id: str

    def columns(self) -> dict[str, object]:
        """Return what a frame has of it, PAIR_SCHEMA."""
        return {
            "kind": self.kind,
            "left": self.left,
            "right": self.right,
            "metric_id": self.metric_id,
            **{f"left_{name}": value for name, value in vars(self.left_curve).items()},
            **{f"right_{name}": value for name, value in vars(self.right_curve).items()},
        }


@dataclass(frozen=True)
class OfPair:
    """What is said of a pair of curves."""

    pair: CurvePair

    def columns(self) -> dict[str, object]:
        """Return what a frame has of it; the command `compare` prints the same as JSON."""
        found = {**self.pair.columns(), **{name: value for name, value in vars(self).items() if name != "pair"}}
        needed = getattr(self, "blocks_to_decide", None)
        ends = needed if isinstance(needed, Forecast) else (None, None)
        return {**found, **dict(zip(FORECAST_SCHEMA, ends, strict=True))}


@dataclass(frozen=True)
class Compared(OfPair):
    """A pair at one size."""

    message_size_bytes: int
    left_value: float
    right_value: float
    ratio: float
    """How many times as fast the left one is."""
    low: float | None
    high: float | None
    """The ratio's interval; None for one block."""
    block_count: int
    p_different: float | None
    p_equivalent: float | None
    verdict: str
    """On the left one: one of VERDICTS."""
    blocks_to_decide: Forecast | None
    method: str
    stated: float
    """The ratio as sentences state it: of a lead less what being picked adds to it (numbers/selected.py)."""
    stated_low: float | None
    stated_high: float | None

    def other_way(self) -> Compared:
        """Return the same with its sides changed."""
        pair = self.pair
        sides = CurvePair(pair.kind, pair.right, pair.left, pair.right_curve, pair.left_curve, pair.metric_id)
        low, high = turned(self.low, self.high)
        stated_low, stated_high = turned(self.stated_low, self.stated_high)
        return replace(
            self, pair=sides, left_value=self.right_value, right_value=self.left_value, ratio=1 / self.ratio, low=low,
            high=high, verdict=_OTHER_WAY.get(self.verdict, self.verdict), stated=1 / self.stated,
            stated_low=stated_low, stated_high=stated_high,
        )  # fmt: skip


Said = TypeVar("Said", bound=OfPair)


def comparisons_frame(rows: Iterable[Compared]) -> pl.DataFrame:
    """Return one row for each pair and size, COMPARISON_SCHEMA."""
    return pl.DataFrame([row.columns() for row in rows], schema=COMPARISON_SCHEMA)


def turned(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the ends of a ratio's interval, of the ratio the other way round."""
    return None if high is None else 1 / high, None if low is None else 1 / low


def by_pair(rows: Iterable[Said]) -> list[list[Said]]:
    """Return what is said of each pair together, pairs in the order in which they are first spoken of."""
    return parts(rows, lambda row: row.pair)
