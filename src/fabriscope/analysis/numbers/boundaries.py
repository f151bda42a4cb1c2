"""Student's t, looked at after every block of a run that has at most so many: the group-sequential t.

A look at `count` of at most `horizon` values has the weight count / horizon: late looks may err more than early ones.
The p-value of a look is the chance that, without a difference, any look of a run has a Student p-value that is as small
for its weight (Jennison and Turnbull, "Group Sequential Methods", 2000, chapters 4.4 and 8.5; the weights lie between
Pocock's, which are equal, and O'Brien and Fleming's). So it holds whatever ends the run. The chances are of a table by
simulation (`campaigns.statistics.boundaries`): the sequence of t has one distribution for all data.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_left
from pathlib import Path

import numpy as np

from fabriscope.model.blocks import LEAST_BLOCKS

_HEAD, *_ROWS = csv.reader(Path(__file__).with_suffix(".csv").read_text().splitlines())
CHANCES = tuple(map(float, _HEAD[1:]))
"""In how many runs without a difference any look, divided by its weight, lies below what stands in a column."""
QUANTILES = {int(looks): tuple(map(float, values)) for looks, *values in _ROWS}
"""Number of values of a run to these."""
HORIZONS = sorted(QUANTILES)


def p_of_look(p_value: float, count: int, horizon: int) -> float:
    """Return the chance that any look goes as far as one at `count` values, whose one-sided Student p-value is given.

    `horizon` is the most values that the run may have; more than `count` below it stand for it. NaN stays NaN.
    """
    if math.isnan(p_value) or count < LEAST_BLOCKS:
        return math.nan
    looks = _horizon(count, horizon)
    scaled = p_value * looks / count
    quantiles = QUANTILES[looks]
    if scaled >= quantiles[0]:
        return min(1.0, scaled / quantiles[0] * CHANCES[0])
    if scaled < quantiles[-1]:  # less often than the table knows: at most the sum over all looks
        return min(CHANCES[-1], scaled * _weights(looks))
    return float(np.exp(np.interp(math.log(scaled), np.log(quantiles[::-1]), np.log(CHANCES[::-1]))))


def p_needed(chance: float, count: int, horizon: int) -> float:
    """Return the one-sided Student p-value that a look at `count` values needs, for `p_of_look` to be `chance`."""
    looks = _horizon(count, horizon)
    quantiles = QUANTILES[looks]
    if chance < CHANCES[-1]:
        scaled = min(quantiles[-1], chance / _weights(looks))
    else:
        scaled = float(np.exp(np.interp(math.log(chance), np.log(CHANCES[::-1]), np.log(quantiles[::-1]))))
    return min(0.5, scaled * count / looks)


def _horizon(count: int, horizon: int) -> int:
    """Return the horizon of the table that a run belongs to: its own, or the next larger one, which holds as well."""
    place = bisect_left(HORIZONS, max(count, horizon))
    return HORIZONS[min(place, len(HORIZONS) - 1)]


def _weights(looks: int) -> float:
    return sum(range(LEAST_BLOCKS, looks + 1)) / looks
