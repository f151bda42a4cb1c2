"""Does a machine keep its state from launch to launch, and how far may what it was in differ from its usual one?

Values stand in the order of time. Each is of a kind; those of one kind would be exchangeable if nothing persisted. The
test compares how alike neighbours in time are, over all kinds together, with the same after the values of each kind
were shuffled among their places: a permutation test, exact for independent values of whatever distribution (Wald and
Wolfowitz 1943 for one series; here the sum over all earlier values, with weights that fall over LASTING places).

What persists is taken as an autoregressive state that all kinds share, over independent noise. How long it lasts and
which share of the variance it has is not known: the interval is that of the mixture over a grid of both, each weighted
by its restricted likelihood (Patterson and Thompson 1971), computed by a Kalman filter (Harvey, "Forecasting,
structural time series models and the Kalman filter", 1989, chapter 3.4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from fabriscope.analysis.numbers.evidence import CONFIDENCE, Floats, t_quantile

SHUFFLES = 999
LASTING = 5.0
"""Places in time over which the test's weights fall to 1/e."""
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
"""Of the variance of a value, what the state has."""
LONGEST_SPANS = 4.0
"""A state that lasts this many times as long as all values took is the longest that the mixture knows."""
DRAWN_FROM, FURTHEST = 6, 4.0
MOST_KINDS = 24
"""Kinds that the mixture is fitted to; the time that it takes grows with the cube of their number."""
_DURATIONS = 10
_STEPS = 40
Ints = NDArray[np.int64]


class Offset(NamedTuple):
    """What a state adds to the uncertainty of the mean of each kind."""

    halves: Floats
    """Kind to the half-width, in the values' unit, that belongs into the square of its interval's half-width."""
    lasting: float
    """How long the state lasts (time to 1/e, the median of the mixture), in the unit of the times."""


def standardized(values: Floats, kinds: Ints) -> tuple[Floats, Floats]:
    """Return the values less their kind's mean, in its standard deviations, and these deviations by kind.

    A kind of one value, or of equal ones, comes to zeros and has the deviation 0. Of DRAWN_FROM values on, one that
    lies further from the median than FURTHEST robust deviations is drawn in to there: a rare slow launch is no state.
    """
    scaled, deviations = np.zeros(len(values)), np.zeros(int(kinds.max(initial=-1)) + 1)
    for kind in np.unique(kinds):
        own = kinds == kind
        drawn = _drawn_in(values[own])
        centred = drawn - drawn.mean()
        deviation = float(centred.std(ddof=1)) if len(centred) > 1 else 0.0
        if deviation > 0 and float(np.ptp(drawn)) > 0:
            scaled[own], deviations[kind] = centred / deviation, deviation
    return scaled, deviations


def _drawn_in(values: Floats) -> Floats:
    middle = float(np.median(values))
    reach = FURTHEST * 1.4826 * float(np.median(np.abs(values - middle)))
    return np.clip(values, middle - reach, middle + reach) if reach and len(values) >= DRAWN_FROM else values


def p_of_independence(scaled: Floats, kinds: Ints, times: Floats, shuffles: int = SHUFFLES) -> float:
    """Return the one-sided p-value of the hypothesis that no value has anything of those before it.

    `scaled` are standardized values in the order of `times`. The shuffles are the same in every call.
    """
    if len(scaled) < 2:
        return 1.0
    noise = np.random.default_rng(0)
    shuffled = np.tile(scaled, (shuffles + 1, 1))
    for kind in np.unique(kinds):
        places = np.flatnonzero(kinds == kind)
        order = np.argsort(noise.random((shuffles, len(places))), axis=1)
        shuffled[1:, places] = scaled[places][order]
    gaps = np.diff(times)
    kept = np.exp(-gaps / (LASTING * _usual(gaps)))
    earlier, alike = np.zeros(shuffles + 1), np.zeros(shuffles + 1)
    for place, share in enumerate(kept, start=1):
        earlier = share * (earlier + shuffled[:, place - 1])
        alike += earlier * shuffled[:, place]
    return float(np.mean(alike >= alike[0] - 1e-9))


def offset(scaled: Floats, kinds: Ints, times: Floats) -> Offset:
    """Return what a state that persists leaves open of the means of standardized values, kind by kind.

    It is fitted to MOST_KINDS of them; of the others it leaves open as much as of the least certain one.
    """
    counts = np.bincount(kinds)
    chosen = np.unique(np.linspace(0, len(counts) - 1, MOST_KINDS).astype(int))
    if len(chosen) < len(counts):
        among = np.isin(kinds, chosen)
        some = offset(scaled[among], np.searchsorted(chosen, kinds[among]), times[among])
        halves = np.full(len(counts), some.halves.max())
        halves[chosen] = some.halves
        return some._replace(halves=halves)
    usual = _usual(np.diff(times))
    longest = max(2.0, LONGEST_SPANS * float(times[-1] - times[0]) / usual)
    durations = usual * np.geomspace(0.5, longest, _DURATIONS)
    lasting, shares = (axis.ravel() for axis in np.meshgrid(durations, SHARES, indexing="ij"))
    weights, centres, errors = _fitted(scaled, kinds, times, lasting, shares)
    halves = np.zeros(len(counts))
    for kind in np.flatnonzero(counts > 1):
        half = _half_width(weights, centres[:, kind], errors[:, kind], int(counts[kind]))
        apart = t_quantile(int(counts[kind])) / math.sqrt(counts[kind])
        halves[kind] = math.sqrt(max(0.0, half**2 - apart**2))
    order = np.argsort(lasting, kind="stable")
    middle = int(np.searchsorted(np.cumsum(weights[order]), 0.5))
    return Offset(halves, float(lasting[order][min(middle, len(order) - 1)]))


def _usual(gaps: Floats) -> float:
    """Return how far apart neighbours are; 1 where all are at one time."""
    usual = float(np.median(gaps)) if len(gaps) else 0.0
    return usual if usual > 0 else float(np.mean(gaps)) if np.any(gaps > 0) else 1.0


def _fitted(
    scaled: Floats, kinds: Ints, times: Floats, lasting: Floats, shares: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the weight of each point of the grid, and the means of the kinds there, with their standard errors."""
    kind_count = int(kinds.max()) + 1
    columns = np.column_stack([scaled, np.eye(kind_count)[kinds]])
    state = np.zeros((len(lasting), kind_count + 1))
    variance, logs = shares.copy(), np.zeros(len(lasting))
    products = np.zeros((len(lasting), kind_count + 1, kind_count + 1))
    for gap, row in zip(np.diff(times, prepend=times[0]), columns, strict=True):
        kept = np.exp(-gap / lasting)
        state *= kept[:, None]
        variance = kept**2 * variance + shares * (1 - kept**2)
        total = variance + 1 - shares
        surprise = row - state
        logs += np.log(total)
        products += surprise[:, :, None] * surprise[:, None, :] / total[:, None, None]
        gain = variance / total
        state += gain[:, None] * surprise
        variance = variance * (1 - gain)
    inverses = np.linalg.pinv(products[:, 1:, 1:], hermitian=True)
    centres = np.einsum("gij,gj->gi", inverses, products[:, 1:, 0])
    rest = products[:, 0, 0] - np.einsum("gi,gi->g", centres, products[:, 1:, 0])
    freedom = max(1, len(scaled) - kind_count)
    scale = np.maximum(rest, 1e-12) / freedom
    logs = -0.5 * (logs + np.linalg.slogdet(products[:, 1:, 1:])[1] + freedom * np.log(scale))
    weights = np.exp(logs - logs.max())
    errors = np.sqrt(scale[:, None] * np.diagonal(inverses, axis1=1, axis2=2))
    return weights / weights.sum(), centres, errors


def _half_width(weights: Floats, centres: Floats, errors: Floats, count: int) -> float:
    """Return how far from 0 the mixture of Student's t must be followed to hold CONFIDENCE of it."""
    inside, outside = 0.0, 1.0
    while _held(outside, weights, centres, errors, count) < CONFIDENCE:
        inside, outside = outside, 2 * outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        is_inside = _held(middle, weights, centres, errors, count) < CONFIDENCE
        inside, outside = (middle, outside) if is_inside else (inside, middle)
    return outside


def _held(half: float, weights: Floats, centres: Floats, errors: Floats, count: int) -> float:
    ends = [scipy.special.stdtr(count - 1, (end - centres) / errors) for end in (half, -half)]
    return float(np.sum(weights * (ends[0] - ends[1])))
