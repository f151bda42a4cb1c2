"""Log ratios over blocks or launches: interval, tests, and what many tests at once cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabriscope.analysis.numbers.evidence import ANYTIME, CONFIDENCE, FIXED, Evidence, Floats, Mean
from fabriscope.model.blocks import LEAST_BLOCKS

__all__ = ["ANYTIME", "CONFIDENCE", "FIXED", "LEAST_BLOCKS", "MARGIN", "LogRatio", "log_ratio"]

MARGIN = 0.03
"""Two things that differ by less than this share are called equivalent, unless the plan says otherwise."""


@dataclass(frozen=True)
class LogRatio:
    """What the blocks say of one log ratio; everything but the centre is NaN for one block."""

    centre: float
    low: float
    high: float
    """95 % interval; NaN also where an anytime-valid one has too few blocks to rule anything out."""
    spread: float
    """Standard deviation between blocks."""
    block_count: int
    p_different: float
    """Two-sided, of the hypothesis that the ratio is 1."""
    p_equivalent: float
    """Of the hypothesis that the ratio lies outside the margin (Schuirmann's two one-sided tests)."""
    method: str = FIXED
    blur: float = 0.0
    """What the clock's step leaves open, whatever the number of blocks."""
    horizon: int = 0
    """The most blocks that there may be, where that matters (SEQUENTIAL)."""


def log_ratio(values: Sequence[float] | Floats, margin: float = MARGIN, method: str = FIXED) -> LogRatio:
    """Return centre, interval and tests of log ratios, one for each block; values that are not finite are left out.

    Raises ValueError when nothing is left.
    """
    return judge(Mean(values, method), margin)


def judge(evidence: Evidence, margin: float = MARGIN) -> LogRatio:
    """Return what the evidence says of a log ratio; raises ValueError when there is none."""
    if evidence.count == 0:
        raise ValueError("no log ratio to summarise")
    edge = math.log1p(margin)
    low, high = evidence.interval()
    return LogRatio(
        evidence.centre,
        low,
        high,
        evidence.spread,
        evidence.count,
        evidence.p_not(0.0),
        max(evidence.p_above(-edge), evidence.p_below(edge)),
        evidence.method,
        evidence.blur,
        evidence.horizon,
    )


def false_discovery(p_values: Sequence[float] | Floats) -> Floats:
    """Return adjusted p-values: those below 5 % are false in at most 5 % on average (Benjamini and Hochberg 1995).

    For Student's p-values that holds where the tests depend on each other positively, as sizes of one launch do, which
    share its luck. For ANYTIME, p is 1/E, and this is the e-BH procedure (Wang and Ramdas 2022), which holds under any
    dependence. NaN stays NaN and does not count as a test.
    """
    return _stepped_up(p_values, lambda count: count / np.arange(count, 0, -1))


def family_wise(p_values: Sequence[float] | Floats, step: float = 1.0) -> Floats:
    """Return adjusted p-values: in at most 5 % of runs any of those given that are below 5 % is false (Hochberg 1988).

    The largest p-value stands as it is, and every further one counts `step` more: with 1 the next one counts twice, and
    so on, so that a family whose members agree pays nothing for its size. A larger step errs less. Like the false
    discovery rate it asks for tests that depend on each other positively (Sarkar 1998). NaN stays NaN and does not
    count as a test.
    """
    return _stepped_up(p_values, lambda count: _counted(count, step))


def shown_below(p_values: Sequence[float] | Floats, error_rate: float, step: float = 1.0) -> float:
    """Return below which p-value a test of a family is significant by `family_wise`, given the others as they are."""
    given = np.asarray(p_values, dtype=np.float64)
    given = given[np.isfinite(given)]
    rates = error_rate / _counted(len(given), step)
    larger = (given[None, :] > rates[:, None]).sum(axis=1)
    return float(max(rates[larger < np.arange(1, len(given) + 1)], default=0.0))


def _counted(count: int, step: float) -> Floats:
    """Return how often `family_wise` counts each of so many p-values, the largest first."""
    return np.asarray(1 + step * np.arange(count), dtype=np.float64)


def _stepped_up(p_values: Sequence[float] | Floats, factors: Callable[[int], Floats]) -> Floats:
    """Return p-values times the factors of their number, the largest first, and none above one that was larger.

    scipy.stats.false_discovery_control has one of the two, and takes half a second of a processor to be imported.
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(given), np.nan)
    tested = np.flatnonzero(np.isfinite(given))
    falling = tested[np.argsort(-given[tested], kind="stable")]
    adjusted[falling] = np.minimum.accumulate(np.minimum(given[falling] * factors(len(falling)), 1.0))
    return adjusted
