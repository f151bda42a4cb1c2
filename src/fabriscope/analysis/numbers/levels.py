"""Whether launches come on few levels far apart, with little between them: more so than normal ones would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy

from fabriscope.analysis.numbers.evidence import Floats

_DRAWS = 4000


def p_without_levels(series: Sequence[Floats]) -> float:
    """Return how often normal values would lie so much apart from each other in groups (Fisher's combination).

    Of each series counts which share of its range is left without its widest gap, whatever its spread.
    """
    total = 0.0
    spread = [values for values in series if np.ptp(values) > 0]
    for values in spread:
        gaps = np.diff(np.sort(values))
        usual = _usual_shares(len(values))
        rank = int(np.searchsorted(usual, 1 - gaps.max() / gaps.sum(), side="right"))
        total -= 2 * math.log((rank + 1) / (len(usual) + 1))
    return float(scipy.special.chdtrc(2 * len(spread), total)) if spread else 1.0


@cache
def _usual_shares(count: int) -> Floats:
    """Return that share for so many normal values, ascending."""
    gaps = np.diff(np.sort(np.random.default_rng(count).normal(size=(_DRAWS, count)), axis=1), axis=1)
    return np.sort(1 - gaps.max(axis=1) / gaps.sum(axis=1))
