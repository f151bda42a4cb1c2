"""The columns of perftest's tables and reports, the units that stand in their heads, and what it measures by."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column
from fabriscope.readers.terms import BOTH_WAYS, ONE_WAY, Terms

BANDWIDTH, LATENCY, SIZE, RATE = "bandwidth_bytes_per_s", "latency_ns", "message_size_bytes", "message_rate_per_s"
BYTES_PER_UNIT = {"MB/sec": float(1 << 20), "MiB/sec": float(1 << 20), "Gb/sec": 1e9 / 8}
_NS_PER_UNIT = {"usec": 1e3, "nsec": 1.0}
"""Of a latency's column; in cycles (`-C`) it is refused, since nobody tells how long one is."""
_PASSED_BY = ("CPU_Util", "Start_time", "End_time", "Conflicts", "tps average", "BW start", "BW end")
"""Columns that say nothing of the fabric."""
_OPERATION = "of operations: halves of round trips of sends and writes, else whole ones"
COLUMNS = {
    column.head: column
    for column in (
        Column("MsgSize", SIZE, "size", "bytes", "of a message", kind="whole"),
        Column("n_iterations", "iteration_count", "iterations", "", "operations that were timed", kind="whole"),
        Column("BW_peak", "peak_bandwidth_bytes_per_s", "peak", "bytes_per_s", "the most between two completions"),
        Column("BW_average", BANDWIDTH, "bandwidth", "bytes_per_s", "bytes over the time until the last is complete"),
        Column("MsgRate", RATE, "message rate", "per_s", "messages over that time", 1e6),
        Column("t_min", "latency_ns_least", "least", "ns", f"the least {_OPERATION}"),
        Column("t_max", "latency_ns_most", "most", "ns", f"the most {_OPERATION}"),
        Column("t_typical", LATENCY, "median", "ns", f"the median {_OPERATION}"),
        Column("t_avg", "latency_ns_mean", "mean", "ns", f"the mean {_OPERATION}"),
        Column("t_stdev", "latency_ns_deviation", "deviation", "ns", f"the standard deviation {_OPERATION}"),
        Column("99% percentile", "latency_ns_p99", "99 %", "ns", f"the 99th percentile {_OPERATION}"),
        Column("99.9% percentile", "latency_ns_p99_9", "99.9 %", "ns", f"the 99.9th percentile {_OPERATION}"),
    )
}
_NAMES = {
    "#bytes": "MsgSize",
    "#iterations": "n_iterations",
    "BW peak": "BW_peak",
    "BW average": "BW_average",
    "Message rate": "MsgRate",
}
"""What the report calls the columns that have another name there."""


@lru_cache(maxsize=256)
def column_of(head: str) -> Column:
    """Return the column of a head such as `BW average[MB/sec]`; raises ParseError for a unit that is not known."""
    stem, _, unit = head.rstrip("]").partition("[")
    column = COLUMNS.get(_NAMES.get(stem, stem))
    if column is None:
        if stem not in _PASSED_BY:
            raise ParseError(f"the column {shown(head)} is not known")
        return Column(stem, stem, stem, "", "")
    if column.unit == "bytes_per_s" and unit not in BYTES_PER_UNIT:
        raise ParseError(f"the bandwidth is in {unit or 'no unit'}, which is not known")
    if column.name == RATE and unit != "Mpps":
        raise ParseError(f"the rate of messages is in {unit or 'no unit'}, which is not known")
    if column.unit == "ns" and unit not in _NS_PER_UNIT:
        raise ParseError(f"{column.head} is in {unit or 'no unit'}, which is not known")
    factors = {"ns": _NS_PER_UNIT, "bytes_per_s": BYTES_PER_UNIT}.get(column.unit, {})
    return replace(column, factor=factors.get(unit, column.factor))


def terms_of(table: str) -> Terms:
    """Return how the test of a table is timed, and which of its bytes are counted."""
    if table.endswith("Latency Test"):
        return Terms("each operation, by the cycle counter of the client's processor")
    if "BW Test" not in table:
        return Terms()
    timing = "all operations together, by the cycle counter of the processor"
    return Terms(timing, "", BOTH_WAYS if table.endswith("Bidirectional BW Test") else ONE_WAY)
