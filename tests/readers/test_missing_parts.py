"""Rows and values that are taken away where a rule of the program's tells that they were there."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.readers.base import Document
from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins
DATA = Path(__file__).parents[1]
PERFTEST = """ ************************************
 * Waiting for client to connect... *
 ************************************
                    RDMA_Write BW Test
 Waiting for client rdma_cm QP to connect
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
{server}---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
{client}---------------------------------------------------------------------------------------
"""
ROW = " 65536      560960           0.00               98.03              0.186977\n"
IMB = """#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
# Calling sequence was:

# IMB-MPI1 {options}{test}

# Benchmarking {test}
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.00         0.00
{rows}
# All processes entering MPI_Finalize
"""
ONE_LINE = "ft S np={0} rc=0  Time in seconds = 0.12; Total processes = {0}; Mop/s total = 1518.90;\n"


def read(program: str, text: str) -> Document:
    assert READERS[program].recognises(text)
    document: Document = READERS[program].read(text)
    return document


def told(document: Document) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in document.problems]


def test_a_client_of_perftest_without_its_row_is_told_behind_a_server_over_rdma_cm() -> None:
    assert told(read("perftest", PERFTEST.format(server=ROW, client=ROW))) == []
    assert told(read("perftest", PERFTEST.format(server=ROW, client=""))) == [
        ("cut", "the test of line 9 has no result")
    ]


def test_a_row_of_perftest_that_stands_twice_to_the_last_digit_is_noted() -> None:
    other = ROW.replace("560960", "560961").replace("0.186977", "0.186978")
    assert told(read("perftest", PERFTEST.format(server=ROW, client=ROW + other))) == []
    assert told(read("perftest", PERFTEST.format(server=ROW, client=ROW + ROW))) == [
        ("noted", "line 11 stands here again")
    ]


@pytest.mark.parametrize("name", ["n_iterations", "t_min", "t_max", "t_avg", "t_stdev"])
def test_a_value_that_every_report_of_perftest_has_is_missed(name: str) -> None:
    text = (DATA / "adapters/data/perftest/report_lat.txt").read_text()
    (line,) = [one for one in text.splitlines(keepends=True) if one.lstrip('" ').startswith(name)]
    assert told(read("perftest", text)) == []
    assert told(read("perftest", text.replace(line, ""))) == [("cut", f"the results have no {name}")]


@pytest.mark.parametrize(
    ("test", "options", "sizes", "missing"),
    [
        ("PingPong", "", (1, 2), ""),
        ("PingPong", "", (2, 4), "no row of 1 B between 0 and 2 B"),
        ("PingPong", "-msglog 3:4 ", (8, 16), ""),
        ("PingPong", "-msglog 3:5 ", (16, 32), "no row of 8 B between 0 and 16 B"),
        ("Reduce", "", (4, 8), ""),
        ("Reduce", "", (8, 16), "no row of 4 B between 0 and 8 B"),
        ("PingPong", "-msglen sizes.txt ", (64, 128), ""),
    ],
)
def test_the_first_size_of_imb_is_that_of_its_options(
    test: str, options: str, sizes: tuple[int, ...], missing: str
) -> None:
    rows = "".join(f"{size:13} {1000:12} {1.00:12.2f} {size:12.2f}\n" for size in sizes)
    document = read("imb", IMB.format(test=test, options=options, rows=rows))
    assert told(document) == ([("cut", f"{test} has {missing}")] if missing else [])


def test_a_hole_before_a_row_that_is_not_whole_is_told() -> None:
    rows = "".join(f"{size:13} {1000:12} {1.00:12.2f} {size:12.2f}\n" for size in (1, 4, 8))
    rows += "           16 time-out.\n"
    texts = [text for _, text in told(read("imb", IMB.format(test="PingPong", options="", rows=rows)))]
    assert any("no row of 2 B between 1 and 4 B" in text for text in texts)
    assert any("is not whole" in text for text in texts)


def test_processes_that_take_part_are_told_since_npb_3_4() -> None:
    text = (DATA / "readers/data/npb/cg.txt").read_text()
    (line,) = [one for one in text.splitlines(keepends=True) if "Active procs" in one]
    assert told(read("npb", text)) == []
    assert [kind for kind, _ in told(read("npb", text.replace(line, "")))] == ["cut"]
    assert told(read("npb", text.replace(line, "").replace("3.4", "3.3"))) == []


def test_the_first_of_the_results_in_one_line_may_be_the_cut_one() -> None:
    assert told(read("npb", ONE_LINE.format(1) + ONE_LINE.format(2))) == []
    assert told(read("npb", ONE_LINE.format(1)[:16] + "\n" + ONE_LINE.format(2))) == [
        ("cut", "a result is not whole: 'ft S np=1 rc=0'")
    ]


def test_a_repeat_of_our_kernels_that_is_missing_or_twice_is_told() -> None:
    lines = (DATA / "readers/data/npb/ours.txt").read_text().splitlines(keepends=True)
    assert told(read("npb", "".join(lines))) == []
    assert told(read("npb", "".join(lines[:1] + lines[2:]))) == [("cut", "repeat 0 is missing before repeat 1")]
    assert told(read("npb", "".join(lines[:-1]))) == [("cut", "the run of line 4 has no result")]
    again = lines[1].replace('"repeat":0', '"repeat":0 ')
    assert told(read("npb", "".join([*lines[:2], again]))) == [
        ("refused", "repeat 0 stands here, and repeat 0 before it")
    ]


def test_a_first_row_of_an_older_ucx_perftest_that_cannot_be_read_is_told() -> None:
    text = (DATA / "readers/data/ucx_perftest/older.txt").read_text()
    assert told(read("ucx_perftest", text)) == []
    assert [kind for kind, _ in told(read("ucx_perftest", text.replace("0.850     0.850", "-0.850     0.850")))] == [
        "cut"
    ]
