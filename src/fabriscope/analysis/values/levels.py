"""What the machine was like over a run: how far each launch's bursts lie from what is usual for their cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from fabriscope.analysis.values.bursts import bursts
from fabriscope.model.measurement import OPERATION
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class LaunchLevels:
    """The level of one launch over its time."""

    launch_id: int
    began_s: float
    """Since the first launch of the run began."""
    took_s: float
    ratios: tuple[float, ...]
    """Burst by burst, the median over its cases of time over the case's median in the run; 1.1: a tenth slower."""


@dataclass(frozen=True)
class EntryLevels:
    """The levels of an entry's launches, in the order of time."""

    entry_id: str
    label: str
    placement: str
    launches: tuple[LaunchLevels, ...]

    @property
    def spread(self) -> float:
        """Return how far apart its launches lie: the largest median level over the smallest."""
        middles = [sorted(one.ratios)[len(one.ratios) // 2] for one in self.launches]
        return max(middles) / min(middles)


def entry_levels(run: RunData) -> list[EntryLevels]:
    """Return the levels of each entry that has at least two launches, in the order of the manifest."""
    ratios = _ratios(run)
    begins = [record.started_unix_ns for record in run.journal if record.started_unix_ns]
    first_ns = min(begins, default=0)
    found = []
    for entry_id, entry in run.manifest.entries.items():
        launches = [
            LaunchLevels(
                record.launch_id,
                max(0.0, (record.started_unix_ns - first_ns) / 1e9),
                record.elapsed_ns / 1e9,
                ratios[record.launch_id],
            )
            for record in run.journal
            if record.entry_id == entry_id and record.launch_id in ratios
        ]
        if len(launches) > 1:
            in_time = tuple(sorted(launches, key=lambda one: one.began_s))
            found.append(EntryLevels(entry_id, entry.label(), entry.placement, in_time))
    return found


def _ratios(run: RunData) -> dict[int, tuple[float, ...]]:
    frame = run.once(bursts).filter(pl.col("quantity") == OPERATION)
    usual = pl.col("log_median") - pl.col("log_median").median().over("case_id")
    levels = frame.with_columns(usual.alias("_level")).group_by("launch_id", "burst").agg(pl.col("_level").median())
    found: dict[int, list[float]] = {}
    for launch_id, level in levels.sort("launch_id", "burst").select("launch_id", "_level").iter_rows():
        found.setdefault(launch_id, []).append(math.exp(level))
    return {launch_id: tuple(ratios) for launch_id, ratios in found.items()}


def thinned(ratios: Sequence[float], most: int) -> list[float]:
    """Return at most so many levels: the median of each of as many equal parts."""
    if len(ratios) <= most:
        return list(ratios)
    edges = [round(part * len(ratios) / most) for part in range(most + 1)]
    return [sorted(ratios[a:b])[(b - a) // 2] for a, b in pairwise(edges)]
