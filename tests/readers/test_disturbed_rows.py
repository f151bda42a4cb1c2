"""Rows that another program's words run into, that stand twice or are missing: never passed by without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.read import COMMAND
from fabriscope.readers import log
from fabriscope.readers.base import Document, Reader
from fabriscope.readers.work import Work
from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins
OSU = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n1                 1.17\n{}8                 1.20\n"
IPERF = "Client connecting to 10.1.1.1, TCP port 5001\n{}[  3]  0.0- 3.0 sec  85.8 MBytes   240 Mbits/sec\n"
ROWS = [f"[  3]  {n}.0- {n + 1}.0 sec  28.6 MBytes   240 Mbits/sec\n" for n in range(3)]
HPL = Path(__file__).parent / "data/hpl/several.txt"
QPERF = Path(__file__).parents[1] / "adapters/data/qperf/latency_and_bandwidth.txt"


def read(text: str) -> Document:
    (document,) = log.documents(text, READERS, "x")
    return document


@pytest.mark.parametrize("row", ["4            1.19[node1:123] UCX WARN x\n", "4          1.19[node1:123]\n"])
def test_a_row_that_words_run_into_is_told(row: str) -> None:
    problem = read(OSU.format(row)).problem("cut")
    assert problem is not None
    assert "a row of osu_latency is not whole: '4 1.19[node1:123]" in problem.text
    assert problem.line == 4


def test_a_text_whose_lines_end_otherwise_is_cut_without_an_error() -> None:
    assert read(OSU.format("").replace("\n", "\v")[:-8]).program == "osu"


@pytest.mark.parametrize(
    ("rows", "kind", "says"),
    [
        ([ROWS[0], ROWS[1], ROWS[1], ROWS[2]], "refused", "stream 3 has 1 to 2 s twice"),
        ([ROWS[0], ROWS[2]], "cut", "stream 3 has no row between 1 and 2 s"),
        ([ROWS[0], ROWS[1].replace("sec", "msec", 1), ROWS[2]], "cut", "a row that cannot be read"),
        ([ROWS[0], ROWS[1].replace("1.0-", "-1.0-"), ROWS[2]], "cut", "a row that cannot be read"),
    ],
)
def test_intervals_follow_each_other(rows: list[str], kind: str, says: str) -> None:
    document = read(IPERF.format("".join(rows)))
    assert any(problem.kind == kind and says in problem.text for problem in document.problems), document.problems
    assert not read(IPERF.format("".join(ROWS))).problems


PERFTEST = (
    "                    Send Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]\n"
    " 2       1000          1.54           9.61\n{} 8       1000          1.55           8.20\n"
)


@pytest.mark.parametrize(
    ("row", "kind", "says"),
    [
        ("", "cut", "has no row of 4 B between 2 and 8 B"),
        (" 4       1000          1.55\n", "cut", "a row of Send Latency Test is not whole: '4 1000 1.55'"),
        (" 4       1000      1.55      8.20[node1] WARN\n", "cut", "is not whole: '4 1000 1.55 8.20[node1] WARN'"),
        (" 2       1000          1.55           9.61\n", "refused", "the row of 2 B stands twice, in line 3 too"),
        (" 4       1000          1.55    8.20\nUCX WARN x\n", "noted", "stands what is none of them: 'UCX WARN x'"),
    ],
)
def test_every_sweep_is_told_by_one_rule(row: str, kind: str, says: str) -> None:
    (problem,) = read(PERFTEST.format(row)).problems
    assert problem.kind == kind
    assert says in problem.text


BOTH_ENDS = (
    "                    RDMA_Write BW Test\n                    RDMA_Write BW Test\n"
    + 2 * " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
    + "{rows}"
)
FOUR_BYTES = " 4          2000             10.65              10.64              2.788833\n"
TWO_BYTES = " 2          2000             5.32               5.30               2.778732\n"


@pytest.mark.parametrize(("count", "is_told"), [(1, False), (2, True)])
def test_the_last_row_alone_may_be_printed_by_both_ends(count: int, is_told: bool) -> None:
    document = read(BOTH_ENDS.format(rows=TWO_BYTES * count + FOUR_BYTES * 2))
    assert bool(document.problem("refused")) is is_told
    assert len(document.rows()) == (2 if is_told else 3)


@pytest.mark.parametrize("between", ["", "...\n", " 4       1000          1.55           8.20\n"])
def test_rows_that_somebody_left_out_and_said_so_are_no_cut(between: str) -> None:
    kinds = {"": ["cut"], "...\n": ["noted"]}.get(between, [])
    assert [problem.kind for problem in read(PERFTEST.format(between)).problems] == kinds


def test_a_line_of_another_program_alone_leaves_the_status(tmp_path: Path) -> None:
    log_file = tmp_path / "log"
    log_file.write_text(OSU.format("2       1.17\n4       1.18\nUCX WARN x\n"))
    result = CliRunner().invoke(COMMAND, [str(log_file)])
    assert result.exit_code == 0
    assert "line 6: among the rows of osu_latency stands what is none of them: 'UCX WARN x'" in result.stdout


def test_an_error_of_ours_at_one_log_is_told_with_what_the_others_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    read = Reader.read

    def fails(self: Reader, text: str, work: Work | None = None) -> Document:
        if "HPLinpack" in text:
            raise IndexError("pop from empty list")
        return read(self, text, work)

    monkeypatch.setattr(Reader, "read", fails)
    result = CliRunner().invoke(COMMAND, ["--json", str(HPL), str(QPERF)])
    assert result.exit_code == 2
    assert "an error in fabriscope itself: IndexError: pop from empty list" in result.stderr
    assert str(HPL) in result.stderr
    assert "qperf" in result.stdout


def test_two_ranks_that_wrote_one_table_each_are_both_read() -> None:
    rows = [f"{size} {size * 8 / (size * 1e-5) / 2**20:.6f}   {size * 1e-5:.8f}" for size in range(1, 9)]
    lines = [f"{rank}:        {row}\n" for row in rows for rank in (0, 1)]
    (both,) = log.documents("".join(lines[:-1]), READERS, "x")
    assert both.program == "netpipe"
    assert [len(table.rows) for table in both.tables] == [8, 7]


WRITE_BW = Path(__file__).parents[1] / "adapters/data/perftest/mlx5_write_bw.txt"
NETPERF = (
    "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n"
    "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
    "bytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    10.00     941.50\n"
)


def test_a_table_whose_only_row_is_damaged_is_told_though_another_one_has_its_row() -> None:
    text = WRITE_BW.read_text()
    rows = [line for line in text.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    damaged = text
    for row in rows:
        damaged = damaged.replace(row, " ".join(row.split()[:3]))
    assert not read(text).problems
    assert any("is not whole" in problem.text for problem in read(text + damaged).problems)


@pytest.mark.parametrize("rate", ["941.50", "500.50"])
def test_a_second_row_under_one_head_of_netperf_is_refused(rate: str) -> None:
    assert not read(NETPERF).problems
    problem = read(NETPERF + f" 87380  16384  16384    10.00     {rate}\n").problem("refused")
    assert problem is not None
    assert "another row stands under the head of that of line 7" in problem.text


def test_lines_of_a_table_that_are_cut_at_their_end_are_told() -> None:
    text = (Path(__file__).parent / "data/gpcnet/load.txt").read_text()
    problem = read("\n".join(line[:80] for line in text.splitlines())).problem("cut")
    assert problem is not None
    assert "a line of a table is not whole" in problem.text
