"""rping of rdmacm-utils: it prints no time at all; what its client says of each ping (`-v`) is what came back:

ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr
"""

from __future__ import annotations

import re

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
    for line in draft.lines(LONGEST_PING):
        if ping := _PING.match(line):
            draft.row(printed_row(COLUMNS, ping.groups()))


READER = Reader("rping", "rping -v", re.compile(r"^(?:client )?ping data: rdma-ping-\d", re.MULTILINE), _fill)
