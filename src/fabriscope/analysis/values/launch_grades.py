"""What a number's launches say for its grade: how many there are, how wide their interval, what the machine did.

The grade is a prediction: of numbers with grade A at least 93 % of intervals hold the truth, and half lie within 2 % of
it (`campaigns.statistics.grades`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import polars as pl

from fabriscope.analysis.values.estimates import Estimate
from fabriscope.analysis.values.kept_state import KeptState
from fabriscope.model.record import LaunchRecord

GRADES = ("A", "B", "C", "D")
LAUNCHES = ((5, 0), (3, 1), (2, 2))
"""Launches from which on a grade is not worse than this place; of one launch nothing can be said."""
HALF_WIDTHS = ((0.05, 0), (0.15, 1), (0.5, 2))
"""The longer half of the interval, as a share of the value, up to this: half of such numbers lie within 0.3 of it."""
WIDE = 10.0
"""From such a half on an interval is told by the times that its end has of the value."""
TREND_P = 0.02
"""Five launches that only rise, or only fall, come by chance in one of 60 cases."""
Reason = tuple[int, str]
"""The place of the best grade that it leaves, and why."""


def grade_of(reasons: Iterable[Reason]) -> str:
    """Return the worst grade that any reason leaves."""
    return GRADES[max((place for place, _ in reasons), default=0)]


def of_launches(row: Estimate, kept: KeptState) -> Iterator[Reason]:
    """Yield what the launches behind a number say of it, what is in order with place 0."""
    count, spread = row.launch_count, row.between_launch_spread
    yield place_of(-count, tuple((-least, at) for least, at in LAUNCHES)), f"{count} launch{'es' if count != 1 else ''}"
    if row.low is not None and row.high is not None:
        half = max(row.high / row.value, row.value / row.low) - 1
        reach = f"extends {half:.1%} from the value" if half < WIDE else f"reaches {half + 1:.3g} times the value"
        yield place_of(half, HALF_WIDTHS), f"its interval {reach}"
    if spread is not None:
        yield 0, f"{spread:.1%} between launches"
    if kept.is_seen:
        yield 1, f"the machine's speed {kept.may}changed between stretches of launches: the interval is of this hour"
    elif kept.launch_count and not kept.is_told:
        yield 1, f"{kept.launch_count} launches cannot tell whether the machine keeps a state from launch to launch"
    if kept.has_levels:
        yield 2, "launches come on few levels with little between them: a narrow interval may have met one alone"
    beyond = row.impossible_launch_count
    limiting = "copying in memory" if row.limit is None else "the wire"
    if row.impossible:
        yield 3, f"beyond what {limiting} allows"
    elif beyond:
        yield 2, f"{beyond} more launches lay beyond what {limiting} allows"


def place_of(value: float, steps: tuple[tuple[float, int], ...], worst: int = 3) -> int:
    """Return the place of the first step that a value does not exceed."""
    return next((place for most, place in steps if value <= most), worst)


def trends(frame: pl.DataFrame, records: Mapping[int, LaunchRecord]) -> dict[str, str]:
    """Return the entries whose launches became slower or faster one after the other (Kendall's tau, TREND_P)."""
    keys = ("case_id", "quantity")
    cases = frame.group_by("launch_id", *keys, maintain_order=True).agg(pl.col("log_median").median())
    level = pl.col("log_median") - pl.col("log_median").median().over(keys)
    launches = (
        cases.with_columns(level)
        .group_by("launch_id", maintain_order=True)
        .agg(pl.col("log_median").mean())
        .sort("launch_id")
    )
    found: dict[str, list[float]] = {}
    for launch_id, value in launches.iter_rows():
        found.setdefault(records[launch_id].entry_id, []).append(value)
    told = {}
    for entry_id, levels in found.items():
        if len(levels) >= 5 and np.ptp(levels) >= np.log1p(0.05):
            from scipy.stats import kendalltau  # here: nothing else needs it, and loading it takes long

            tau, p_value = kendalltau(range(len(levels)), levels)
            if p_value < TREND_P:
                told[entry_id] = "became slower" if tau > 0 else "became faster"
    return told
