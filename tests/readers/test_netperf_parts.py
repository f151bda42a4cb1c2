"""Parts of netperf's results: half a row, a head without its row, a cut value, another program's words in a head."""

from __future__ import annotations

import pytest
from tests.readers.test_disturbed_rows import NETPERF, read

TITLE = "OMNI Send|Recv TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to node2 () port 0 AF_INET\n"
HEAD = "Throughput,Throughput Units,Elapsed Time (sec)\n"
KEYS = "THROUGHPUT=941.23\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\n"


@pytest.mark.parametrize("half", [" 87380  16384\n", " 87380  16384  16384    10.00\n"])
def test_half_a_row_behind_the_only_one_is_told(half: str) -> None:
    document = read(NETPERF + half)
    assert [(one.line, one.kind) for one in document.problems] == [(8, "cut")]
    assert "a row is not whole: " in document.problems[0].text
    assert len(document.rows()) == 1


def test_half_of_the_only_row_is_refused() -> None:
    problem = read(NETPERF[: NETPERF.rindex("10.00")] + "\n").problem("refused")
    assert problem is not None
    assert "a row has 3 columns, and its table 5" in problem.text


def test_what_version_two_prints_behind_it_is_no_row() -> None:
    more = "Alignment      Offset         Bytes    Bytes       Sends   Bytes    Recvs\n"
    more += "    8       8      0       0 1.177e+10  16384.05    718385   87365.23 134722\n\n"
    more += "Maximum\nSegment\nSize (bytes)\n  1448\n"
    assert not read(NETPERF + more).problems


@pytest.mark.parametrize("rest", ["", "9\n", TITLE + HEAD + "941.23,10^6bits/s,10.00\n"])
def test_a_head_without_its_row_is_told(rest: str) -> None:
    problem = read(TITLE + HEAD + rest).problem("cut")
    assert problem is not None
    assert problem.text == "the head of line 2 has no row"


@pytest.mark.parametrize("part", ["ELAPSED_TIM", "ELAPSED_TI[node1:123] UCX WARN x", "P99_LAT", "MEAN"])
def test_a_value_that_is_cut_is_told(part: str) -> None:
    assert not read(KEYS).problems
    problem = read(KEYS + part + "\n").problem("cut")
    assert problem is not None
    assert problem.text.startswith("a line of the result is not whole: ")


def test_a_head_into_which_another_line_ran_is_refused() -> None:
    run_into = HEAD.replace("Elapsed", "Ela[node1:123] UCX WARN xpsed")
    assert read(TITLE + run_into + "941.23,10^6bits/s,10.00\n").problem("refused") is not None
