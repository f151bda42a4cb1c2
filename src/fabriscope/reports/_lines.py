"""The lines of the result tables, as text: a class for each table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SummaryLine:
    """One curve of the ping-pong: largest bandwidth, where it is reached, latency."""

    placement: str
    network: str
    layer: str
    bandwidth: str
    bandwidth_interval: str
    share: str
    size: str
    bits: str
    latency: str
    latency_interval: str
    launches: str
    transport: str
    trust: str


@dataclass(frozen=True)
class TransportLine:
    """What carried the bytes of one entry: what was asked for, what was found, the verdict."""

    what: str
    placement: str
    asked: str
    carried: str
    found: str
    error: str
    verdict: str
    badge: str
    launches: str
    because: str


@dataclass(frozen=True)
class TrustLine:
    """How far the numbers of one curve can be trusted, and what speaks most against them."""

    what: str
    placement: str
    metric: str
    grades: str
    grade: str
    """Of the worst point."""
    size: str
    worst: str
    """Both."""
    reasons: str


@dataclass(frozen=True)
class FitLine:
    """One piece of the model of time over size."""

    what: str
    placement: str
    sizes: str
    latency: str
    bandwidth: str
    gap: str
    message_gap: str
    error: str
    floor: str


@dataclass(frozen=True)
class FailureLine:
    """A measurement that did not succeed; equal reasons are one line."""

    launch: str
    what: str
    placement: str
    benchmark: str
    sizes: str
    status: str
    reason: str


@dataclass(frozen=True)
class GroupLine:
    """One curve of what many ranks do at once."""

    what: str
    placement: str
    ranks: str
    network: str
    layer: str
    first_size: str
    first: str
    first_interval: str
    last_size: str
    last: str
    last_interval: str
    slowest: str
    late: str
    clock_error: str
    launches: str
    transport: str
