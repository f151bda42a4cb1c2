"""What iperf 2 and 3 print alike: a stream's id, its interval, what it moved, and its rate.

    [  5]   0.00-10.05  sec  29.1 GBytes  24.9 Gbits/sec                  receiver
    [SUM]  0.0-10.0 sec  1.09 GBytes   939 Mbits/sec

Bytes are in powers of 1024 and bits in powers of 1000, in one and the same row; rates in bytes (`-f K`) are binary too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number
from fabriscope.model.rounding import Span, span
from fabriscope.readers.base import Column
from fabriscope.readers.terms import ONE_WAY, Terms

_BINARY = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
_BITS = {"": 1 / 8, "K": 1e3 / 8, "M": 1e6 / 8, "G": 1e9 / 8, "T": 1e12 / 8}
ROW = re.compile(
    r"\s*\[ *(?P<id>\*?\d{1,9}|SUM(?:-\w+)?)\](?:\[(?P<role>\w{2}-\w)\])?\s+(?P<start>\d{1,15}\.\d{1,9})-"
    r" *(?P<end>\d{1,15}\.\d{1,9})\s+"
    r"sec\s+"
    r"(?P<size>\S+) (?P<size_unit>[KMGT]?)Bytes\s+"
    r"(?P<rate>\S+) (?P<rate_unit>[KMGT]?)(?P<what>bits|Bytes)/sec(?P<rest>.*)"
)
NEARLY_ROW = re.compile(
    r"\s*\[ *(?:\*?\d{1,9}|SUM(?:-\w+)?)\](?:\[\w{2}-\w\])?(?:\s+-?\d[\d.]*(?:-.*|\s*)|\s*)"
    r"|\s*\[ *(?:\*?\d{0,9}|SU?M?)\s*"
)
"""What is left of one."""
DATAGRAMS = re.compile(
    r"\s+(?P<jitter>\d+\.\d+) ms\s+(?P<lost>-?\d+)/ *(?P<total>\d+) \((?P<share>\S+)%\)(?P<after>.*)"
)
SUM = "SUM"

STREAM = Column("stream", "stream", "stream", "", "its number, or SUM", kind="word")
SECONDS = Column("seconds", "duration_s", "time", "s", "of the stream at that end")
BYTES = Column(
    "bytes", "total_bytes", "bytes", "bytes", "that were sent, or arrived, to the digits that are printed",
    unit_in_text="Bytes to GBytes, with prefixes of powers of 2^10",
)  # fmt: skip
RATE = Column(
    "rate", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "those bytes over that time",
    unit_in_text="bits/sec with prefixes of powers of 10^3, or Bytes/sec with those of 2^10",
)  # fmt: skip
JITTER = Column("jitter", "jitter_ns", "jitter", "ns", "of the packets' delays, smoothed as RFC 1889 does", 1e6)
TOTAL = Column("packets", "packet_count", "packets", "", "that were sent", kind="whole")
LOST = Column("lost", "lost_packet_count", "lost", "", "packets that did not arrive", kind="whole")
TERMS = Terms(
    "the bytes of all calls until the end, by the clock of the end that counts",
    "each stream sends one block again and again, unless it sends a file",
    f"{ONE_WAY}, the payload alone",
)
_TOLERANCE = 0.003
"""Of bytes over time against the rate: a version may have taken the time of the other end."""


@dataclass(frozen=True)
class Moved:
    """One row: what a stream moved in an interval."""

    line: int
    stream: str
    role: str
    start_s: float
    end_s: float
    bytes: Span
    bytes_value: float
    rate_bytes_per_s: float
    rest: str
    """What stands behind the rate."""

    @property
    def seconds(self) -> float:
        """The length of the interval."""
        return self.end_s - self.start_s


def moved(hit: re.Match[str], line: int) -> Moved:
    """Return a row; raises ParseError where its bytes over its time are not its rate."""
    size, rate = number(hit["size"], "size", "", least=0), number(hit["rate"], "rate", "", least=0)
    start, end = float(hit["start"]), float(hit["end"])
    unit = (_BINARY if hit["what"] == "Bytes" else _BITS)[hit["rate_unit"]]
    size_bytes = span(hit["size"]) * _BINARY[hit["size_unit"]]
    step = 10.0 ** -len(hit["end"].partition(".")[2])
    time = Span(max(end - start - 2 * step, 0.0), end - start + 2 * step)
    if end <= start and (size or rate):
        raise ParseError(f"the interval from {hit['start']} to {hit['end']} sec has no length")
    if not (size_bytes / time).meets(span(hit["rate"]) * unit, _TOLERANCE):
        moved_text = f"{hit['size']} {hit['size_unit']}Bytes in {end - start:g} sec"
        raise ParseError(f"{moved_text} are not {hit['rate']} {hit['rate_unit']}{hit['what']}/sec")
    value = size * _BINARY[hit["size_unit"]]
    return Moved(line, hit["id"], hit["role"] or "", start, end, size_bytes, value, rate * unit, hit["rest"])


def datagrams(rest: str) -> tuple[dict[str, float | int], str]:
    """Return jitter, packets and lost ones of a row of UDP, and what stands behind; raises ParseError."""
    hit = DATAGRAMS.match(rest)
    if hit is None:
        return {}, rest
    lost, total = int(hit["lost"]), int(hit["total"])
    percent = None if hit["share"] in ("nan", "-nan") else number(hit["share"], "the share of lost packets", "")
    if lost > total or (percent is not None and abs(100 * lost - percent * total) > total):
        raise ParseError(f"{lost} of {total} packets are said to be lost, and {hit['share']} %")
    return {"jitter": number(hit["jitter"], "the jitter", ""), "packets": total, "lost": lost}, hit["after"]
