"""The OSU micro-benchmarks where a run finds them, and what a plan tells them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

INSTRUMENT = "osu"
PERCENTILES = (50, 90, 99)
"""Those that OSU prints and that have ids here: it knows whole numbers only."""

BEYOND_PERCENTILE = 10
"""Iterations that must be slower than a percentile, or one or two of them would tell it."""


def iterations_for(percentile: int) -> int:
    """Return how many iterations a percentile takes at least."""
    return math.ceil(100 * BEYOND_PERCENTILE / (100 - percentile))


@dataclass(frozen=True)
class OsuOptions:
    """What a plan tells the suite beside its benchmarks."""

    iterations: int | None = None
    """Of each size, `-i`; None: as many as fit the budget."""
    is_validated: bool = False
    """Whether each program is also started with `-c`, which looks at the data that arrived."""
    percentiles: tuple[int, ...] = ()
    """Of the iterations' times, `-z`."""


@dataclass(frozen=True)
class OsuBuild:
    """The suite as it was built with one MPI library."""

    programs: Mapping[str, str]
    """Absolute paths by name: `osu_latency` ..."""
    knows_types: bool = True
    """Whether `-T MPI_FLOAT` can be asked for (from 7.1 on); before, what reduces has MPI_FLOAT, all else MPI_CHAR."""
    options: OsuOptions = OsuOptions()
