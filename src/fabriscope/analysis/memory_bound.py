"""What memory allows: a payload that processors copy moves no faster than they copy."""

from __future__ import annotations

from fabriscope.analysis.bounds import DIRECTIONS, FETCH_LATENCIES, ONE_WAY_LATENCIES, TWO_RANKS
from fabriscope.model.host import COPY_RATE
from fabriscope.model.manifest import Manifest
from fabriscope.model.ranks import Layout

COPYING_THREADS = {"tcp": 1, "shm": 1, "mpi": 2}
"""How many threads copy different parts of one message at the same time, at most, by layer.

TCP copies it whole at either end, and so does our shared memory. Of MPI one end may copy straight out of the other's
memory, and each end half of it. What other layers move a network card or a kernel's own threads may copy.
"""
MARGIN = 2.0
"""How many times as fast as it was measured a thread may copy in truth: another that shared its core, or a clock that
had not risen yet, may have taken half of it all the time."""


def copy_rate(manifest: Manifest) -> float | None:
    """Return the best rate of all hosts, in bytes/s, since one may stand in for another; None if one is not known."""
    rates = [host.values.get(COPY_RATE) for host in manifest.hosts.values()]
    known = [float(rate) for rate in rates if isinstance(rate, int | float) and rate > 0]
    return max(known) if known and len(known) == len(rates) else None


def copy_limit(
    metric_id: str,
    rate_bytes_per_s: float | None,
    message_size_bytes: int,
    layer: str,
    placement: str,
    ranks: Layout = TWO_RANKS,
) -> float | None:
    """Return the most of a rate, the least of a time that copying allows, in the metric's unit; None for no limit.

    MPI between hosts has none: it may go past the processors.
    """
    threads = COPYING_THREADS.get(layer)
    if not rate_bytes_per_s or threads is None or message_size_bytes <= 0 or (layer, placement) == ("mpi", "inter"):
        return None
    most = MARGIN * threads * rate_bytes_per_s
    if metric_id in (*ONE_WAY_LATENCIES, *FETCH_LATENCIES):
        return message_size_bytes * 1e9 / most
    if metric_id not in DIRECTIONS:
        return None
    flow_count = {
        "multi_pair_bandwidth_bytes_per_s": ranks.rank_count // 2,
        "goodput_bytes_per_s": ranks.rank_count - 1,
    }.get(metric_id, 1)
    return most * DIRECTIONS[metric_id] * flow_count
