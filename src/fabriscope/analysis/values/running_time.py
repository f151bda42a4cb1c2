"""How long a run's launches ran."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.model.record import LaunchRecord


def running_ns(records: Sequence[LaunchRecord]) -> int:
    """Return the time in which at least one launch ran: those that measure in turns overlap."""
    if any(not record.started_unix_ns for record in records):  # of older versions
        return sum(record.elapsed_ns for record in records)
    total = until = 0
    for record in sorted(records, key=lambda one: one.started_unix_ns):
        end = record.started_unix_ns + record.elapsed_ns
        total += max(0, end - max(record.started_unix_ns, until))
        until = max(until, end)
    return total
