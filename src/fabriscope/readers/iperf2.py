"""iperf 2: the row of each stream's whole time, with intervals or without, and the sum of several.

    [  3] local 192.168.0.102 port 49597 connected with 192.168.0.100 port 5001
    [ ID] Interval       Transfer     Bandwidth
    [  3]  0.0- 1.0 sec  28.6 MBytes   240 Mbits/sec
    [  3]  0.0-10.0 sec   265 MBytes   222 Mbits/sec

The row of the whole time looks like those of intervals: it is the longest that begins with the test. Some versions
print a [SUM] that is more than its streams: it is left out, and said.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import Span
from fabriscope.readers import _iperf
from fabriscope.readers._iperf import BYTES, JITTER, LOST, RATE, SECONDS, STREAM, SUM, TOTAL, Moved
from fabriscope.readers.base import Column, Draft, Reader, Value

_END = Column("end", "reported_by", "end", "", "who counted", kind="word")
_COLUMNS = (STREAM, _END, SECONDS, BYTES, RATE, JITTER, TOTAL, LOST)
_HEAD = re.compile(r"\s*\[ *ID\]\s+Interval\s+Transfer\s+(?:Bandwidth|Bitrate)(.*)")
_KNOWN_HEADS = re.compile(
    r"(?:\s+(?:Jitter|Lost/Total|Datagrams|Write/Err|Rtry|Cwnd/RTT(?:\(var\))?|NetPwr|Reads(?:=Dist|/Dist)?|Dist\(bin=\S+\)|Latency|avg/min/max/stdev|"
    r"PPS|Rx/inP|inP|InP|Total|Out-of-Order|Burst|Latency:|Bwd|Read/Timeo/Errno|Write/Timeo/Err|Write/Err/Timeo|Err|\S+\(\S+\)(?:/\S+)?))*\s*"
)
_NEARLY = 0.99
LARGEST_GAP_S = 0.05
"""Intervals follow each other, to the digits that are printed."""
_BEGIN = re.compile(
    r"\s*(?:Client connecting to (\S+), (TCP|UDP) port (\d+).*|Server listening on (TCP|UDP) port (\d+).*)"
)
_CONNECTED = re.compile(r"\s*\[ *(\*?\d{1,9})\] local \S+ port \d+ .*?connected with (\S+) port \d+.*")
_SERVER_REPORT = re.compile(r"\s*\[ *(\d{1,9})\] Server Report:\s*")
_WINDOW = re.compile(r"\s*(?:TCP window|UDP buffer) size: (|.*\S)\s*")
_OUT_OF_ORDER = "datagrams received out-of-order"
_COMPLAINT = re.compile(
    r"\s*(?:(?:connect|write|read) failed: .*|\[ *\d+\] WARNING: did not receive ack.*|iperf: .*error.*)"
)


@dataclass
class _Session:
    """A client's or a server's streams since they were connected."""

    line: int
    settings: dict[str, str] = field(default_factory=dict)
    rows: dict[tuple[str, str], list[Moved]] = field(default_factory=dict)
    """By stream and who counted."""
    row_count: int = 0
    connected: dict[str, int] = field(default_factory=dict)
    """Streams, each with the line that tells of it."""
    far: set[str] = field(default_factory=set)
    """Streams of which the next row is the server's."""


def _fill(draft: Draft) -> None:
    session = _Session(0)
    for line in draft.lines():
        if begin := _BEGIN.fullmatch(line):
            _end(draft, session)
            session = _Session(draft.line, {"protocol": begin[2] or begin[4]})
            session.settings |= {"connecting_to": begin[1]} if begin[1] else {}
        elif (window := _WINDOW.fullmatch(line)) and session.line:
            session.settings["window"] = window[1]
        elif connected := _CONNECTED.fullmatch(line):
            if any(stream in (connected[1], SUM) for stream, _ in session.rows):
                _end(draft, session)
                session = _Session(draft.line, session.settings)
            session.connected[connected[1].lstrip("*")] = draft.line
        elif report := _SERVER_REPORT.fullmatch(line):
            session.far.add(report[1])
        elif hit := _iperf.ROW.fullmatch(line):
            session.row_count += 1
            draft.work.hold_rows(session.row_count)
            moved = _iperf.moved(hit, draft.line)
            if _is_untold_report(session, moved):
                draft.problem(f"stream {moved.stream} has a row of the server's under no 'Server Report:'", "cut")
                session.far.add(moved.stream)
            end = "the far end" if moved.stream in session.far else "this end"
            session.rows.setdefault((moved.stream.lstrip("*"), end), []).append(moved)
        elif _iperf.NEARLY_ROW.fullmatch(line) and "-PDF" not in line and not line.rstrip().endswith(_OUT_OF_ORDER):
            draft.problem(f"a row that cannot be read: {shown(line.strip())}", "cut")
        elif (head := _HEAD.fullmatch(line)) and not _KNOWN_HEADS.fullmatch(head[1]):
            raise ParseError(f"the columns {shown(head[1].strip())} are not known")
        elif _COMPLAINT.fullmatch(line):
            draft.problem(f"iperf says: {shown(line.strip())}", "said")
    _end(draft, session)


def _is_untold_report(session: _Session, row: Moved) -> bool:
    """Return whether a row tells of lost datagrams behind one of the same stream that does not: the far end's."""
    before = session.rows.get((row.stream, "this end"), [])[-1:]
    return row.stream not in session.far and any(
        _iperf.datagrams(row.rest)[0] and not _iperf.datagrams(one.rest)[0] for one in before
    )


def _end(draft: Draft, session: _Session) -> None:
    """Make a row of each stream, and of their sum."""
    for stream, line in session.connected.items():
        if (stream, "this end") not in session.rows:
            draft.problem(f"stream {stream} is connected and has no row", "cut", line)
    for stream in sorted(session.far):
        if (stream, "the far end") not in session.rows:
            draft.problem(f"the server's report of stream {stream} has no row", "cut")
    if not session.rows:
        return
    wholes = {key: _whole(draft, rows, is_report=key[1] == "the far end") for key, rows in session.rows.items()}
    sums = {key: whole for key, whole in wholes.items() if key[0].startswith(SUM)}
    parts = {key: whole for key, whole in wholes.items() if key not in sums}
    _intervals(draft, session, wholes)
    for name, rows in (("streams" if sums or len(parts) > 1 else "total", parts), ("total", sums)):
        if not any(rows.values()):
            continue
        draft.table(name, _COLUMNS)
        for parameter, value in session.settings.items():
            draft.table_parameter(parameter, value)
        if sums and (count := len({stream for stream, _ in parts})) > 1:
            draft.table_parameter("stream_count", count)
        for (stream, end), row in rows.items():
            if row is not None and (name != "total" or not sums or _is_sum(draft, row, parts)):
                _row(draft, stream, end, row)


def _intervals(draft: Draft, session: _Session, wholes: dict[tuple[str, str], Moved | None]) -> None:
    """Add the rows of intervals, which of a log that is cut are all that there is."""
    rows = [(key, row) for key, rows in session.rows.items() for row in rows if row is not wholes[key]]
    if rows:
        draft.table("intervals", _COLUMNS)
    for (stream, end), row in sorted(rows, key=lambda one: one[1].line):
        _row(draft, stream, end, row)


def _whole(draft: Draft, rows: list[Moved], *, is_report: bool) -> Moved | None:
    """Return the row of a stream's whole time; None, with a problem, where there are intervals alone.

    A server's report has that row alone; else the whole time of a single interval is that interval.
    """
    longest = max(rows, key=lambda row: (row.seconds, row.line))
    last_s = max(row.end_s for row in rows)
    counts = Counter((row.start_s, row.end_s) for row in rows)
    twice = next((row for row in rows if counts[row.start_s, row.end_s] > 1), None)
    if twice is not None and (is_report or len(rows) > 2 or len(counts) > 1):
        raise ParseError(f"stream {longest.stream} has {twice.start_s:g} to {twice.end_s:g} s twice")
    has_whole = longest.start_s <= rows[0].start_s and longest.end_s >= last_s
    inside = sorted((row for row in rows if row is not longest or not has_whole), key=lambda row: row.start_s)
    ends = [(longest.start_s, longest.start_s), (longest.end_s, longest.end_s)] if has_whole and inside else []
    times = [*ends[:1], *((row.start_s, row.end_s) for row in inside), *ends[1:]]
    for (_, before_s), (after_s, last_s) in pairwise(times):
        # what is under way at the end is no interval of its own
        least_s = LARGEST_GAP_S if last_s > after_s else (inside[0].end_s - inside[0].start_s) * _NEARLY
        if after_s - before_s > least_s:
            gap = f"{before_s:g} and {after_s:g} s"
            draft.problem(f"stream {longest.stream} has no row between {gap}", "cut", inside[0].line)
    if not has_whole:
        draft.problem(f"stream {longest.stream} has intervals and no row of its whole time", "cut", rows[0].line)
        return None
    again = [row for row in rows if (row.start_s, row.end_s) == (longest.start_s, longest.end_s)]
    if len({(row.bytes_value, row.rate_bytes_per_s, _iperf.datagrams(row.rest)[0].get("lost")) for row in again}) > 1:
        raise ParseError(f"stream {longest.stream} has two rows of its whole time, in line {again[0].line} too")
    return longest


def _is_sum(draft: Draft, total: Moved, parts: dict[tuple[str, str], Moved | None]) -> bool:
    """Return whether a [SUM] is that of its streams; note it where not."""
    known = [part for part in parts.values() if part is not None]
    counted = Span(sum(part.bytes.least for part in known), sum(part.bytes.most for part in known))
    if not known or counted.meets(total.bytes, 0.01):
        return True
    streams = sum(part.bytes_value for part in known)
    draft.problem(
        f"[SUM] has {total.bytes_value:.0f} bytes, and its streams {streams:.0f}: it is left out", "refused", total.line
    )
    return False


def _row(draft: Draft, stream: str, end: str, row: Moved) -> None:
    more, _ = _iperf.datagrams(row.rest)
    if more.get("lost", 0) < 0:  # datagrams that came twice, or late
        draft.problem(f"{more.pop('lost')} datagrams are said to be lost: that number is left out", "refused", row.line)
    printed: dict[str, Value] = {"stream": stream, "end": end, "seconds": row.seconds, "bytes": row.bytes_value}
    draft.row({**printed, "rate": row.rate_bytes_per_s, **more}, line=row.line)


_SIGNATURE = re.compile(
    r"^[^\n\[]{0,20}\[ *(?:\*?\d{1,9}|SUM)\]\s{1,9}\d{1,9}\.(?:\d|\d{4})- *\d{1,9}\.(?:\d|\d{4}) sec\s"
    r"[^\n]{0,20}Bytes\s"
    r"|^[^\n]{0,20}Client connecting to \S{1,99}, (?:TCP|UDP) port \d",
    re.MULTILINE,
)
READER = Reader("iperf2", "iperf 2", _SIGNATURE, _fill, lambda _table: _iperf.TERMS, ("Bytes", "Client connecting to"))
