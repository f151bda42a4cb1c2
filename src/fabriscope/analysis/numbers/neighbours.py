"""Two series that were measured in turns: their ratio from turns that are neighbours in time.

A machine's speed moves while a launch measures. Two launches that take turns meet it at instants that lie close to
each other, cycle by cycle, so the ratio is formed there, and the launch's ratio is made of the cycles' ratios:

- of times: the median over the cycles of the difference of logs, as the launch's value is a median over bursts. It is
  the sign test's estimate for matched pairs, which asks for no shape (Hodges and Lehmann, Annals of Mathematical
  Statistics 34, 1963);
- of rates, which are all bytes over all time: the ratio of the sums over the same cycles, the combined ratio estimate
  of matched units (Cochran, Sampling Techniques, 1977, 6.11), so that a stall counts for as long as it lasted.

Each cycle of the side that has fewer is set against the nearest cycle of the other; of two that are equally near their
mean counts. Cycles of one launch are not independent: nothing here is an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAD_TO_DEVIATION = 1.4826
Floats = NDArray[np.float64]
Cycles = NDArray[np.int64]


@dataclass(frozen=True)
class Series:
    """What one case of one launch came to, cycle by cycle."""

    cycles: Cycles
    """The group's cycles in which it was measured, ascending."""
    logs: Floats
    """Logarithm of the median time of an operation in each, in ns."""
    means: Floats
    """Mean time of an operation in each, in ns."""
    median_log: float
    """Of the launch as a whole: what `logs` would be compared by without cycles."""
    mean_log: float
    group: str = ""
    """Series of one group alone have the same cycles."""


def nearest(cycles: Cycles, among: Cycles, values: Floats) -> Floats:
    """Return for each cycle the value at the nearest one of `among`, which ascend; of two the mean."""
    after = np.clip(np.searchsorted(among, cycles), 0, len(among) - 1)
    before = np.clip(after - 1, 0, None)
    ahead, behind = np.abs(among[after] - cycles), np.abs(cycles - among[before])
    both = (values[after] + values[before]) / 2
    return np.where(ahead < behind, values[after], np.where(behind < ahead, values[before], both))


def log_ratio(left: Series, right: Series, *, of_means: bool) -> float:
    """Return the logarithm of the time of the left one over that of the right one, from neighbouring cycles."""
    if len(left.cycles) > len(right.cycles):
        return -log_ratio(right, left, of_means=of_means)
    if of_means:
        return float(np.log(left.means.sum() / nearest(left.cycles, right.cycles, right.means).sum()))
    return float(np.median(left.logs - nearest(left.cycles, right.cycles, right.logs)))


def variance(left: Series, right: Series, *, of_means: bool) -> float:
    """Return about the variance of `log_ratio` over launches that differ in nothing but their moments.

    As if cycles were independent: of a median from the median absolute deviation (pi/2 times that of a mean), of a
    ratio of sums from its residuals (Cochran 1977, 6.4).
    """
    if len(left.cycles) > len(right.cycles):
        return variance(right, left, of_means=of_means)
    count = len(left.cycles)
    if of_means:
        others = nearest(left.cycles, right.cycles, right.means)
        residuals = left.means / left.means.mean() - others / others.mean()
        return float(residuals.var(ddof=1) / count)
    return _of_median(left.logs - nearest(left.cycles, right.cycles, right.logs))


def variance_apart(one: Series, *, of_means: bool) -> float:
    """Return likewise about the variance of the logarithm of one launch's value."""
    if of_means:
        return float((one.means / one.means.mean()).var(ddof=1) / len(one.means))
    return _of_median(one.logs)


def _of_median(numbers: Floats) -> float:
    deviation = MAD_TO_DEVIATION * float(np.median(np.abs(numbers - np.median(numbers))))
    return math.pi / 2 * deviation**2 / len(numbers)


def gained(left: Series, right: Series, *, of_means: bool) -> float:
    """Return by how much the log ratio of times differs from that of the two launches' values.

    Nothing where cycles say that neighbours share less than they have of their own, as on a machine on which others
    take the processor from every third burst: a median of differences then knows less than two medians do. It is asked
    of the spread inside the block alone, never of the ratios.
    """
    alone = variance_apart(left, of_means=of_means) + variance_apart(right, of_means=of_means)
    if variance(left, right, of_means=of_means) > alone:
        return 0.0
    apart = left.mean_log - right.mean_log if of_means else left.median_log - right.median_log
    return log_ratio(left, right, of_means=of_means) - apart
