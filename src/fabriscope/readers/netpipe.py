"""NetPIPE 3.7: NPtcp, NPopenmpi, NPmpich2; one sweep over the sizes.

The sender writes to standard error, one line a size:

    Send and receive buffers are 16384 and 131072 bytes
    (A bug in Linux doubles the requested buffer sizes)
    Now starting the main loop
      0:       1 bytes  21503 times -->      1.43 Mbps in       5.33 usec
      1:       2 bytes  18745 times -->      1.31 Mbps in      11.62 usec

Each size is tried three times over many round trips; the time is half of a round trip, the least of the three means.
A "Mbps" is 2^20 bits per second, of the same ping-pong. The finer of the two columns gives both of our values.
"""

from __future__ import annotations

import re

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import whole
from fabriscope.model.rounding import exactly, span
from fabriscope.readers.base import Column, Draft, Reader, finer, printed_row

BITS_PER_MBPS = 1 << 20

COLUMNS = (
    Column("bytes", "message_size_bytes", "size", "bytes", "of a message", kind="whole"),
    Column("times", "round_trips_per_trial", "round trips", "", "of each of the three trials", kind="whole"),
    Column(
        "Mbps", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s",
        "message size over that time; what it prints as Mbps are 2^20 bits per second", BITS_PER_MBPS / 8,
    ),
    Column("usec", "latency_ns", "latency", "ns", "half of a round trip, the least of the means of three trials", 1e3),
)  # fmt: skip
_ROW = re.compile(r"\s*(\d+):\s+(\d+) bytes\s+(\d+) times -->\s+(\S+) Mbps in\s+(\S+) usec\s*")
_ROW_START = re.compile(r"\s*\d+:\s+(?P<size>\d+) bytes")
_BUFFERS = re.compile(r"Send and receive buffers are (?P<send>\d+) and (?P<receive>\d+) bytes")


def _fill(draft: Draft) -> None:
    table = draft.table("ping-pong", COLUMNS)
    size_before = begun = 0
    for line in draft.lines():
        if line.startswith("Now starting the main loop"):
            if begun and not table.rows:
                draft.problem(f"the sweep of line {begun} has no row: another one begins here", "cut")
            begun = draft.line
        if buffers := _BUFFERS.match(line):
            for end in ("send", "receive"):
                draft.parameter(f"{end}_buffer_bytes", whole(buffers[end], f"the {end} buffer", ""), "bytes")
        elif row := _ROW.fullmatch(line):
            place, *words = row.groups()
            printed = printed_row(COLUMNS, words)
            size, time_us, rate = int(printed["bytes"]), float(printed["usec"]), float(printed["Mbps"])
            if whole(place, "the row", "") != len(table.rows) or size <= size_before:
                before = f"row {len(table.rows) - 1} of {size_before} B" if table.rows else "the first row"
                raise ParseError(f"row {place} of {size} B stands after {before}")
            size_before = size
            if not (exactly(size * 8e6 / BITS_PER_MBPS) / span(words[3])).meets(span(words[2])):
                raise ParseError(f"{size} B in {time_us} usec are not {rate} Mbps of 2^20 bits per second")
            if not printed["times"]:
                raise ParseError(f"{size} B went to and fro 0 times")
            time_us, rate = finer(time_us, rate, size * 8e6 / BITS_PER_MBPS)
            draft.row(printed | {"usec": time_us, "Mbps": rate})
        elif start := _ROW_START.match(line):
            draft.problem(f"it died in {start['size'][:20]} B", "cut")
            break


_SIGNATURE = re.compile(
    r"^(?:Now starting the main loop| {0,9}\d{1,9}: {1,20}\d{1,20} bytes .{1,20} times -->)", re.MULTILINE
)
READER = Reader("netpipe", "NPtcp, NPopenmpi, NPmpich2", _SIGNATURE, _fill)
