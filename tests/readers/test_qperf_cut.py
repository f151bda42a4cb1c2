"""qperf's timer ends a test between a message and its answer: of few messages that one counts."""

from __future__ import annotations

import pytest

from fabriscope.model.errors import ParseError
from fabriscope.readers.qperf import READER

TEXT = """\
tcp_lat:
    latency         =  21914893.6 ns
    msg_rate        =  {rate} /sec
    msg_size        =     1048576 bytes
    time            =  1000000000 ns
    loc_send_bytes  =    25165824 bytes
    loc_recv_bytes  =    24117248 bytes
    loc_send_msgs   =          24
    loc_recv_msgs   =          23
"""


def test_one_message_of_a_few_is_no_contradiction() -> None:
    (row,) = READER.read(TEXT.format(rate="46.3054187")).rows()
    assert row.number("latency_ns") == pytest.approx(21914893.6)


def test_two_are_one() -> None:
    with pytest.raises(ParseError, match=r"msg_rate is 47\.9 /sec, which latency 21914893\.6 ns contradict"):
        READER.read(TEXT.format(rate="47.9")).check("qperf")
