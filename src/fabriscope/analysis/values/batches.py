"""The launches whose samples are read together: medians need all of theirs in memory, a run's would be a gigabyte."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from pathlib import Path

from fabriscope.model.run_data import RunData

BATCHES = 24
SMALL_BYTES = 1 << 20
"""A run whose files of samples have no more than this between them is read at once: a reading has its price, too."""


def batches(run: RunData, launch_ids: Iterable[int]) -> list[list[int]]:
    """Return the ids in their order, a list for those that are read together; none for no launch."""
    ordered = sorted(launch_ids)
    count = 1 if run.once(_sample_bytes) <= SMALL_BYTES else BATCHES
    step = math.ceil(len(ordered) / count) or 1
    return [ordered[start : start + step] for start in range(0, len(ordered), step)]


def _sample_bytes(run: RunData) -> int:
    """Return how large the files of samples are; nothing for one that cannot be looked at: who reads it tells of it."""
    size_bytes = 0
    for record in run.journal:
        if record.samples:
            with contextlib.suppress(OSError):
                size_bytes += (Path(run.path) / record.samples).stat().st_size
    return size_bytes
