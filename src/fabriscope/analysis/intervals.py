"""Intervals and tests over launches: Student's t on logs, Holm's adjustment, two one-sided tests.

Everything that assumes how launches vary stands here, so that another method (a sequential, anytime-valid one) can
take its place without a change elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
MARGIN = 0.03
"""Two things that differ by less than this share are called equivalent."""
MOST_BLOCKS_ADVISED = 1000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogRatio:
    """What the blocks say of one log ratio; everything but the centre is NaN for one block."""

    centre: float
    low: float
    high: float
    spread: float
    """Standard deviation between blocks."""
    block_count: int
    p_different: float
    """Two-sided, of the hypothesis that the ratio is 1."""
    p_equivalent: float
    """Of the hypothesis that the ratio lies outside the margin (Schuirmann's two one-sided tests)."""


def t_quantile(count: int, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t for the mean of `count` values; NaN below two values."""
    return float(stdtrit(count - 1, 0.5 + confidence / 2)) if count > 1 else math.nan


def log_ratio(values: Sequence[float] | Floats, margin: float = MARGIN) -> LogRatio:
    """Return centre, interval and tests of log ratios, one for each block; values that are not finite are left out.

    Raises ValueError when nothing is left.
    """
    logs = np.asarray(values, dtype=np.float64)
    logs = logs[np.isfinite(logs)]
    count = len(logs)
    if count == 0:
        raise ValueError("no log ratio to summarise")
    centre = float(logs.mean())
    if count == 1:
        return LogRatio(centre, math.nan, math.nan, math.nan, 1, math.nan, math.nan)
    spread = float(logs.std(ddof=1))
    error = spread / math.sqrt(count)
    half = t_quantile(count) * error
    edge = math.log1p(margin)
    return LogRatio(
        centre,
        centre - half,
        centre + half,
        spread,
        count,
        min(1.0, 2 * _upper_tail(abs(centre), error, count)),
        max(_upper_tail(centre + edge, error, count), _upper_tail(edge - centre, error, count)),
    )


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return Holm's step-down adjusted p-values (Holm 1979), which control the family-wise error rate.

    NaN stays NaN and does not count as a test.
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(given), np.nan)
    tested = np.flatnonzero(np.isfinite(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return adjusted


def blocks_to_decide(result: LogRatio, margin: float = MARGIN, tests: int = 1) -> int | None:
    """Return about how many blocks in all would give a verdict, were centre and spread to stay as they are.

    `tests` is the size of the family (Bonferroni stands in for Holm). None if unknown, or more than 1000.
    """
    if not math.isfinite(result.spread):
        return None
    distance = max(abs(result.centre), math.log1p(margin) - abs(result.centre))
    for count in range(result.block_count + 1, MOST_BLOCKS_ADVISED + 1):
        if t_quantile(count, 1 - (1 - CONFIDENCE) / tests) * result.spread / math.sqrt(count) < distance:
            return count
    return None


def _upper_tail(distance: float, error: float, count: int) -> float:
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    return float(stdtr(count - 1, -distance / error))
