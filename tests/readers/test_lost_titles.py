"""Logs in which a title, a head or its unit is lost: no number is taken for another test's, none vanishes unsaid."""

from __future__ import annotations

import re

import pytest
from tests.readers.test_golden import DATA, INSTRUMENTS, read

from fabriscope.readers.base import Document

STREAM, REQUEST = "MIGRATED TCP STREAM TEST", "MIGRATED TCP REQUEST/RESPONSE TEST"
TITLE = " from 0.0.0.0 () port 0 AF_INET to node2 () port 0 AF_INET\n"
IMB = (INSTRUMENTS / "imb" / "one_sided.txt").read_text()


def refused(document: Document) -> str:
    """Return why a document was refused, empty where it was not."""
    return next((one.text for one in document.problems if one.kind == "refused"), "")


def cut(document: Document) -> list[str]:
    return [one.text for one in document.problems if one.kind == "cut"]


STREAM_RESULT = "bytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    10.00     941.23\n"
RESPONSES = "bytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  87380  1 1  10.00  9123.45\n16384  87380\n"
HEADS = "Throughput,Throughput Units,Elapsed Time (sec)\n"
PAIRS = "THROUGHPUT=941.23\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\n"
WITHOUT_TITLE = [
    (f"{REQUEST}{TITLE}{RESPONSES}{STREAM_RESULT}", "another result stands under the title of line 1"),
    (f"{STREAM}{TITLE}{STREAM_RESULT}{RESPONSES}", "another result stands under the title of line 1"),
    (f"{STREAM}{TITLE}{STREAM_RESULT}MIGRATED UDP\n{STREAM_RESULT}", "another result stands under the title of line 1"),
    (f"{STREAM}{TITLE}{RESPONSES}", "TCP STREAM is transactions: the title of another test is missing"),
    (f"{REQUEST}{TITLE}{STREAM_RESULT}", "TCP REQUEST/RESPONSE is a throughput: the title of another test is missing"),
    (f"{STREAM}{TITLE}{HEADS}9,Trans/s,10.00\n", "TCP STREAM is transactions"),
    (f"{REQUEST}{TITLE}{HEADS}9,Trans/s,1\n{HEADS}9,10^6bits/s,1\n", "another result stands under the title of line 1"),
    (f"{STREAM}{TITLE}{HEADS}9,10^6bits/s,1\n{PAIRS}", "another result stands under the title of line 1"),
    (f"{STREAM}{TITLE}{PAIRS}{PAIRS}", "Throughput stands twice in one result"),
]


@pytest.mark.parametrize(("text", "says"), WITHOUT_TITLE)
def test_a_title_of_netperf_serves_one_result(text: str, says: str) -> None:
    document = read("netperf", text)
    assert says in refused(document)
    assert len(document.tables) < 2


def test_results_of_netperf_without_any_titles_are_read() -> None:
    document = read("netperf", PAIRS + PAIRS.replace("941.23", "900.00"))
    assert not document.problems
    assert [row.number("bandwidth_bytes_per_s") for row in document.rows()] == [941.23e6 / 8, 900e6 / 8]


@pytest.mark.parametrize("instead", ["", "# Benchmark\n"])
def test_an_imb_table_without_its_first_line_is_told(instead: str) -> None:
    broken = re.sub(r"(?m)^# Benchmarking .*\n", instead, IMB, count=1)
    assert not cut(read("imb", IMB))
    assert cut(read("imb", broken)) == ["rows of an IMB table stand under no '# Benchmarking'"]


def test_an_imb_table_whose_mode_is_lost_is_told() -> None:
    begin, end = (IMB.index(f"# Benchmarking {test}") for test in ("Unidir_put", "Unidir_get"))
    two = IMB[:end] + IMB[begin:end].replace("NON-AGGREGATE", "AGGREGATE") + IMB[end:]
    assert not cut(read("imb", two))
    (told,) = cut(read("imb", without(two, "# +MODE")))
    assert "Unidir_put says no mode, and another table of it does" in told


def test_rows_of_a_rank_whose_head_is_lost_are_told() -> None:
    text = (DATA / "fabtests" / "pingpong.txt").read_text()
    head, *rows = text.splitlines(keepends=True)
    assert head.startswith("[rank 1]")
    (told,) = cut(read("fabtests", "".join(rows)))
    assert "rows of rank 1 stand under no head: '64 10" in told
    others = ["[rank 1] Mean BW peak: 734.26 Gb/s, 1 of 2\n", "[rank 1] 64 10\n", *rows[2:]]
    assert not read("fabtests", "".join(others)).problems, "what another rank says is no row"


@pytest.mark.parametrize("columns", [29, 42, 52, 58])
def test_a_head_of_fabtests_that_is_cut_is_refused(columns: int) -> None:
    text = (DATA / "fabtests" / "pingpong.txt").read_text()
    document = read("fabtests", "".join(f"{line[:columns]}\n" for line in text.splitlines()))
    assert not document.rows()
    assert "head of a table ends before its rate" in refused(document) or "is not known" in refused(document)


def test_tabs_in_the_place_of_blanks_are_blanks() -> None:
    text = (DATA / "iperf3" / "text_client.txt").read_text()
    with_tabs = read("iperf3", re.sub(" {2,}", "\t", text))
    assert with_tabs.tables == read("iperf3", text).tables
    assert not with_tabs.problems


@pytest.mark.parametrize("unit", ["Mb/s", "mb/s", "MB/S", "GB/s"])
def test_a_unit_in_an_osu_head_is_read_letter_by_letter(unit: str) -> None:
    text = "# OSU MPI Bandwidth Test v7.4\n# {} Bandwidth ({})\n1 0.19\n2 0.38\n"
    assert "a column that is not known" in refused(read("osu", text.format("Size", unit)))
    assert len(read("osu", text.format("size", "MB/s").replace("Bandwidth (", "bandwidth (")).rows()) == 2


def test_ycsbs_operations_are_those_of_its_throughput() -> None:
    text = (DATA / "ycsb" / "mix.txt").read_text()
    assert not read("ycsb", text).problems
    (told,) = cut(read("ycsb", re.sub(r"(?m)^\[READ\].*\n", "", text)))
    assert "are 20000, and the summary has kinds with 10033 together: one is missing" in told
    broken = read("ycsb", text.replace("RunTime(ms), 14735", "RunTime(ms), 147"))
    assert "are 200, and the summary has kinds with 20000 together" in refused(broken)


KIND = "[{0}], Operations, {1}\n[{0}], AverageLatency(us), 5\n[{0}], MinLatency(us), 5\n[{0}], MaxLatency(us), 5\n"
OTHER_KINDS = [
    ({"READ": 100, "UPDATE": 60, "READ-MODIFY-WRITE": 60}, False),
    ({"READ": 100, "READ-MODIFY-WRITE": 60}, True),
    ({"READ": 50, "UPDATE": 50, "Intended-READ": 50, "Intended-UPDATE": 50}, False),
    ({"READ": 50, "Intended-READ": 50, "Intended-UPDATE": 50}, True),
    ({"READ": 50, "READ-FAILED": 3}, False),
    ({"INSERT": 100, "UPDATE": 8}, False),
    ({"TX-READ": 300}, False),
]


@pytest.mark.parametrize(("kinds", "is_told"), OTHER_KINDS)
def test_ycsbs_kinds_that_count_others_again_are_known(kinds: dict[str, int], is_told: bool) -> None:
    text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n"
    document = read("ycsb", text + "".join(KIND.format(*one) for one in kinds.items()))
    assert not refused(document)
    assert bool(cut(document)) is is_told


def without(text: str, pattern: str, instead: str = "") -> str:
    """Return a text without the first line that a pattern matches."""
    broken, count = re.subn(f"(?m)^{pattern}.*\n", instead, text, count=1)
    assert count == 1
    return broken


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("latency_and_bw", "# OSU MPI Latency"),
        ("start_up_and_pairs", "# OSU MPI Init"),
        ("nonblocking", "# OSU MPI Non-blocking Barrier"),
    ],
)
def test_the_first_table_of_osu_without_its_title_is_told(name: str, title: str) -> None:
    text = (DATA / "osu" / f"{name}.txt").read_text()
    assert not cut(read("osu", text))
    assert any("a table stands under no title" in told for told in cut(read("osu", without(text, title))))


def test_a_ycsb_summary_without_its_run_time_is_told() -> None:
    text = (DATA / "ycsb" / "mix.txt").read_text()
    assert "the summary has no run time" in cut(read("ycsb", without(text, r"\[OVERALL\], RunTime") + text))
    assert "the summary has no run time" in cut(read("ycsb", text + without(text, r"\[OVERALL\], RunTime")))


def test_a_row_of_perftest_under_no_head_is_told() -> None:
    text = (INSTRUMENTS / "perftest" / "send_lat.txt").read_text()
    for instead in ("", " #bytes #iterations    t_min[usec]\n"):
        (told, *_) = cut(read("perftest", text + without(text, " #bytes", instead)))
        assert "a row stands under no head with as many columns: '64" in told


def test_a_table_of_perftest_under_another_tests_title_is_none_of_it() -> None:
    latency, bandwidth = ((INSTRUMENTS / "perftest" / f"{name}.txt").read_text() for name in ("send_lat", "write_bw"))
    assert not read("perftest", latency + bandwidth).problems
    for one, other in ((latency, bandwidth), (bandwidth, latency)):
        broken = read("perftest", one + without(other, r" +(?:RDMA_Write BW|Send Latency) Test"))
        assert "a table stands under no title, and behind what the program says" in cut(broken)[0]
        assert [len(table.rows) for table in broken.tables] == [1, 1]
        assert broken.tables[-1].name == "results"


@pytest.mark.parametrize("title", ["Isolated Network Tests", "Network Tests running with"])
def test_a_table_of_gpcnet_without_its_title_is_refused(title: str) -> None:
    text = (DATA / "gpcnet" / "load.txt").read_text()
    assert "under no title of its own" in refused(read("gpcnet", without(text, rf"\| +{title}")))


@pytest.mark.parametrize("name", ["stream", "omni", "datagrams"])
def test_a_head_of_netperf_under_no_title_is_told(name: str) -> None:
    text = (DATA / "netperf" / f"{name}.txt").read_text()
    assert "the head of a table stands under no title" in cut(read("netperf", without(text, ".* TEST from ")))
