"""iperf3: its text, and its JSON (`-J`), the summary at the receiver of a stream over TCP or UDP.

    "end": {
        "sum_received": {"start": 0, "end": 2.005566, "seconds": 2.005566,
                         "bytes": 2806382592, "bits_per_second": 11194376418.427517, "sender": true},
        "sender_tcp_congestion": "bbr", ...

With -J it ends with status 0 even where it failed, and says so in "error".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.readers import _iperf, _iperf3_text, _marks
from fabriscope.readers._iperf import TERMS
from fabriscope.readers._json_text import json_report
from fabriscope.readers.base import Column, Draft, Reader, Unit

RATE_TOLERANCE = 0.001
TIME_TOLERANCE = 0.01
STRAY_S = 0.1
"""By which the last interval may reach beyond the end."""
COUNT_TOLERANCE = 0.05
"""Of bytes that two ends, or the intervals and the whole, count a little later or earlier."""
ROUNDING_S = 0.011
"""By which a printed interval may begin beside the end of the one before: its last digit, rounded in two ways."""
LONGEST_COMPLAINT = 300


@dataclass(frozen=True)
class Interval:
    """What one stream moved between two times of its own, by one end."""

    start_s: float
    end_s: float
    size_bytes: float
    """To the digits of the rate, which has more of them than the bytes."""


_OF_TEST = ("start", "test_start")
_TEXTS = {
    "protocol": (*_OF_TEST, "protocol"),
    "congestion_control": ("end", "sender_tcp_congestion"),
}
_WHOLES: dict[str, tuple[Unit, tuple[str, ...]]] = {
    "stream_count": ("", (*_OF_TEST, "num_streams")),
    "block_size_bytes": ("bytes", (*_OF_TEST, "blksize")),
    "asked_duration_s": ("s", (*_OF_TEST, "duration")),
    "omitted_s": ("s", (*_OF_TEST, "omit")),
    "reverse": ("", (*_OF_TEST, "reverse")),
    "asked_buffer_bytes": ("bytes", ("start", "sock_bufsize")),
    "send_buffer_bytes": ("bytes", ("start", "sndbuf_actual")),
    "receive_buffer_bytes": ("bytes", ("start", "rcvbuf_actual")),
    "maximum_segment_bytes": ("bytes", ("start", "tcp_mss_default")),
    "retransmits": ("", ("end", "sum_sent", "retransmits")),
}
_BYTES = Column("bytes", "total_bytes", "bytes", "bytes", "that arrived", kind="whole")
_SECONDS = Column("seconds", "duration_s", "time", "s", "of the receiver, without the seconds that were omitted")
_RATE = Column("rate", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "those bytes over that time")
TCP = (_BYTES, _SECONDS, _RATE)
UDP = (
    *TCP,
    Column("jitter_ms", "jitter_ns", "jitter", "ns", "of the packets' delays, smoothed as RFC 1889 does", 1e6),
    Column("packets", "packet_count", "packets", "", "that were sent", kind="whole"),
    Column("lost_packets", "lost_packet_count", "lost", "", "packets that did not arrive", kind="whole"),
)


def intervals(text: str) -> list[Interval]:
    """Return the intervals of the only stream that a server's or client's text tells of; raises ParseError."""
    found: list[Interval] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("- - -"):
            break  # the whole stands below it
        hit = _iperf.ROW.fullmatch(line)
        if hit is None or hit["start"] == hit["end"]:  # the last one, of less than its digits show
            continue
        row = _iperf.moved(hit, number)
        start_s = found[-1].end_s if found else row.start_s
        if abs(row.start_s - start_s) > ROUNDING_S:
            raise ParseError(f"an interval begins at {row.start_s:g} s, and the one before ended at {start_s:g}")
        found.append(Interval(start_s, row.end_s, row.rate_bytes_per_s * row.seconds))
    return found


def _fill(draft: Draft) -> None:
    if draft.text.lstrip()[:1] != "{" and _marks.has(draft.text, _TEXT, _TEXT_MARKS):
        _iperf3_text.fill(draft)
        if behind := re.search(r'^ {0,40}"sum_received"', draft.text, re.MULTILINE):
            line = draft.place(draft.text.count("\n", 0, behind.start()) + 1)
            draft.problem("a report of JSON stands behind iperf3's text, and is not read: split them", "cut", line)
        return
    value = json_report(draft, "iperf3")
    if value is None:
        return
    report = Foreign(value, "")
    version = report.get("start", "version")
    draft.version = version.text() if version else None
    error = report.get("error")
    if error is not None:
        draft.problem(f"iperf3 says: {error.text()[:LONGEST_COMPLAINT]}", "said")
        return
    _tell(draft, report)
    # some versions say so nowhere else
    is_both_ways = any("bidir" in name for name in report.at("end").mapping())
    draft.parameter("bidirectional", 1 if is_both_ways else None)
    protocol = report.get(*_TEXTS["protocol"])
    is_udp = protocol is not None and protocol.text() == "UDP"
    draft.table("UDP stream" if is_udp else "TCP stream", UDP if is_udp else TCP)
    # old versions have one sum of both ends of UDP
    total = report.get("end", "sum_received") or (
        report.at("end", "sum") if is_udp else report.at("end", "sum_received")
    )
    _row(draft, total, is_udp)
    if not is_both_ways:
        _check_sums(report, total) if is_udp else _check_streams(report, total)
    _check_intervals(report)


def _tell(draft: Draft, report: Foreign) -> None:
    """Tell what the report says of its test."""
    for name, path in _TEXTS.items():
        part = report.get(*path)
        draft.parameter(name, part.text() if part else None)
    for name, host in _hosts(report):
        draft.parameter(name, host)
    for name, (unit, path) in _WHOLES.items():
        part = report.get(*path)
        draft.parameter(name, part.whole() if part else None, unit)
    held_to = report.get(*_OF_TEST, "target_bitrate")
    draft.parameter("asked_rate_bytes_per_s", (held_to.number(least=0) if held_to else 0) / 8 or None, "bytes_per_s")


def _row(draft: Draft, total: Foreign, is_udp: bool) -> None:
    size_bytes, seconds = total.at("bytes").whole(), total.at("seconds").number()
    if not seconds > 0:
        raise ParseError(f"the receiver's time is {seconds} s")
    rate, bits_per_s = size_bytes / seconds, total.at("bits_per_second").number()
    if abs(rate - bits_per_s / 8) > RATE_TOLERANCE * rate:
        raise ParseError(f"{bits_per_s} bit/s are not {rate} B/s")
    begin, end = total.get("start"), total.get("end")
    if begin is not None and end is not None:
        lasted = end.number() - begin.number(least=0)
        if abs(lasted - seconds) > TIME_TOLERANCE * seconds:
            raise ParseError(f"the receiver's time is {seconds} s, and from its start to its end are {lasted:g} s")
    more = {name: total.at(name).whole() for name in ("packets", "lost_packets")} if is_udp else {}
    if is_udp and more["lost_packets"] > more["packets"]:
        raise ParseError(f"{more['lost_packets']} packets are said to be lost of {more['packets']}")
    jitter = {"jitter_ms": total.at("jitter_ms").number(least=0)} if is_udp else {}
    draft.row({"bytes": size_bytes, "seconds": seconds, "rate": rate, **jitter, **more}, derived=_RATE.name)


def _hosts(report: Foreign) -> Iterator[tuple[str, str]]:
    """Yield to which host a client was told to connect, and to which its streams are connected."""
    asked, connected = report.get("start", "connecting_to", "host"), report.get("start", "connected")
    if asked is not None:
        yield "connecting_to", asked.text()
    for one in connected.items() if connected is not None else []:
        if (remote := one.get("remote_host")) is not None:
            yield "remote_host", remote.text()


def _check_sums(report: Foreign, total: Foreign) -> None:
    """Raise ParseError where the sum of both ends of a stream over UDP is not that of the receiver."""
    both = report.get("end", "sum")
    if both is None:
        return
    for name in ("lost_packets", "packets", "jitter_ms"):
        said, of_both = total.get(name), both.get(name)
        if said is None or of_both is None:
            continue
        theirs, ours = of_both.number(least=0), said.number(least=0)
        if abs(theirs - ours) > COUNT_TOLERANCE * ours:
            raise ParseError(f"{name} is {ours:g} at the receiver, and {theirs:g} in the sum of both ends")


def _check_streams(report: Foreign, total: Foreign) -> None:
    """Raise ParseError where streams over TCP do not come to their sum, or more arrived than was sent."""
    arrived = total.at("bytes").whole()
    streams = report.get("end", "streams")
    ends = [stream.get("receiver", "bytes") for stream in streams.items()] if streams is not None else []
    counts = [end.whole() for end in ends if end is not None]
    if counts and len(counts) == len(ends) and sum(counts) != arrived:
        raise ParseError(f"the streams' receivers have {sum(counts)} bytes, and their sum {arrived}")
    said = report.get(*_OF_TEST, "num_streams")
    if said is not None and ends and said.whole() != len(ends):
        raise ParseError(f"{said.whole()} streams were started, and {len(ends)} ended")
    sent, omitted = report.get("end", "sum_sent", "bytes"), report.get(*_OF_TEST, "omit")
    # what was under way when the omitted seconds were over counts at the receiver alone
    if sent is not None and not (omitted and omitted.whole()) and arrived > sent.whole() * (1 + COUNT_TOLERANCE):
        raise ParseError(f"{arrived} bytes arrived, and {sent.whole()} were sent")


def _check_intervals(report: Foreign) -> None:
    """Raise ParseError where an interval ends, or all of them count, beyond the whole of which they are parts."""
    intervals, whole = report.get("intervals"), report.get("end", "sum_sent")
    reverse, omitted = (report.get(*_OF_TEST, name) for name in ("reverse", "omit"))
    if intervals is None or whole is None or (reverse is not None and reverse.value):
        return
    sums = [part for one in intervals.items() if (part := one.get("sum")) is not None]
    counted = [part for part in sums if not (is_omitted := part.get("omitted")) or not is_omitted.flag()]
    omitted_s = omitted.whole() if omitted is not None else 0
    last_s, end_s = max((part.at("end").number() for part in counted), default=0.0), whole.at("end").number()
    if last_s > (end_s + omitted_s) * (1 + TIME_TOLERANCE) + STRAY_S:
        raise ParseError(f"an interval ends at {last_s} s, and the test at {end_s} s")
    all_bytes, most_bytes = sum(part.at("bytes").whole() for part in counted), whole.at("bytes").whole()
    if not omitted_s and all_bytes > most_bytes * (1 + COUNT_TOLERANCE):
        raise ParseError(f"the intervals have {all_bytes} bytes, and the whole {most_bytes}")


_TEXT = re.compile(
    r"^[^\n\[{]{0,40}\[ *(?:\d{1,9}|SUM(?:-\w{1,9})?)\](?:\[\w\w-\w\])?\s{1,9}\d{1,9}\.\d\d-\d{1,9}\.\d\d\s{1,9}sec\s"
    r"|^[ \t]{0,20}iperf3: |^[ \t]{0,20}Connecting to host \S{1,99}, port \d",
    re.MULTILINE,
)
_TEXT_MARKS, _JSON_MARKS = ("sec", "iperf3: ", "Connecting to host"), ('"iperf 3', '"sum_received"')
_JSON = re.compile(r'"version"\s{0,9}:\s{0,9}"iperf 3|"sum_received"')
_SIGNATURE = re.compile(f"{_JSON.pattern}|{_TEXT.pattern}", re.MULTILINE)
READER = Reader("iperf3", "iperf3, text and -J", _SIGNATURE, _fill, lambda _table: TERMS, (*_JSON_MARKS, *_TEXT_MARKS))
