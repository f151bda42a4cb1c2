"""Logs that a hand or a copy broke: a number with a blank inside, a title that is gone, a row that stands twice."""

from __future__ import annotations

import re

import pytest
from tests.readers.test_golden import read
from tests.readers.test_two_runs import text_of

SOCKPERF, QPERF = "sockperf/throughput", "qperf/latency_and_bandwidth"
BROKEN = [
    ("hpl/several", r"(WR11C2R4 +\d)(\d+)", r"\1 \2", "words, and its table has 7"),
    ("hpcc/run", r"(WR11C2R4 +\d)(\d+)", r"\1 \2", "words, and its table has 7"),
    (SOCKPERF, r"(Total of \d+)(\d{3})", r"\1 \2", "a number has a blank inside"),
    (SOCKPERF, r"(Message Rate is \d+)(\d{3})", "\\1\N{NARROW NO-BREAK SPACE}\\2", "a number has a blank inside"),
    (
        QPERF,
        r"(?s)tcp_lat:\n    latency ",
        "tcp_lat:\n    send_bw = 7 MB/sec\n    latency ",
        "latency and send_bw, which no test",
    ),
    (QPERF, r"(?m)^tcp_bw:", "udp_lat:", "udp_lat has bw, which it does not print"),
    ("ycsb/mix", r"(\[READ\], Operations, \d+)\d", r"\1", "operations of READ were made"),
]


@pytest.mark.parametrize(("name", "pattern", "instead", "says"), BROKEN, ids=[f"{one[0]}: {one[3]}" for one in BROKEN])
def test_a_broken_line_gives_no_number(name: str, pattern: str, instead: str, says: str) -> None:
    program = name.partition("/")[0]
    text = text_of(name)
    broken, count = re.subn(pattern, instead, text, count=1)
    assert count == 1
    whole, damaged = ({row.line for table in read(program, one).tables for row in table.rows} for one in (text, broken))
    assert says in next(one.text for one in read(program, broken).problems if one.kind == "refused")
    assert len(damaged) < len(whole), "the row is left out"


CLIENT = """\
------------------------------------------------------------
Client connecting to 10.0.0.1, UDP port 5001
------------------------------------------------------------
[  3] local 10.0.0.2 port 41234 connected with 10.0.0.1 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/sec
[  3] Sent 1787 datagrams
[  3] Server Report:
[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/sec   0.012 ms    2/ 1787 (0.11%)
"""


@pytest.mark.parametrize("again", ["2/ 1787 (0.11%)", "20/ 1787 (1.1%)"])
def test_a_servers_report_that_stands_twice_is_refused(again: str) -> None:
    assert not read("iperf2", CLIENT).problems
    (problem,) = read(
        "iperf2", f"{CLIENT}[  3]  0.0- 2.0 sec  2.50 MBytes  10.5 Mbits/sec   0.012 ms  {again}\n"
    ).problems
    assert "stream 3 has 0 to 2 s twice" in problem.text


def test_datagrams_out_of_order_are_no_row() -> None:
    assert not read("iperf2", f"{CLIENT}[  3]  0.0- 2.0 sec  5 datagrams received out-of-order\n").problems
