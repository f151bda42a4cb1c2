"""rping of rdmacm-utils: it prints no time at all; what its client says of each ping (`-v`) is what came back:

ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr
"""

from __future__ import annotations

import re

from fabriscope.readers import _rows
from fabriscope.readers.base import Column, Draft, Reader, printed_row

COLUMNS = (
    Column("ping", "ping", "ping", "", "its number, from 0", kind="whole"),
    Column("data", "data", "data", "", "what came back", kind="word"),
)
LONGEST_PING = 1 << 17
"""Characters of a line: its messages have up to 65,536 bytes."""
_PING = re.compile(r"(?:client )?ping data: rdma-ping-(\d{1,18}): (.*)")


def _fill(draft: Draft) -> None:
    draft.table("pings", COLUMNS)
    ping_length = 0
    for line in draft.lines(LONGEST_PING):
        if ping := _PING.match(line):
            row = draft.row(printed_row(COLUMNS, ping.groups()))
            length = len(ping[0]) - ping.start(1)
            if row["ping"] != 0 and ping_length and length != ping_length:
                what = f"ping {ping[1]} has {length} characters and the one before it {ping_length}"
                draft.problem(f"{what}: all pings of a run have as many", "cut")
            ping_length = length


READER = Reader(
    "rping",
    "rping -v",
    re.compile(r"^(?:client )?ping data: rdma-ping-\d", re.MULTILINE),
    _fill,
    marks=("ping data: rdma-ping-",),
    among=_rows.Among(
        re.compile(r"server ping data: "), re.compile(r"(?:client )?ping data"), _rows.growing("ping", "ping")
    ),
)
