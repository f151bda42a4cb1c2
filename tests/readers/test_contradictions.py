"""Outputs that contradict themselves: golden texts of which one number was changed, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.readers.test_golden import INSTRUMENTS, read

from fabriscope.model.rounding import exactly, span

HPL = Path(__file__).parent / "data" / "hpl" / "several.txt"
QPERF, SOCKPERF = "qperf/latency_and_bandwidth", "sockperf/ping_pong"
CHANGED = [
    (QPERF, "271820 /sec", "27182 /sec", "msg_rate is 27182 /sec, which latency 3678.90516 ns"),
    (QPERF, "271820 /sec", "271820 K/sec", "msg_rate is 271820 K/sec, which latency"),
    (QPERF, "65536 bytes", "131072 bytes", "which msg_rate 63739 /sec and msg_size 131072"),
    (QPERF, "recv_msgs   =       63739", "recv_msgs   =       6373", "recv_msgs 6373 and time"),
    (QPERF, "time            =  1000000000", "time            =  0", "which loc_send_msgs"),
    (SOCKPERF, "percentile 90.000 =    4.612", "percentile 90.000 =   11.000", "percentile 90.000 is 11.0 usec, and"),
    (SOCKPERF, "<MAX> observation = 9336.271", "<MAX> observation = 9.271", "<MAX> observation 9.271 usec"),
    (SOCKPERF, "Total 66651 obs", "Total 666 obs", "66651 messages were received in the valid duration, and 666"),
    (SOCKPERF, "Duration] RunTime=1.548", "Duration] RunTime=15.48", "15.48 s, and the whole run 2.000 s"),
    (SOCKPERF, "sec; SentMessages=66651", "sec; SentMessages=6665", "valid duration, and 6665 sent"),
    (SOCKPERF, "11.583 usec", "11.583 msec", "a number is in msec"),
    ("sockperf/throughput", "517.829 MBps (", "517.829 GBps (", "a number is in GBps"),
    ("sockperf/throughput", "Rate is 387845", "Rate is 38784", "777021 messages in 2.003 s are not 38784 a second"),
    ("sockperf/throughput", "(4142.632", "(414.263", "517.829 MBps are not 414.263 Mbps"),
    ("perftest/send_lat", "36.47 ", "100.00 ", "t_min is 100.00, and t_typical 83.59"),
    ("perftest/send_lat", "83.59 ", "8359.00 ", "t_typical is 8359.00, and t_avg 1247.67"),
    ("perftest/send_lat", "1247.67", "30.00", "t_min is 36.47, and t_avg 30.00"),
    ("perftest/send_lat", "1247.67", "38.00", "t_typical is 83.59, and t_avg 38.00"),
    ("perftest/send_lat", "36.47", "-36.47", "t_min is -36.47"),
    ("perftest/send_lat", " 1000 ", " 0 ", "0 iterations"),
    ("perftest/write_bw", "22.94", "10.00", "the average bandwidth is 18.18, and its peak 10.0"),
    ("perftest/write_bw", "peak[MB/sec]", "peak[Gb/sec]", "are in two units"),
    ("imb/windows", "1422830", "142283", "142283.0 messages of 1024 B a second are not 1456.98"),
    ("imb/collectives", "        0.07", "        0.70", "2 messages of 64 B in 1733.02 usec are not 0.7 "),
    ("imb/collectives", "    1700.98", "    1600.98", "mean of 1600.98 usec between 1657.35 and 1733.02 usec"),
    ("imb/overlaps", "        5.98", "       59.80", "an overlap of 59.8 %"),
    ("imb/ping_pong", "346.12", "3461.20", "1048576 B in 3461.2 usec are not 3029.49"),
    ("imb/windows", " 49524 ", " 0 ", "is the mean of no repetition"),
    ("netpipe/nptcp", " 21503 times", " 0 times", "0 times"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "says"), CHANGED, ids=lambda part: str(part)[:24])
def test_one_changed_number_is_refused_with_both(name: str, old: str, new: str, says: str) -> None:
    text = (INSTRUMENTS / f"{name}.txt").read_text()
    assert old in text
    assert not [one for one in read(name.split("/")[0], text).problems if one.kind == "refused"]
    (problem,) = [one for one in read(name.split("/")[0], text.replace(old, new, 1)).problems if one.kind == "refused"]
    assert says in problem.text
    line = text[: text.index(old)].count("\n") + 1
    if name.split("/")[0] in ("imb", "netpipe", "perftest"):
        assert problem.line - line in (0, 1)  # 1: the row below a head
    else:
        assert 0 < problem.line <= line  # where the result begins


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("2.75856071e-03", "2.75856071e+03", "a residual of 2.75856071e+03 is said to have PASSED"),
        ("2.75856071e-03 ...... PASSED", "2.75856071e-03 ...... FAILED", "2.75856071e-03 is said to have FAILED"),
        ("Finished      2 tests", "Finished      3 tests", "3 tests are said to have finished, and 2 to have a result"),
        (
            "Finished      2 tests with the following results:\n              2 tests",
            "Finished      3 tests with the following results:\n              3 tests",
            "3 tests are said to have a result, and 2 results stand in the log",
        ),
        (
            "2 tests completed and passed residual checks,\n              0",
            "1 tests completed and passed residual checks,\n              1",
            "1 tests are said to have failed, and 0 did",
        ),
    ],
)
def test_an_hpl_log_whose_checks_contradict_themselves(old: str, new: str, says: str) -> None:
    text = HPL.read_text()
    assert old in text
    (problem,) = [one for one in read("hpl", text.replace(old, new, 1)).problems if one.kind == "refused"]
    assert says in problem.text


def iperf3(*path: str | int, value: Any) -> list[str]:
    """Return what is refused of the recorded report with another value at a path."""
    report = json.loads((INSTRUMENTS / "iperf3" / "tcp.txt").read_text())
    *above, last = path
    part = report
    for name in above:
        part = part[name]
    part[last] = value
    return [one.text for one in read("iperf3", json.dumps(report) + "\n").problems if one.kind == "refused"]


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("end", "sum_received", "end"), 4.0, "time is 2.005566 s, and from its start to its end are 4 s"),
        (("end", "streams", 0, "receiver", "bytes"), 7, "receivers have 7 bytes, and their sum 2806382592"),
        (("end", "sum_sent", "bytes"), 2000000000, "2806382592 bytes arrived, and 2000000000 were sent"),
        (("start", "test_start", "num_streams"), 2, "2 streams were started, and 1 ended"),
        (("intervals", 1, "sum", "end"), 20.5, "an interval ends at 20.5 s, and the test at 2.001218 s"),
        (("intervals", 1, "sum", "bytes"), 10**12, "and the whole 2806906880"),
    ],
)
def test_an_iperf3_report_whose_parts_contradict_the_whole(path: tuple[str | int, ...], value: Any, says: str) -> None:
    (refused,) = iperf3(*path, value=value)
    assert says in refused


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("intervals", 1, "sum", "omitted"), True),
        (("start", "test_start", "omit"), 1),
        (("end", "sum_sent", "bytes"), 2806382592),
        (("intervals",), []),
    ],
)
def test_what_versions_of_iperf3_count_otherwise_is_no_contradiction(path: tuple[str | int, ...], value: Any) -> None:
    assert iperf3(*path, value=value) == []


def test_a_report_of_both_directions_has_streams_of_both() -> None:
    report = json.loads((INSTRUMENTS / "iperf3" / "tcp.txt").read_text())
    report["end"]["streams"] *= 2
    report["end"]["sum_received_bidir_reverse"] = report["end"]["sum_received"]
    document = read("iperf3", json.dumps(report) + "\n")
    assert document.problems == ()
    assert document.parameter("bidirectional") == 1


@pytest.mark.parametrize(("again", "is_read"), [("16384", True), ("16385", False), ("16384.0", False)])
def test_what_iperf3_says_of_each_stream_may_stand_again(again: str, is_read: bool) -> None:
    """As its report of several streams has the buffers of each, all under one name."""
    text = (INSTRUMENTS / "iperf3" / "tcp.txt").read_text()
    once = '"sndbuf_actual":\t16384,'
    assert once in text
    document = read("iperf3", text.replace(once, f'{once} "sndbuf_actual": {again},'))
    assert bool(document.rows()) == is_read
    assert document.parameter("send_buffer_bytes") == (16384 if is_read else None)


def test_a_qperf_that_groups_thousands_is_read() -> None:
    text = (
        "tcp_lat:\n    latency         =     311 us\n    msg_rate        =    3.22 K/sec\n"
        "    loc_send_msgs   =   3,218\n    time            =       2 sec\n"
        "tcp_bw:\n    bw         =  3.72 GB/sec\n    msg_size   =    64 KiB (65,536)\n    recv_msgs  =  1.23 million\n"
    )
    document = read("qperf", text)
    first, second = (row.values for row in document.rows())
    assert document.problems == ()
    assert (first["sent_message_count"], first["duration_s"]) == (3218, 2)
    assert (second["received_message_count"], second["message_size_bytes"]) == (1.23e6, 65536)


@pytest.mark.parametrize(
    ("word", "least", "most"),
    [("1.43", 1.42, 1.44), ("0.00", 0, 0.01), ("9.3151e-01", 0.9315, 0.93152), ("387", 386, 388), ("2E3", 1999, 2001)],
)
def test_a_printed_number_stands_for_what_rounds_to_it(word: str, least: float, most: float) -> None:
    assert (span(word).least, span(word).most) == pytest.approx((least, most))


def test_spans_contradict_each_other_where_no_values_in_them_agree() -> None:
    assert (exactly(64) / span("3.51")).meets(span("18.25"))
    assert not (exactly(64) / span("3.51")).meets(span("17.40"))
    assert (exactly(64) / span("3.51")).meets(span("17.40"), 0.05)
    assert (exactly(1) / span("0.00")).most == float("inf")
    assert span("0e99999").least == 0
    assert span("4.2").exceeds(span("3.9"))
    assert not span("4.2").exceeds(span("4.1"))


def test_what_was_never_made_has_no_mean() -> None:
    text = (HPL.parents[1] / "ycsb" / "mix.txt").read_text()
    count = next(line for line in text.splitlines() if line.startswith("[READ], Operations, "))
    (problem,) = [
        one for one in read("ycsb", text.replace(count, "[READ], Operations, 0")).problems if one.kind == "refused"
    ]
    assert "no operation of READ was made, and their mean latency is" in problem.text
