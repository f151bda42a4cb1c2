"""How long the operations of OSU's rows took at least, by what the rows say of them."""

from __future__ import annotations

from fabriscope.adapters._osu_tests import Test
from fabriscope.model.case import Case
from fabriscope.readers.base import Document, Row

_HALVES = ("osu_latency", "osu_multi_lat")
"""Their time is half of what an iteration takes."""
_BOTH_WAYS = ("osu_bibw",)
_OF_PAIRS = ("osu_mbw_mr",)
_TIMES = ("latency_ns", "time_ns_mean")
_HALVES_OF_OVERLAP = ("time_ns_pure", "time_ns_overlapped")
"""One after the other: alone, then beside a computation."""


def least_s(document: Document, test: Test, case: Case, iterations: int) -> float:
    """Return how long the rows of a program took together: each its iterations of one operation or one window."""
    return sum(iterations * _iteration_s(row, test, case) for row in document.rows(test.program))


def _iteration_s(row: Row, test: Test, case: Case) -> float:
    values = row.values
    if _HALVES_OF_OVERLAP[0] in values:
        return sum(row.number(name) for name in _HALVES_OF_OVERLAP if name in values) / 1e9
    if time := next((name for name in _TIMES if name in values), None):
        return row.number(time) / 1e9 * (2 if test.program in _HALVES else 1)
    rate = row.number("bandwidth_bytes_per_s") if "bandwidth_bytes_per_s" in values else 0.0
    if not rate:
        return 0.0
    many = len(case.entry.hosts) // 2 if test.program in _OF_PAIRS else 2 if test.program in _BOTH_WAYS else 1
    return many * case.window_size * row.number("message_size_bytes") / rate
