"""iperf3's JSON (`-J`): the summary at the receiver of a stream over TCP or UDP.

    "end": {
        "sum_received": {"start": 0, "end": 2.005566, "seconds": 2.005566,
                         "bytes": 2806382592, "bits_per_second": 11194376418.427517, "sender": true},
        "sender_tcp_congestion": "bbr", ...

With -J it ends with status 0 even where it failed, and says so in "error".
"""

from __future__ import annotations

import re

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.readers.base import Column, Draft, Reader, Unit

RATE_TOLERANCE = 0.001
LONGEST_COMPLAINT = 300

_OF_TEST = ("start", "test_start")
_TEXTS = {
    "protocol": (*_OF_TEST, "protocol"),
    "congestion_control": ("end", "sender_tcp_congestion"),
}
_WHOLES: dict[str, tuple[Unit, tuple[str, ...]]] = {
    "stream_count": ("", (*_OF_TEST, "num_streams")),
    "block_size_bytes": ("bytes", (*_OF_TEST, "blksize")),
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


def _fill(draft: Draft) -> None:
    try:
        report = Foreign.json(draft.text, "")
    except ParseError:
        draft.problem("no whole JSON report", "cut")
        return
    version = report.get("start", "version")
    draft.version = version.text() if version else None
    error = report.get("error")
    if error is not None:
        draft.problem(f"iperf3 says: {error.text()[:LONGEST_COMPLAINT]}", "said")
        return
    for name, path in _TEXTS.items():
        part = report.get(*path)
        draft.parameter(name, part.text() if part else None)
    for name, (unit, path) in _WHOLES.items():
        part = report.get(*path)
        draft.parameter(name, part.whole() if part else None, unit)
    protocol = report.get(*_TEXTS["protocol"])
    is_udp = protocol is not None and protocol.text() == "UDP"
    draft.table("UDP stream" if is_udp else "TCP stream", UDP if is_udp else TCP)
    _row(draft, report.at("end", "sum_received"), is_udp)


def _row(draft: Draft, total: Foreign, is_udp: bool) -> None:
    size_bytes, seconds = total.at("bytes").whole(), total.at("seconds").number()
    if not seconds > 0:
        raise ParseError(f"the receiver's time is {seconds} s")
    rate, bits_per_s = size_bytes / seconds, total.at("bits_per_second").number()
    if abs(rate - bits_per_s / 8) > RATE_TOLERANCE * rate:
        raise ParseError(f"{bits_per_s} bit/s are not {rate} B/s")
    more = {name: total.at(name).whole() for name in ("packets", "lost_packets")} if is_udp else {}
    jitter = {"jitter_ms": total.at("jitter_ms").number(least=0)} if is_udp else {}
    draft.row({"bytes": size_bytes, "seconds": seconds, "rate": rate, **jitter, **more})


READER = Reader("iperf3", "iperf3 -J", re.compile(r'"version"\s{0,9}:\s{0,9}"iperf 3|"sum_received"'), _fill)
