"""Whether a payload has room in what was asked for: that needs no owner of any byte."""

from __future__ import annotations

from fabriscope.analysis.proof.evidence import FOUND_SHARE, Evidence
from fabriscope.analysis.proof.flows import LOOPBACK
from fabriscope.model.fabric import RDMA_TRANSPORTS


def left_by(evidence: Evidence) -> tuple[int, int] | None:
    """Return what left by the interfaces asked for, and by others, with everybody's headers; None if one is unread.

    Nor is there an answer for RDMA, whose bytes a card sends past the counters of its interface.
    """
    asked = evidence.expected.interfaces
    if evidence.expected.transport in RDMA_TRANSPORTS:
        return None
    out = [one for one in evidence.lines if one.direction == "out" and one.interface != LOOPBACK]
    mine = [one for one in out if one.interface == asked.get(one.host)]
    if not evidence.is_between_hosts or not asked or {one.host for one in mine} != set(evidence.watches):
        return None
    return sum(one.counted_bytes for one in mine), sum(one.counted_bytes for one in out if one not in mine)


def passed_by(evidence: Evidence) -> tuple[int, int] | None:
    """Return `left_by` where a known payload has no room in what was asked for, and others counted the rest."""
    pairs = evidence.expected.payload_bytes or {}
    payload = sum(size for (source, target), size in pairs.items() if source != target)
    counted = left_by(evidence)
    if counted is None:
        return None
    mine, others = counted
    return counted if mine < FOUND_SHARE * payload and others >= FOUND_SHARE * (payload - mine) else None
