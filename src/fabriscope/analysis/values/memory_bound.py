"""What memory allows: a payload that processors copy moves no faster than they copy."""

from __future__ import annotations

from fabriscope.analysis.values.bounds import TWO_RANKS
from fabriscope.model.host import COPY_RATE
from fabriscope.model.layers import layer_of
from fabriscope.model.manifest import Manifest
from fabriscope.model.metrics import PAIRS, SENDERS, metric_of
from fabriscope.model.quantity import Kind
from fabriscope.model.ranks import Layout

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
    """Return the most of a rate, the least of a time that copying allows, in the metric's unit; None for no limit."""
    threads = layer_of(layer).copying_threads(placement)
    if not rate_bytes_per_s or not threads or message_size_bytes <= 0:
        return None
    most = MARGIN * threads * rate_bytes_per_s
    metric = metric_of(metric_id)
    if not metric.quantity.is_bounded:
        return None
    if metric.unit.kind is Kind.TIME:
        return message_size_bytes * 1e9 / most
    flows = metric.moves.flows if metric.moves else ""
    flow_count = {PAIRS: ranks.rank_count // 2, SENDERS: ranks.rank_count - ranks.receiver_count}.get(flows, 1)
    return most * metric.quantity.directions * flow_count
