"""The OSU micro-benchmarks where a run finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

INSTRUMENT = "osu"


@dataclass(frozen=True)
class OsuBuild:
    """The suite as it was built with one MPI library."""

    programs: Mapping[str, str]
    """Absolute paths by name: `osu_latency` ..."""
    knows_types: bool = True
    """Whether `-T MPI_FLOAT` can be asked for (from 7.1 on); before, what reduces has MPI_FLOAT, all else MPI_CHAR."""
