"""What a comparison of percentiles leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from fabriscope.analysis.values.tails import LEAST_OPERATIONS, LaunchTail, short_cases

OfRun = tuple[Sequence[LaunchTail], pl.DataFrame]
"""What the operations of a run's cases came to in each launch, and its launch values."""


def tail_notes(runs: Sequence[OfRun], percentile: str) -> Iterator[str]:
    """Yield how many operations a `percentile` needs, and of how many cases a launch has fewer; nothing where none."""
    counts = [short_cases(*run, percentile) for run in runs]
    short, timed = map(sum, zip(*counts, strict=True))
    if short or not timed:
        needs = f"what is compared by its {percentile} needs {LEAST_OPERATIONS[percentile]:,} timed operations in each"
        head = f"{needs} of their launches: it is told by the ten that are slower"
        fewer = f"; of {timed} cases that are timed, {short} have fewer in some launch, which then counts for nothing"
        yield f"{head}{f'{fewer}: a larger budget gives more' if timed else ''}"
