"""sockperf 2 and 3: ping-pong, under-load and throughput.

What a client says, with colours in it:

    sockperf: == version #3.7-no.git ==
    sockperf: [Total Run] RunTime=2.000 sec; Warm up time=400 msec; SentMessages=87044; ReceivedMessages=87043
    sockperf: [Valid Duration] RunTime=1.548 sec; SentMessages=66651; ReceivedMessages=66651
    sockperf: ====> avg-latency=11.583 (std-dev=136.032)
    sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
    sockperf: Summary: Latency is 11.583 usec
    sockperf: ---> percentile 50.000 =    4.262

Latencies are halves of round trips in microseconds; percentiles are taken over the messages of the valid duration. A
throughput's "MBps" is 2^20 bytes per second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column, Draft, Reader

PING_PONG, THROUGHPUT = "ping-pong", "throughput"
_BEGINNINGS = {PING_PONG: "[Total Run]", THROUGHPUT: "Total of "}
_HALF = "of the halves of round trips"
FIELDS = {
    PING_PONG: {
        r"\[Valid Duration\].{0,200}ReceivedMessages=": Column(
            "message_count", "message_count", "messages", "", "that were received in the valid duration"
        ),
        "avg-lat(?:ency)?=": Column("latency_us_mean", "latency_ns_mean", "mean", "ns", f"the mean {_HALF}", 1e3),
        # the one line that states the unit
        "Summary: Latency is": Column("summary_us", "latency_ns_summary", "summary", "ns", "the mean, again", 1e3),
        r"---> percentile 50\.000 =": Column("latency_us", "latency_ns", "median", "ns", f"the median {_HALF}", 1e3),
        r"---> percentile 99\.000 =": Column(
            "latency_us_p99", "latency_ns_p99", "99 %", "ns", f"the 99th percentile {_HALF}", 1e3
        ),
        # stands last: what is above is whole
        "---> <MIN> observation =": Column(
            "latency_us_least", "latency_ns_least", "least", "ns", f"the least {_HALF}", 1e3
        ),
        "dropped messages =": Column("lost", "lost_count", "lost", "", "messages that never came back"),
        "duplicated messages =": Column("repeated", "repeated_count", "repeated", "", "messages that came twice"),
    },
    THROUGHPUT: {
        "Total of": Column("message_count", "message_count", "messages", "", "that were sent"),
        "messages sent in": Column("duration_s", "duration_s", "time", "s", "from the first message to the last"),
        "BandWidth is": Column(
            "rate_mib_per_s", "sent_bandwidth_bytes_per_s", "sent", "bytes_per_s",
            "bytes that the sender's system took, over the time; what it prints as MBps are 2^20 bytes", 1 << 20,
        ),
    },
}  # fmt: skip
"""Test to its fields: what stands before a number, and what the number is."""
_PATTERNS = {
    test: [(re.compile(before + r"\s*(\S+?)(?=[;\s)\]]|$)"), column) for before, column in fields.items()]
    for test, fields in FIELDS.items()
}
_VERSION = re.compile(r"== version #(\S+)")


def _fill(draft: Draft) -> None:
    test, words = "", dict[str, str]()
    for line in draft.lines():
        if version := _VERSION.search(line):
            draft.version = version[1]
        for name, beginning in _BEGINNINGS.items():
            if beginning in line:
                _end(draft, test, words)
                test, words = name, {}
                draft.table(test, tuple(FIELDS[test].values()))
        for pattern, column in _PATTERNS.get(test, ()):
            for word in pattern.findall(line):
                if column.head in words:
                    raise ParseError(f"{column.head} stands twice in the output of one client")
                words[column.head] = word
        if "ERROR" in line:
            draft.problem(f"sockperf says: {shown(line.strip())}", "said")
    _end(draft, test, words)


def _end(draft: Draft, test: str, words: Mapping[str, str]) -> None:
    """Make a row of what stands in a client's output, if it is whole."""
    if not test:
        return
    columns = draft.tables[-1].columns
    missing = next((column.head for column in columns if column.head not in words), None)
    if missing is not None:
        draft.problem(f"no {missing} in its output", "cut")
        return
    printed = {column.head: column.printed(words[column.head]) for column in columns}
    if test == PING_PONG and (printed["lost"] or printed["repeated"]):
        draft.problem(f"{printed['lost']:.0f} messages were lost and {printed['repeated']:.0f} repeated", "said")
    elif test == PING_PONG:
        _check_latencies(words)
    elif not printed["duration_s"]:
        raise ParseError(f"its messages were sent in {printed['duration_s']} s")
    draft.row(printed, draft.tables[-1].line)


def _check_latencies(words: Mapping[str, str]) -> None:
    """Raise ParseError for latencies that contradict each other, or of which none is more than nothing."""
    us = {name: float(word) for name, word in words.items()}
    if us["summary_us"] != us["latency_us_mean"]:
        raise ParseError(f"its mean latency is {us['latency_us_mean']} and, in usec, {us['summary_us']}")
    if not 0 < us["latency_us_least"] <= us["latency_us"] <= us["latency_us_p99"]:
        three = ", ".join(f"{us[name]}" for name in ("latency_us_least", "latency_us", "latency_us_p99"))
        raise ParseError(f"the least, the median and the 99th percentile are {three} usec")


READER = Reader("sockperf", "sockperf", re.compile(r"^sockperf(?:\[CLIENT\]|:) ", re.MULTILINE), _fill)
