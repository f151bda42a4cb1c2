"""qperf 0.4: each test with its rows, here of `--unify_units`, which gives every value in the smallest unit.

    tcp_lat:
        latency         =     2549.04 ns
        msg_rate        =      392304 /sec
        msg_size        =          64 bytes
        loc_send_msgs   =      196152
    tcp_bw:
        bw          =  2463634503 bytes/sec
        msg_size    =     1048576 bytes

`latency` is the test's time over twice its round trips, hence a mean; `bw` is what arrived over the test's time.
Without `--unify_units` prefixes are powers of ten in rates, and sizes are printed with 1024 and, in brackets, in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import Span, exactly, span
from fabriscope.readers.base import Column, Draft, Reader, Unit, Value
from fabriscope.readers.terms import BOTH_WAYS, ONE_WAY, SAME_BUFFER, Terms

_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "sec": 1e9}
_RATES = {"bytes/sec": 1.0, "KB/sec": 1e3, "MB/sec": 1e6, "GB/sec": 1e9, "TB/sec": 1e12} | {
    f"{prefix}{unit}/sec": 1e3**power / 8
    for power, prefix in enumerate(("", "K", "M", "G", "T"))
    for unit in ("b", "bits")
}
"""With `-ub` in bits."""
_COUNTS = {"/sec": 1.0, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9}
_SIZES = {"bytes": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "KB": 1e3, "MB": 1e6, "GB": 1e9}
_MESSAGES = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1.0}
FIELDS: dict[str, tuple[str, str, Unit, str, dict[str, float]]] = {
    "latency": ("latency_ns", "latency", "ns", "the test's time over twice its round trips, hence a mean", _TIMES),
    "bw": ("bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes that arrived over the test's time", _RATES),
    "send_bw": (
        "sent_bandwidth_bytes_per_s",
        "sent",
        "bytes_per_s",
        "bytes that were sent over the test's time",
        _RATES,
    ),
    "recv_bw": ("received_bandwidth_bytes_per_s", "received", "bytes_per_s", "bytes that arrived over it", _RATES),
    "msg_rate": ("message_rate_per_s", "message rate", "per_s", "messages over the test's time", _COUNTS),
    "msg_size": ("message_size_bytes", "size", "bytes", "of a message", _SIZES),
    "loc_send_msgs": ("sent_message_count", "messages sent", "", "by this side", _MESSAGES),
    "recv_msgs": ("received_message_count", "messages received", "", "by the other side", _MESSAGES),
    "time": ("duration_s", "time", "s", "of the test", _SECONDS),
}
"""Row to name, title, unit, definition, and the units in which it is printed."""
RESULTS = {"latency", "bw", "send_bw", "recv_bw"}

_OF_RATES = re.compile(r"_mr$|^ver_")
"""Tests of which a rate of messages is all that is printed."""
_OF_SOCKETS = ("tcp", "udp", "sctp", "sdp", "rds")
_TOLERANCE = 1e-3
_TIME_TOLERANCE = 0.25
"""Of rates over the time that was asked for: on a busy machine the timer that ends a test comes late."""

_HEAD = re.compile(r"(?P<test>[a-z_0-9]+):\s*")
_ROW = re.compile(r"\s+(?P<name>\w+)\s+=\s+(?P<value>\S+)\s*(?P<unit>|\S(?:.*\S)?)\s*")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,9}(?:\.[0-9]{1,9})?")
_IN_FULL = re.compile(r"[KMG]iB \(([\d,]{1,30})\)")


def _fill(draft: Draft) -> None:
    section: dict[str, tuple[str, str]] | None = None
    for line in draft.lines():
        head, row = _HEAD.fullmatch(line), _ROW.fullmatch(line)
        if head:
            _end(draft, section)
            is_test = head["test"] != "conf"
            section = {} if is_test else None
            if is_test:
                draft.table(head["test"])
        elif row and row["name"] == "loc_qperf":
            draft.version = row["value"]
        elif row and section is not None:
            if row["name"] in section:
                raise ParseError(f"{row['name']} stands twice in the result of {draft.tables[-1].name}")
            section[row["name"]] = (row["value"], row["unit"])
        elif row and row["name"] in FIELDS:
            draft.problem(f"{row['name']} stands outside of a result", "cut")
        elif section is not None and line[:1].isspace() and line.strip() and "failed" not in line:
            draft.problem(f"a row of {draft.tables[-1].name} is not whole: {shown(line.strip())}", "cut")
        elif section is not None and "failed" in line:
            draft.problem(f"qperf says: {shown(line.strip())}", "said")
    _end(draft, section)


def _end(draft: Draft, section: Mapping[str, tuple[str, str]] | None) -> None:
    """Make a row of a test's section, if it is one."""
    if section is None:
        return
    table = draft.tables[-1]
    results = RESULTS | ({"msg_rate"} if _OF_RATES.search(table.name) else set())
    if not results & set(section):
        draft.problem(f"{table.name} has no result", "cut", table.line)
        return
    _check_rows(table.name, section)
    line, draft.line = draft.line, table.line
    columns: list[Column] = []
    printed: dict[str, Value] = {}
    spans: dict[str, Span] = {}
    for name in (name for name in FIELDS if name in section):
        value, unit = _plain(*section[name])
        column_name, title, ours, definition, factors = FIELDS[name]
        if unit not in factors:
            raise ParseError(f"{name} is in {unit or 'no unit'}, which is not known")
        columns.append(Column(name, column_name, title, ours, definition, factors[unit]))
        printed[name] = columns[-1].printed(value)
        spans[name] = span(value) * factors[unit]
    _check(table.name, spans, {name: " ".join(section[name]).strip() for name in spans})
    table.columns = tuple(columns)
    draft.row(printed)
    draft.line = line


def _check_rows(test: str, section: Mapping[str, object]) -> None:
    """Raise ParseError where a result has rows of two kinds of tests: the title between them is missing."""
    kinds = [[name for name in names if name in section] for names in (("latency",), ("bw",), ("send_bw", "recv_bw"))]
    both = [names[0] for names in kinds if names]
    if len(both) > 1:
        raise ParseError(
            f"{test} has {both[0]} and {both[1]}, which no test prints: the title of another one is missing"
        )
    if test.endswith(("_lat", "_bw")) and test.endswith("_lat") != bool(kinds[0]):
        raise ParseError(f"{test} has {both[0]}, which it does not print: the title of another test is missing")


def _plain(value: str, unit: str) -> tuple[str, str]:
    """Return a number and its unit without the commas between thousands."""
    if in_full := _IN_FULL.fullmatch(unit):
        value, unit = in_full[1], "bytes"
    return value.replace(",", "") if _GROUPED.fullmatch(value) else value, unit


def _check(test: str, spans: Mapping[str, Span], said: Mapping[str, str]) -> None:
    """Raise ParseError where rates, times, sizes and counts of a test between sockets contradict each other.

    Tests of RDMA count some operations once and some twice.
    """
    if "time" in spans and spans["time"].most <= 0:
        raise ParseError(f"the test took {said['time']}")
    if test.partition("_")[0] not in _OF_SOCKETS:
        return
    for name, of, what in _derived(spans):
        tolerance = _TIME_TOLERANCE if "time" in of else _of_few(spans) if of == ("latency",) else _TOLERANCE
        if name in spans and not what.meets(spans[name], tolerance):
            beside = " and ".join(f"{other} {said[other]}" for other in of)
            raise ParseError(f"{name} is {said[name]}, which {beside} contradict")


def _of_few(spans: Mapping[str, Span]) -> float:
    """Return how far rate and latency may differ: the timer may end a test between a message and its answer."""
    sent = spans.get("loc_send_msgs")
    return max(_TOLERANCE, 1 / (2 * sent.least)) if sent is not None and sent.least > 0 else _TOLERANCE


def _derived(spans: Mapping[str, Span]) -> Iterator[tuple[str, tuple[str, ...], Span]]:
    """Yield what follows for a row from others: its name, theirs, and what it must be."""
    if "latency" in spans:
        yield "msg_rate", ("latency",), exactly(1e9) / spans["latency"]
    if "msg_rate" in spans and "msg_size" in spans:
        yield "bw", ("msg_rate", "msg_size"), spans["msg_rate"] * spans["msg_size"]
    for count, times in (("recv_msgs", 1), ("loc_send_msgs", 2)):
        if count in spans and "time" in spans and ("bw" in spans or "latency" in spans):
            yield "msg_rate", (count, "time"), spans[count].widened(1) * times / spans["time"]


_TEST = r"(?:tcp|udp|sctp|rds|sdp|rc|uc|ud|xrc|ver)_\w{0,20}(?:lat|bw|mr)"


def _terms(table: str) -> Terms:
    timing = "all messages of the test's time together, by each end's own clock"
    if table.endswith("_bw"):
        return Terms(timing, "", BOTH_WAYS if table.endswith("_bi_bw") else ONE_WAY)
    return Terms(timing, SAME_BUFFER if table.endswith("_lat") else "")


READER = Reader(
    "qperf", "qperf", re.compile(rf"^{_TEST}: {{0,9}}$", re.MULTILINE), _fill, _terms, ("lat:", "bw:", "mr:")
)
