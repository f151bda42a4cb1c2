"""iperf3's text: the rows below its last head, of each stream at each end, and their sums.

- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  29.1 GBytes  25.0 Gbits/sec    0             sender
[  5]   0.00-10.05  sec  29.1 GBytes  24.9 Gbits/sec                  receiver
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import Span
from fabriscope.readers import _iperf
from fabriscope.readers._iperf import BYTES, JITTER, LOST, RATE, SECONDS, STREAM, SUM, TOTAL, Moved
from fabriscope.readers.base import Column, Draft, Value

_END = Column("end", "reported_by", "end", "", "who counted: the sender or the receiver", kind="word")
_ROLE = Column("role", "role", "role", "", "TX: this end sends, RX: it receives; C: a client, S: a server", kind="word")
_RETRANSMITS = Column(
    "retransmits", "retransmit_count", "retransmits", "", "segments that were sent again", kind="whole"
)
COLUMNS = (STREAM, _END, _ROLE, SECONDS, BYTES, RATE, _RETRANSMITS, JITTER, TOTAL, LOST)
_SEPARATOR = re.compile(r"\s*(?:- ){9,99}-?\s*|\s*Test Complete\. Summary Results:\s*")
_HEAD = re.compile(
    r"\s*\[ *ID\](?:\[Role\])?\s+Interval\s+Transfer\s+(?:Bandwidth|Bitrate)"
    r"((?:\s+(?:Retr|Cwnd|Jitter|Lost/Total Datagrams|Total Datagrams))*)\s*"
)
_ANY_HEAD = re.compile(r"\s*\[ *ID\](?:\[Role\])?\s+Interval\s.*")
_BEGIN = re.compile(
    r"\s*(?:Connecting to host (\S{1,99}), port \d{1,5}|Accepted connection from (\S{1,99}), port \d{1,5})\s*"
)
_VERSION = re.compile(r"\s*iperf (3\.\S{1,20})\s*")
_REVERSE = re.compile(r"\s*Reverse mode, remote host \S{1,99} is sending\s*")
_PROTOCOL = re.compile(r"\s*Starting Test: protocol: (\w{3,4}), (\d{1,9}) streams, (\d{1,12}) byte blocks.*")
_ERROR = re.compile(r"\s*iperf3: (|.*\S)\s*")
_TAIL = re.compile(r"(?P<numbers>(?:\s+\d+)?)(?:\s+(?P<end>sender|receiver))?\s*")
_SENT = re.compile(r"(?:\s+0\.000 ms)?\s+(?:0/)?(?P<total>\d+)(?: \(0%\))?(?:\s+(?P<end>sender|receiver))?\s*")
_TOLERANCE = 0.01


@dataclass
class _Test:
    """One test that is being read."""

    line: int
    settings: dict[str, str | int] = field(default_factory=dict)
    rows: list[tuple[Moved, dict[str, Value]]] = field(default_factory=list)
    is_final: bool = False
    heads: str = ""


def fill(draft: Draft) -> None:
    """Read the text of clients and of a server."""
    test: _Test | None = None
    is_after_separator = False
    for line in draft.lines():
        if (hit := _iperf.ROW.fullmatch(line)) and "(omitted)" not in line:
            is_final = test is not None and test.is_final
            if hit["start"] == hit["end"] and not is_final:  # what came after the last whole interval: the end has it
                continue
            moved = _iperf.moved(hit, draft.line)
            if test is not None and is_final:
                test.rows.append((moved, _rest(moved.rest, test.heads)))
        elif begin := _BEGIN.fullmatch(line):
            _end(draft, test)
            test = _Test(draft.line, {"connecting_to": begin[1]} if begin[1] else {})
        elif version := _VERSION.fullmatch(line):
            draft.version = version[1]
        elif (protocol := _PROTOCOL.fullmatch(line)) and test:
            test.settings |= {"protocol": protocol[1], "stream_count": int(protocol[2])}
            test.settings["block_size_bytes"] = int(protocol[3])
        elif test and _REVERSE.fullmatch(line):
            test.settings["reverse"] = 1
        elif head := _HEAD.fullmatch(line):
            test = test or _Test(draft.line)
            test.heads = " ".join(head[1].split())
            if "Datagrams" in test.heads:
                test.settings["protocol"] = "UDP"
            if is_after_separator:
                test.is_final, test.rows = True, []
        elif _ANY_HEAD.fullmatch(line):
            raise ParseError(f"the columns {shown(' '.join(line.split()))} are not those that are known")
        elif test is not None and test.is_final and _iperf.NEARLY_ROW.fullmatch(line):
            draft.problem(f"a row that cannot be read: {shown(line.strip())}", "cut")
        elif error := _ERROR.fullmatch(line):
            draft.problem(f"iperf3 says: {shown(error[1])}", "said")
            test = None if test is not None and not test.rows else test
        is_after_separator = bool(_SEPARATOR.fullmatch(line))
    _end(draft, test)


def _rest(rest: str, heads: str) -> dict[str, Value]:
    """Return what stands behind a final row's rate; raises ParseError for what is not known."""
    more, after = _iperf.datagrams(rest) if "Lost" in heads else ({}, rest)
    if more:
        end = _TAIL.fullmatch(after)
        return {**more, **({"end": end["end"]} if end and end["end"] else {})}
    sent = _SENT.fullmatch(rest) if "Total Datagrams" in heads else None
    if sent is not None:
        return {"packets": int(sent["total"]), **({"end": sent["end"]} if sent["end"] else {})}
    tail = _TAIL.fullmatch(rest)
    if tail is None:
        raise ParseError(f"what {shown(rest.strip())} behind the rate is, is not known")
    found: dict[str, Value] = {"end": tail["end"]} if tail["end"] else {}
    if tail["numbers"].strip():
        if "Retr" not in heads:
            raise ParseError(f"what {shown(rest.strip())} behind the rate is, is not known")
        found["retransmits"] = int(tail["numbers"])
    return found


def _end(draft: Draft, test: _Test | None) -> None:
    """Make tables of a test's streams and of their sums."""
    if test is None:
        return
    if not test.rows:
        draft.problem(f"the test of line {test.line} has no result", "cut", test.line)
        return
    sums = [(moved, more) for moved, more in test.rows if moved.stream.startswith(SUM)]
    parts = [(moved, more) for moved, more in test.rows if not moved.stream.startswith(SUM)]
    if len({(moved.stream, moved.role, more.get("end")) for moved, more in test.rows}) < len(test.rows):
        raise ParseError("a stream has two rows at one end")
    _check_sums(sums, parts)
    _tell_missing(draft, test)
    if (count := len({moved.stream for moved, _ in parts})) > 1 and not any(moved.role for moved, _ in parts):
        test.settings.setdefault("stream_count", count)
    if not sums and len({moved.stream for moved, _ in parts}) > 1 and not any(moved.role for moved, _ in parts):
        draft.problem(f"the test of line {test.line} has several streams and no sum", "cut", test.line)
        return
    for name, rows in (("streams" if sums else "total", parts), ("total", sums)):
        if rows:
            draft.table(name, COLUMNS)
            for parameter, value in test.settings.items():
                draft.table_parameter(parameter, value, "bytes" if parameter.endswith("_bytes") else "")
        for moved, more in rows:
            first: dict[str, Value] = {"stream": moved.stream, **({"role": moved.role} if moved.role else {})}
            printed = {"seconds": moved.seconds, "bytes": moved.bytes_value, "rate": moved.rate_bytes_per_s}
            draft.row({**first, **printed, **more}, line=moved.line)


def _tell_missing(draft: Draft, test: _Test) -> None:
    """Note streams, and sums, that have a row of one end, and none of the other end; a client prints both."""
    ends = {end for _, more in test.rows if (end := more.get("end"))}
    if ends and "connecting_to" in test.settings:
        ends |= {"sender", "receiver"}
    have = {(moved.stream, moved.role, more.get("end")): moved.line for moved, more in test.rows}
    for (stream, role, _), line in {key: line for key, line in have.items() if ends}.items():
        for end in sorted(str(end) for end in ends if (stream, role, end) not in have):
            draft.problem(f"stream {stream} has no row of its {end}", "cut", line)


_Rows = Sequence[tuple[Moved, dict[str, Value]]]


def _check_sums(sums: _Rows, parts: _Rows) -> None:
    """Raise ParseError where a sum is not that of its streams."""
    for total, more in sums:
        alike = [moved for moved, other in parts if (moved.role, other.get("end")) == (total.role, more.get("end"))]
        counted = Span(sum(one.bytes.least for one in alike), sum(one.bytes.most for one in alike))
        if alike and not counted.meets(total.bytes, _TOLERANCE):
            streams = sum(one.bytes_value for one in alike)
            raise ParseError(f"the sum has {total.bytes_value:.0f} bytes, and its streams {streams:.0f}")
