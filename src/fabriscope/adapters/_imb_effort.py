"""How many repetitions IMB makes of a size, and how long it may take: by the plan's options, else by the budget."""

from __future__ import annotations

from fabriscope.adapters._imb_tests import MPI1, RMA
from fabriscope.model.imb import ImbOptions

MOST_REPETITIONS = 1_000_000
"""IMB chooses fewer, so that a size takes no longer than its time."""
LEAST_REPETITIONS = 20
TYPICAL_NS, TYPICAL_MBYTES_PER_S = 200_000, 50
"""Of an operation of IMB-NBC or IMB-RMA between hosts, rather long: a launch is to keep its budget."""
PATIENCE = 4
"""How many times their expected time they may take before IMB leaves the rest out."""
MOST_VOLUME_MBYTES = 1_000_000


def words(program: str, seconds: float, options: ImbOptions) -> tuple[str, ...]:
    """Return how many repetitions a size has at most, and how long it may take.

    IMB-NBC and IMB-RMA guess too many: of an overlap they time the operation alone, of puts what no flush has
    completed. Then the time for all sizes is over before the last one.
    """
    most, volume_mbytes = MOST_REPETITIONS, MOST_VOLUME_MBYTES
    if program != MPI1:
        most = max(LEAST_REPETITIONS, round(seconds * 1e9 / TYPICAL_NS))
        volume_mbytes = max(1, round(seconds * TYPICAL_MBYTES_PER_S))
        seconds *= PATIENCE
    if options.iterations is not None:  # then the volume is not what makes them fewer, unless it is named too
        most, volume_mbytes = options.iterations, MOST_VOLUME_MBYTES
    counts = [most, options.volume_mbytes or volume_mbytes]
    if program == RMA:
        counts.append(options.aggregate_iterations or most)
    lasts = f"{seconds if options.time_s is None else options.time_s:.3f}"
    return ("-iter", ",".join(map(str, counts)), "-time", lasts, *options.words())
