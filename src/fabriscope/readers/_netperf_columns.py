"""The columns of netperf's tables, the names of its omni tests' values, and the units of its rates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column, Value
from fabriscope.readers.terms import ONE_WAY, Terms

RATES = {f"10^{power}bits": 10.0**power / 8 for power in (0, 3, 6, 9, 12)} | {
    "KBytes": 1024.0,
    "MBytes": 1024.0**2,
    "GBytes": 1024.0**3,
    "bytes": 1.0,
    "Bytes": 1.0,
}
UNIT_WORD = re.compile(r"(10\^\d{1,2}bits|[KMG]?[Bb]ytes)/s(?:ec)?")
SPELT = "the unit of the head: bits of powers of 10, bytes of powers of 2"
RATE = Column(
    "throughput", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes that arrived over the time",
    unit_in_text=SPELT,
)  # fmt: skip
SENT_RATE = Column(
    "sent", "sent_bandwidth_bytes_per_s", "sent", "bytes_per_s", "bytes that were sent over the time",
    unit_in_text=SPELT,
)  # fmt: skip
TRANSACTIONS = Column("transactions", "transaction_rate_per_s", "rate", "per_s", "requests with answers over time")
SECONDS = Column("seconds", "duration_s", "time", "s", "of the test")
MESSAGE = Column("message", "message_size_bytes", "size", "bytes", "of each send", kind="whole")


def whole(head: str, name: str, title: str, definition: str, *, is_count: bool = False) -> Column:
    return Column(head, name, title, "" if is_count else "bytes", definition, kind="whole")


RECEIVE = whole("receive socket", "receive_socket_bytes", "receive buffer", "of the receiver's socket")
SEND = whole("send socket", "send_socket_bytes", "send buffer", "of the sender's socket")
REQUEST, RESPONSE = (whole(name, f"{name}_size_bytes", name, f"of each {name}") for name in ("request", "response"))
SENT = whole("messages sent", "sent_message_count", "messages sent", "that the sender's system took", is_count=True)
ERRORS = whole("errors", "error_count", "errors", "sends that failed", is_count=True)
ARRIVED = whole("messages received", "received_message_count", "messages received", "that arrived", is_count=True)
CPU = (
    Column("local CPU", "local_cpu_percent", "local CPU", "percent", "of the local processors; -1 is not measured"),
    Column("remote CPU", "remote_cpu_percent", "remote CPU", "percent", "of the remote processors"),
    Column("local demand", "local_demand_us", "local demand", "", "usec of a processor for a KB, or for a transaction"),
    Column("remote demand", "remote_demand_us", "remote demand", "", "usec of a remote processor, likewise"),
)
STREAM = (RECEIVE, SEND, MESSAGE, SECONDS, RATE)
DATAGRAMS = (SEND, MESSAGE, SECONDS, SENT, ERRORS, SENT_RATE)
FAR_DATAGRAMS = (RECEIVE, SECONDS, ARRIVED, RATE)
RESPONSES = (SEND, RECEIVE, REQUEST, RESPONSE, SECONDS, TRANSACTIONS)
MOVED = (
    *RESPONSES[:-1],
    Column(
        "throughput", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes of requests and answers over time",
        unit_in_text=SPELT,
    ),
)  # fmt: skip
"""Of requests and answers whose bytes are asked for (`-f`)."""
_BURST = re.compile(r": first burst (\d{1,9})\b")
"""Requests that are under way at once, beside the first."""


def settings_of(title: str) -> Iterator[tuple[str, Value]]:
    """Yield the settings that a title tells of behind the hosts."""
    if burst := _BURST.search(title):
        yield "first_burst", int(burst[1])
    if ": nodelay" in title:
        yield "settings", "nodelay"


def throughput_in(stated: str) -> Column:
    """Return the column of a throughput in a unit; raises ParseError for one that is not known."""
    if stated in ("Trans/s", "Trans/sec"):
        return Column("Throughput", TRANSACTIONS.name, "rate", "per_s", TRANSACTIONS.definition)
    unit = UNIT_WORD.fullmatch(stated)
    if unit is None or unit[1] not in RATES:
        raise ParseError(f"the throughput is in {shown(stated)}, which is not known")
    return Column("Throughput", RATE.name, "bandwidth", "bytes_per_s", RATE.definition, RATES[unit[1]])


def terms_of(table: str) -> Terms:
    """Return the terms of a test by its title."""
    if "STREAM" in table.upper():
        return Terms("the bytes of the test's time", "a ring of send buffers", f"{ONE_WAY}, the payload alone")
    return Terms("requests with their answers in the test's time") if "REQUEST" in table.upper() else Terms()


NS = 1e3
NAMED = {
    "Throughput": ("throughput", 1.0),
    "Elapsed Time (sec)": ("duration_s", 1.0),
    "Mean Latency Microseconds": ("latency_ns_mean", NS),
    "Minimum Latency Microseconds": ("latency_ns_least", NS),
    "Maximum Latency Microseconds": ("latency_ns_most", NS),
    "Stddev Latency Microseconds": ("latency_ns_deviation", NS),
    "50th Percentile Latency Microseconds": ("latency_ns_p50", NS),
    "90th Percentile Latency Microseconds": ("latency_ns_p90", NS),
    "99th Percentile Latency Microseconds": ("latency_ns_p99", NS),
}
KEYS = {
    "THROUGHPUT": "Throughput",
    "THROUGHPUT_UNITS": "Throughput Units",
    "ELAPSED_TIME": "Elapsed Time (sec)",
    "MEAN_LATENCY": "Mean Latency Microseconds",
    "MIN_LATENCY": "Minimum Latency Microseconds",
    "MAX_LATENCY": "Maximum Latency Microseconds",
    "STDDEV_LATENCY": "Stddev Latency Microseconds",
    "P50_LATENCY": "50th Percentile Latency Microseconds",
    "P90_LATENCY": "90th Percentile Latency Microseconds",
    "P99_LATENCY": "99th Percentile Latency Microseconds",
}
