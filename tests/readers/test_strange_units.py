"""Units and columns that a reader does not know are refused; numbers that are none are told."""

from __future__ import annotations

import json

import pytest
from tests.readers.test_disturbed_rows import read

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import decode_json

UCX = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       overhead ({})        |   bandwidth ({})  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
Final:                 100000      1.000     1.000     1.000        7.63       7.63     1000000     1000000
"""
PERFTEST = """\
                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]   {}
 65536      5000             11000.00            10900.00		   0.174400	    12.50
"""
IPERF = """\
Client connecting to 10.0.0.1, UDP port 5001
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 893 datagrams
[  3] Server Report:
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.010 ms    {}/  893 ({}%)
"""


@pytest.mark.parametrize(
    ("time", "rate", "is_known"), [("usec", "MB/s", True), ("nsec", "MB/s", False), ("usec", "GB/s", False)]
)
def test_the_units_of_ucx_perftests_head(time: str, rate: str, *, is_known: bool) -> None:
    document = read(UCX.format(time, rate))
    assert [one.kind for one in document.problems] == [] if is_known else ["refused"]
    assert any(table.rows for table in document.tables) == is_known
    assert is_known or "and MB/s, msg/s, usec are known" in document.problems[0].text


@pytest.mark.parametrize(("column", "is_known"), [("CPU_Util[%]", True), ("Foo[us]", False)])
def test_a_column_of_perftest_that_is_not_known(column: str, *, is_known: bool) -> None:
    problems = read(PERFTEST.format(column)).problems
    assert [one.kind for one in problems] == ([] if is_known else ["refused"])
    assert is_known or "the column 'Foo[us]' is not known" in problems[0].text


def test_a_row_of_netpipe_in_a_unit_that_is_not_known_did_not_die() -> None:
    (problem,) = read("  0:       1 bytes   1000 times -->      0.76 Gbps in      10.00 usec\n").problems
    assert "in units that are not known: '0:       1 bytes" in problem.text
    (problem,) = read("  0:       1 bytes   1000 times -->\n").problems
    assert problem.text == "it died in 1 B"


@pytest.mark.parametrize(("lost", "share"), [("10", "1.1"), ("-1", "-0.11")])
def test_less_than_no_datagrams_are_not_lost(lost: str, share: str) -> None:
    document = read(IPERF.format(lost, share))
    kinds = [one.kind for one in document.problems]
    assert kinds == ([] if lost == "10" else ["refused"]), document.problems


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("garbage", "at character 1 a value should stand"),
        ('{"a": 1,\n "b" 2}', "at line 2, character 6 a colon should stand"),
        ('{"a": "b', "at character 7 a text begins that has no end"),
        ('{"a": 1} x', "at character 10 more stands behind its end"),
        ('["\x00"]', "at character 3 a control character stands in a text"),
        ('["\\x"]', "at character 3 an escape stands that JSON does not have"),
        ("[1 2]", "at character 4 a comma should stand, or the end of the object or list"),
        ("{a: 1}", "at character 2 a name in double quotes should stand"),
    ],
)
def test_what_is_no_json_is_told_in_our_words(text: str, what: str) -> None:
    with pytest.raises(ParseError, match="it is no JSON") as error:
        decode_json(text, "x")
    assert what in str(error.value)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
