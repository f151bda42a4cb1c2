"""Layouts of older versions, of other options and of wrappers, as they stand in logs that people keep.

All numbers here are invented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from fabriscope.readers.base import Document, Value
from fabriscope.readers.log import documents
from fabriscope.registry import discover


def read(text: str) -> Document:
    (document,) = documents(text, discover("readers", "READER").plugins, "x")
    return document


def rows(text: str, *, problems: tuple[str, ...] = ()) -> list[Mapping[str, Value]]:
    document = read(text)
    assert tuple(one.kind for one in document.problems) == problems, document.problems
    return [row.values for row in document.rows()]


@pytest.mark.parametrize(
    ("title", "head", "test", "name"),
    [
        ("MPI_Put Bi-directional Bandwidth", "Bi-Bandwidth (MB/s)", "osu_put_bibw", "bandwidth_bytes_per_s"),
        ("MPI_Get latency", "Latency (us)", "osu_get_latency", "latency_ns"),
    ],
)
def test_osu_3_calls_its_tests_one_sided(title: str, head: str, test: str, name: str) -> None:
    document = read(f"# OSU One Sided {title} Test v3.1.1\n# Size     {head}\n1         3.50\n2         7.25\n")
    (table,) = document.tables
    assert table.name == test
    factor = 1e6 if "bandwidth" in name else 1e3
    assert [row.number(name) for row in table.rows] == [3.5 * factor, 7.25 * factor]


def test_osu_5_may_print_a_pure_time_beyond_the_ranks_least_and_most() -> None:
    """The three are of different loops in some non-blocking tests of 5.7."""
    text = (
        "# OSU MPI Non-blocking All-to-Allv Latency Test v5.7.1\n"
        "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
        "# Size           Overall(us)       Compute(us)    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        "
        "Overlap(%)\n"
        "4                     130.00             88.00             81.00             83.00             90.00"
        "             39.51\n"
    )
    (row,) = rows(text)
    assert [row[name] for name in ("time_ns_pure", "time_ns_pure_least_rank_mean")] == [81000, 83000]


def test_lines_that_a_script_has_put_into_a_list_of_json_are_read() -> None:
    lines = ["time mpirun -np 2 osu_latency", "# OSU MPI Latency Test v5.8", "# Size          Latency (us)"]
    text = json.dumps({"data": [*lines, "1                       3.50", "2                       3.75"]}, indent=4)
    assert [row["latency_ns"] for row in rows(f"{text}\n")] == [3500, 3750]


def test_lines_of_a_mail_that_was_answered_are_read() -> None:
    lines = ["# OSU MPI Latency Test v5.8", "# Size          Latency (us)", "1          3.50", "2          3.75"]
    for sign in ("> ", ">> ", "> > "):
        assert [row["latency_ns"] for row in rows("".join(f"{sign}{one}\n" for one in lines))] == [3500, 3750]


IMB = """\
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
{rows}
# All processes entering MPI_Finalize
"""


@pytest.mark.parametrize("megabyte", [1e6, float(1 << 20)])
def test_the_rows_of_imb_tell_what_its_megabyte_is_where_no_version_does(megabyte: float) -> None:
    times = ((0, 2.0), (1, 2.25), (2, 2.25), (4, 2.5), (8, 2.5), (16, 2.5), (32, 2.75), (64, 3.25), (128, 3.5))
    text = "".join(f"{size:13d}         1000{us:13.2f}{size / us * 1e6 / megabyte:13.2f}\n" for size, us in times)
    found = rows(IMB.format(rows=text))
    assert found[-1]["bandwidth_bytes_per_s"] == pytest.approx(128 / 3.5e-6, rel=1e-3)


def test_rows_of_imb_that_agree_with_no_megabyte_are_refused() -> None:
    text = "".join(f"{size:13d}         1000{2.5:13.2f}{size / 2.5 * 0.9:13.2f}\n" for size in (64, 128, 256))
    assert rows(IMB.format(rows=text), problems=("refused",)) == []


def test_the_tables_of_imb_ext_go_from_none_to_four_bytes() -> None:
    text = (
        "#    Intel (R) MPI Benchmark Suite V3.2.4, MPI-2 part\n# Calling sequence was:\n\n# IMB-EXT Unidir_Put\n\n"
        "# Benchmarking Unidir_Put\n# #processes = 2\n#\n#    MODE: AGGREGATE\n#\n"
        "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
        "            0         1000         0.25         0.00\n            4         1000         2.50         1.53\n"
        "            8         1000         2.50         3.05\n# All processes entering MPI_Finalize\n"
    )
    assert [row["message_size_bytes"] for row in rows(text)] == [0, 4, 8]


def test_words_between_the_head_and_the_rows_of_imb_are_no_row() -> None:
    text = "[node1:77] UCX warning: fallback\n            0         1000         0.25         0.00\n"
    assert [row["time_ns"] for row in rows(IMB.format(rows=text))] == [250]


def test_a_heading_of_a_page_is_no_test_of_imb() -> None:
    document = read("# Benchmarking RDMA\n\n## qperf\n\ntcp_lat:\n    latency  =  26.5 us\n\nThat was it.\n")
    assert document.program == "qperf"
    assert [row.number("latency_ns") for row in document.rows()] == [26500]


LATENCIES = """\
                    Send Latency Test
 #bytes        #iterations       t_avg[usec]    tps average
 2             1234567            {mean}           {rate}
"""


def test_perftest_prints_a_mean_and_a_rate_where_it_is_given_a_time() -> None:
    (row,) = rows(LATENCIES.format(mean="2.00", rate="250000.00"))
    assert row["latency_ns_mean"] == 2000
    assert rows(LATENCIES.format(mean="2.00", rate="275000.00"), problems=("refused",)) == []


def test_the_report_of_a_newer_perftest_is_json() -> None:
    results = {"MsgSize": 65536, "n_iterations": 5000, "BW_peak": 80.5, "BW_average": 80.0, "MsgRate": 0.152588}
    report = {"test_info": {"test": "RDMA_Write_BW_Test", "Device": "mlx5_0"}, "results": results}
    (row,) = rows(f"{json.dumps(report, indent=1)}\n")
    assert row["bandwidth_bytes_per_s"] == pytest.approx(1e10, rel=1e-4)


def test_qperf_prints_bits_where_it_is_told_so_and_rates_alone_of_atomics() -> None:
    found = rows("tcp_bw:\n    bw  =  8 Gb/sec\nrc_fetch_add_mr:\n    msg_rate  =  2.5 M/sec\n")
    assert [row.get("bandwidth_bytes_per_s", row.get("message_rate_per_s")) for row in found] == [1e9, 2.5e6]


def test_older_versions_of_netpipe_print_seconds() -> None:
    document = read(
        "Latency: 0.000040\nNow starting main loop\n"
        "  0:         0 bytes 16384 times -->    0.00 Mbps in 0.000040000 sec\n"
        "  1:         1 bytes 16384 times -->    0.19 Mbps in 0.000041000 sec\n"
        "  2:      4096 bytes    7 times -->  312.50 Mbps in 0.000100 sec\n"
    )
    (table,) = document.tables
    assert table.name == "ping-pong in seconds"
    assert [row.number("latency_ns") for row in table.rows] == pytest.approx([40000, 41000, 100000])
    assert not document.problems


@pytest.mark.parametrize("end", ["iperf Done.", "- - - - - - - - - -", "It was a good day for the network"])
def test_a_last_line_of_words_needs_no_end(end: str) -> None:
    text = (
        "Connecting to host b, port 5201\n[  5] local a port 1 connected to b port 5201\n"
        "[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec   125 MBytes  1.05 Gbits/sec\n"
        "- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate\n"
        "[  5]   0.00-1.00   sec   125 MBytes  1.05 Gbits/sec  sender\n"
        "[  5]   0.00-1.00   sec   125 MBytes  1.05 Gbits/sec  receiver"
    )
    assert len(rows(f"{text}\n\n{end}")) == len(rows(text)) == 2
    assert "cut" in {one.kind for one in read(text.removesuffix("  receiver")).problems}


def test_netperf_in_bits_counts_requests_and_answers_and_tells_of_doubt() -> None:
    text = (
        "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 port 0 AF_INET to b () port 0 AF_INET : first burst 6\n"
        "Local /Remote\nSocket Size   Request  Resp.   Elapsed\nSend   Recv   Size     Size    Time     Throughput\n"
        "bytes  Bytes  bytes    bytes   secs.    10^6bits/sec\n\n"
        "16384  87380  32768    32768   10.00    1600.00\n16384  87380\n"
        "!!! WARNING\n!!! Desired confidence was not achieved within the specified iterations.\n"
    )
    (row,) = rows(text, problems=("noted",))
    assert row["bandwidth_bytes_per_s"] == 2e8


def test_a_second_mode_of_imb_without_a_head_does_not_rename_the_first_table() -> None:
    text = (
        "# Benchmarking Unidir_put\n# #processes = 2\n#    MODE: NON-AGGREGATE\n"
        "       #bytes #repetitions      t[usec]   Mbytes/sec\n            8         1000         2.00         4.00\n"
        "#    MODE: AGGREGATE\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
        "            8         1000         1.00         8.00\n# All processes entering MPI_Finalize\n"
    )
    document = read(text)
    assert [one.kind for one in document.problems] == ["refused"]
    assert [(one.name, len(one.rows)) for one in document.tables] == [("Unidir_put NON-AGGREGATE", 1)]


def test_an_hpcc_that_was_told_to_leave_hpl_out_is_whole() -> None:
    text = (
        "This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012\nHPLinpack 2.0  --  Linpack\n"
        "N      :    1000\nBegin of SingleDGEMM section.\nEnd of SingleDGEMM section.\n{}Begin of Summary section.\n"
        "CommWorldProcs=2\nSingleDGEMM_Gflops=10.5\nSuccess=1\nEnd of Summary section.\nEnd of HPC Challenge tests.\n"
    )
    for more, is_cut in (("", False), ("Begin of HPL section.\n", True)):
        said = [one.text for one in read(text.format(more)).problems]
        assert ("the log ends before the tests do" in said) is is_cut


def test_an_input_of_hpl_in_a_page_is_no_log_of_it() -> None:
    page = "HPLinpack benchmark input file\nInnovative Computing Laboratory\n\ntcp_lat:\n    latency  =  26.5 us\n"
    assert read(page).program == "qperf"


def test_a_table_with_decimal_commas_says_which_line_cannot_be_read() -> None:
    text = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n1            3,50\n2            3,75\n"
    (problem,) = read(text).problems
    assert problem.text == "osu_latency has no row that can be read: '1 3,50'"


OLD_PERFTEST = """\
                    RDMA_Write BW Test
 Number of qps   : 1
 Connection type : RC
 TX depth        : 100
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]
  2          5000           8.81               8.68
  4          5000           17.90              17.25
"""


def test_perftest_1_prints_no_rate_of_messages() -> None:
    first, second = rows(OLD_PERFTEST)
    assert first["bandwidth_bytes_per_s"] == 8.68 * (1 << 20)
    assert second["peak_bandwidth_bytes_per_s"] == 17.90 * (1 << 20)


def test_of_perftest_1_the_peak_is_what_an_average_is_checked_by() -> None:
    assert read(OLD_PERFTEST.replace("17.25", "71.25")).problems
