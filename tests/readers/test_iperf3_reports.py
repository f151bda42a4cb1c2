"""Reports of iperf3 that are no JSON, or whose sums over UDP contradict each other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.readers.test_golden import INSTRUMENTS, read

TEXT = (INSTRUMENTS / "iperf3" / "tcp.txt").read_text()
LINES = TEXT.count("\n")
SENT = next(line for line in TEXT.splitlines() if '"num_streams"' in line)
AT = TEXT[: TEXT.index(SENT)].count("\n") + 1


def instead(what: str) -> str:
    """Return the recorded report with something else in the place of its count of streams."""
    return TEXT.replace(SENT, what, 1)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (instead(SENT + '"num_streams": 2,'), AT, "cannot be read: the key 'num_streams' stands twice in one object"),
        (instead('"num_streams": NaN,'), AT, "cannot be read: NaN is no number of JSON"),
        (instead('"num_streams": -Infinity,'), AT, "cannot be read: -Infinity is no number of JSON"),
        (instead('"num_streams": 1e999,'), AT, "cannot be read: 1e999 is too large a number"),
        (instead(f'"num_streams": {"9" * 5000},'), 0, "cannot be read: a whole number has thousands of digits"),
        (instead(f'"x": {"[" * 70_000}{"]" * 70_000},'), AT, "cannot be read: its JSON has more than 64 levels"),
        (instead(f'"x": {"[" * 70}{"]" * 70},'), AT, "cannot be read: its JSON has more than 64 levels"),
        (instead('"num_streams" 1,'), AT, "is no JSON: expecting ':' delimiter, column 15: '1,'"),
        ("warning: x\n" + TEXT, 1, "text stands before iperf3's report: 'warning: x'"),
        (TEXT + "real 0m3s\n", LINES + 1, "text stands after iperf3's report: 'real 0m3s'"),
        (TEXT * 2, LINES + 1, "a second report of iperf3 begins: '{'"),
        ("null\n", 1, "iperf3's report should be an object and is null"),
        ("[]\n", 1, "iperf3's report should be an object and is a list"),
    ],
    ids=lambda value: str(value)[-30:],
)
def test_what_is_no_report_is_told_with_its_line(text: str, line: int, says: str) -> None:
    (problem,) = read("iperf3", text).problems
    assert (problem.kind, problem.line) == ("refused", line)
    assert says in problem.text


@pytest.mark.parametrize("end", [1, 2, 40, 200, 1000, TEXT.index("true") + 2, TEXT.index(".") + 1, len(TEXT) - 3])
def test_a_report_that_ends_too_early_is_cut(end: int) -> None:
    (problem,) = read("iperf3", TEXT[:end]).problems
    assert (problem.kind, problem.text) == ("cut", "no whole JSON report")


def over_udp(**changed: Any) -> list[str]:
    """Return what is refused of a report over UDP, as iperf3 3.12 writes it, with something else in the sum."""
    of_stream = {"bytes": 39902536, "bits_per_second": 157719793.4, "jitter_ms": 0.0189, "lost_packets": 6557}
    of_stream |= {"start": 0, "end": 2.023971, "seconds": 2.023971, "packets": 34114}
    report = {
        "start": {"version": "iperf 3.12", "test_start": {"protocol": "UDP", "num_streams": 1}},
        "end": {"sum": of_stream | {"bytes": 49397072} | changed, "sum_received": of_stream},
    }
    return [one.text for one in read("iperf3", json.dumps(report) + "\n").problems]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("lost_packets", 99999, "lost_packets is 6557 at the receiver, and 99999 in the sum of both ends"),
        ("packets", 0, "packets is 34114 at the receiver, and 0 in the sum of both ends"),
        ("jitter_ms", 1.0, "jitter_ms is 0.0189 at the receiver, and 1 in the sum of both ends"),
        ("jitter_ms", -1.0, "end.sum.jitter_ms should be a number of at least 0 and is -1.0"),
    ],
)
def test_a_sum_over_udp_that_contradicts_the_receiver_is_refused(name: str, value: float, says: str) -> None:
    assert not over_udp()
    assert over_udp(**{name: value}) == [says]
