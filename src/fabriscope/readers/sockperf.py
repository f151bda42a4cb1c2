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
throughput's "MBps" is 2^20 bytes per second, and its note says how long a message was, unless it had 1,472 B.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown, whole
from fabriscope.model.rounding import span
from fabriscope.readers.base import Column, Draft, Reader, Value
from fabriscope.readers.terms import ONE_WAY, Terms

PING_PONG, THROUGHPUT = "ping-pong", "throughput"
ROUND_TRIPS = "ping-pong, whole round trips"
"""With `--full-rtt`."""
UNDER_LOAD = "under-load"
"""Prints what a ping-pong does; most of its messages want no answer, and those of a ping-pong wait for theirs."""
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
        r"\[Valid Duration\] RunTime=": Column("duration_s", "duration_s", "time", "s", "of the valid duration"),
        "dropped messages =": Column("lost", "lost_count", "lost", "", "messages that never came back"),
        "duplicated messages =": Column("repeated", "repeated_count", "repeated", "", "messages that came twice"),
    },
    THROUGHPUT: {
        "Total of": Column("message_count", "message_count", "messages", "", "that were sent"),
        "messages sent in": Column("duration_s", "duration_s", "time", "s", "from the first message to the last"),
        "BandWidth is": Column(
            "rate_mib_per_s", "sent_bandwidth_bytes_per_s", "sent", "bytes_per_s",
            "bytes that the sender's system took, over the time", 1 << 20,
        ),
    },
}  # fmt: skip
"""Test to its fields: what stands before a number, and what the number is."""
FIELDS[ROUND_TRIPS] = {
    before.replace("avg-lat(?:ency)?=", "avg-rtt="): replace(
        column,
        name=column.name.replace("latency_", "round_trip_"),
        definition=column.definition.replace("the halves of ", "the "),
    )
    for before, column in FIELDS[PING_PONG].items()
    if column.head != "summary_us"
}
_PATTERNS = {
    test: [(re.compile(before + r"\s*(\S+?)(?=[;\s)\]]|$)"), column) for before, column in fields.items()]
    for test, fields in FIELDS.items()
}
_VERSION = re.compile(r"== version #(\S+)")
_PEER = re.compile(r"\[ *\d{1,5}\] (?:IP|ADDR) = .{1,120}# (TCP|UDP)\b")
"""A line for each socket of a client."""
_NOTE = re.compile(r"NOTE: test was performed, using (average )?msg-size=(\d{1,9})(?:[^,.]{0,30}, [mp]ps=(\d{1,12}))?")
USUAL_BYTES = 1472
"""Of a throughput test that has no note: that is the size which the note recommends."""
_UNITS = {"messages sent in": "sec", "BandWidth is": "MBps", "Summary: Latency is": "usec"}
_UNIT = re.compile(rf"({'|'.join(_UNITS)})\s*\S+ (\w{{1,20}})")
"""Where a line states the unit of its number."""
_CHECKED = {
    "sent_total": re.compile(r"\[Total Run\].{0,200}SentMessages=([^;\s]{1,30})"),
    "total_s": re.compile(r"\[Total Run\] RunTime=(\S{1,30}) sec"),
    "sent": re.compile(r"\[Valid Duration\].{0,200}SentMessages=([^;\s]{1,30})"),
    "observations": re.compile(r"Total (\S{1,30}) observations"),
    "rate": re.compile(r"Summary: Message Rate is (\S{1,30}) \[msg/sec\]"),
    "megabits": re.compile(r"BandWidth is \S{1,30} MBps \((\S{1,30}) Mbps\)"),
}
"""What is no column, but has to agree with those."""
_QUANTILE = re.compile(r"---> (<MIN> observation|<MAX> observation|percentile\s+[\d.]{1,9}) =\s*(\S{1,40})")
_BROKEN = re.compile(r"\s*sockperf.*\d[ \u00a0\u202f]\d")
"""No line of a client has two numbers with a blank alone between them."""
_TOLERANCE = 1e-3


@dataclass
class _Client:
    """What one client has said so far."""

    test: str
    words: dict[str, str] = field(default_factory=dict)
    """By the heads of the columns, and by the names of `_CHECKED`."""
    lines: dict[str, int] = field(default_factory=dict)
    """Where each of them stands."""
    protocols: tuple[str, ...] = ()
    """Of its sockets."""
    note: re.Match[str] | None = None
    quantiles: list[tuple[str, str]] = field(default_factory=list)
    """From the most to the least, as they are printed."""

    def take(self, line: str, line_number: int) -> None:
        """Take a line; raises ParseError for what stands twice, a unit that is not the one we know, a broken number."""
        if _BROKEN.match(line):
            raise ParseError(f"a number has a blank inside: {shown(line.strip())}")
        for before, unit in _UNIT.findall(line):
            if unit != _UNITS[before]:
                raise ParseError(f"a number is in {unit}, and after {before!r} {_UNITS[before]} is known")
        names = [(column.head, pattern) for pattern, column in _PATTERNS[self.test]]
        for head, pattern in (*names, *_CHECKED.items()):
            for word in pattern.findall(line):
                if head in self.words:
                    raise ParseError(f"{head} stands twice in the output of one client")
                self.words[head], self.lines[head] = word, line_number
        self.quantiles += _QUANTILE.findall(line)
        self.note = _NOTE.search(line) or self.note


def _fill(draft: Draft) -> None:
    client: _Client | None = None
    protocols: tuple[str, ...] = ()
    begun, is_whole = 0, "avg-rtt=" in draft.text
    for line in draft.lines():
        if version := _VERSION.search(line):
            draft.version = version[1]
            if begun:
                draft.problem(f"the client of line {begun} has no result: another one begins here", "cut")
            begun, protocols = draft.line, ()
        elif peer := _PEER.search(line):
            protocols = (*protocols, peer[1])
        elif "[SERVER]" in line:
            begun = 0
        for kind, beginning in _BEGINNINGS.items():
            if beginning in line:
                _end(draft, client)
                name = ROUND_TRIPS if kind == PING_PONG and is_whole else kind
                client, begun, protocols = _Client(name, protocols=protocols), 0, ()
                draft.table(name, tuple(FIELDS[name].values()))
        if client is not None:
            client.take(line, draft.line)
        if "ERROR" in line:
            draft.problem(f"sockperf says: {shown(line.strip())}", "said")
    _end(draft, client)
    if begun and client is None:
        draft.problem(f"the client of line {begun} has no result", "cut", begun)


def _end(draft: Draft, client: _Client | None) -> None:
    """Make a row of what stands in a client's output, if it is whole."""
    if client is None:
        return
    line = draft.line
    columns, words = draft.tables[-1].columns, client.words
    missing = next((column.head for column in columns if column.head not in words), None)
    if missing is not None:
        draft.problem(f"no {missing} in its output", "cut")
        return
    printed: dict[str, Value] = {}
    for column in columns:
        draft.line = client.lines[column.head]
        printed[column.head] = column.printed(words[column.head])
    draft.line = draft.tables[-1].line
    if client.test != THROUGHPUT and (printed["lost"] or printed["repeated"]):
        draft.problem(f"{printed['lost']:.0f} messages were lost and {printed['repeated']:.0f} repeated", "said", line)
    if client.test != THROUGHPUT:
        _check_latencies(client)
        _check_counts(words)
    else:
        _check_rates(words)
    if not printed["duration_s"]:
        raise ParseError(f"its messages were sent in {printed['duration_s']} s")
    if client.test != THROUGHPUT and _is_under_load(words):
        draft.tables[-1].name = client.test.replace(PING_PONG, UNDER_LOAD)
    _tell(draft, client)
    draft.row(printed)
    draft.line = line


def _tell(draft: Draft, client: _Client) -> None:
    """Tell what a client says of its sockets and messages; raises ParseError where its rates are those of others."""
    if client.protocols:
        draft.table_parameter("protocol", "+".join(dict.fromkeys(client.protocols)))
    if len(client.protocols) > 1:
        draft.table_parameter("stream_count", len(client.protocols))
    if client.test != THROUGHPUT:
        return
    words, note = client.words, client.note
    if note is not None and note[3]:
        draft.table_parameter("asked_rate_per_s", int(note[3]), "per_s")
    if note is not None and note[1]:  # their sizes vary
        return
    size = int(note[2]) if note is not None else USUAL_BYTES
    rate = span(words["rate"]) if "rate" in words else span(words["message_count"]) / span(words["duration_s"])
    if (rate * size).meets(span(words["rate_mib_per_s"]) * (1 << 20), _TOLERANCE):
        draft.table_parameter("message_size_bytes", size, "bytes")
    elif note is not None:
        raise ParseError(f"its messages of {size} B do not come to {words['rate_mib_per_s']} MBps at their rate")


def _is_under_load(words: Mapping[str, str]) -> bool:
    """Return whether more messages were sent than were answered or lost, and the one that is under way."""
    answered = sum(whole(words[name], name, "") for name in ("message_count", "lost"))
    return whole(words.get("sent", "0"), "SentMessages", "") > answered + 1


def _check_latencies(client: _Client) -> None:
    """Raise ParseError for latencies that contradict each other, or of which none is more than nothing."""
    us = {column.head: float(client.words[column.head]) for column in FIELDS[client.test].values()}
    if us.get("summary_us", us["latency_us_mean"]) != us["latency_us_mean"]:
        raise ParseError(f"its mean latency is {us['latency_us_mean']} and, in usec, {us['summary_us']}")
    if not 0 < us["latency_us_least"] <= us["latency_us"] <= us["latency_us_p99"]:
        three = ", ".join(f"{us[name]}" for name in ("latency_us_least", "latency_us", "latency_us_p99"))
        raise ParseError(f"the least, the median and the 99th percentile are {three} usec")
    values = [(name, number(word, name, "", least=0)) for name, word in client.quantiles]
    for (name, more), (below, less) in pairwise(values):
        if less > more:
            raise ParseError(f"{below} is {less} usec, and {name} {more} usec")
    mean = span(client.words["latency_us_mean"])
    for name, word in client.quantiles:
        if (name == "<MAX> observation" and mean.exceeds(span(word))) or (
            name == "<MIN> observation" and span(word).exceeds(mean)
        ):
            raise ParseError(f"its mean latency is {us['latency_us_mean']} usec, and {name} {word} usec")
    if us["latency_us"] / 2 > us["latency_us_mean"] * (1 + _TOLERANCE):  # half of them take the median at least
        raise ParseError(f"its mean latency is {us['latency_us_mean']} usec, and its median {us['latency_us']} usec")


def _check_counts(words: Mapping[str, str]) -> None:
    """Raise ParseError where more came than was sent, or counts or times of one thing differ."""
    count = whole(words["message_count"], "ReceivedMessages", "")
    for name, what in (("sent_total", "sent in all"), ("sent", "sent"), ("observations", "observed")):
        stated = whole(words.get(name, str(count)), f"the count of messages {what}", "")
        if count > stated or (name == "observations" and count != stated):
            raise ParseError(f"{count} messages were received in the valid duration, and {stated} {what}")
    total_s = words.get("total_s", words["duration_s"])
    number(total_s, "RunTime", "", least=0)
    if span(words["duration_s"]).exceeds(span(total_s)):
        raise ParseError(f"the valid duration has {words['duration_s']} s, and the whole run {total_s} s")


def _check_rates(words: Mapping[str, str]) -> None:
    """Raise ParseError where messages over the time are not their rate, or megabits not those of the megabytes."""
    count, rate = span(words["message_count"]), words.get("rate")
    if rate is not None:
        whole(rate, "Message Rate", "")
    if rate is not None and not (count / span(words["duration_s"])).meets(span(rate), _TOLERANCE):
        raise ParseError(f"{words['message_count']} messages in {words['duration_s']} s are not {rate} a second")
    megabits = words.get("megabits")
    if megabits is not None:
        number(megabits, "Mbps", "", least=0)
        if not (span(words["rate_mib_per_s"]) * 8).meets(span(megabits), _TOLERANCE):
            raise ParseError(f"{words['rate_mib_per_s']} MBps are not {megabits} Mbps")


def _terms(table: str) -> Terms:
    if table == THROUGHPUT:
        return Terms("from the first message to the last, by the client's clock", "", f"{ONE_WAY}, the payload alone")
    return Terms("each round trip, by the cycle counter of the client's processor")


READER = Reader(
    "sockperf", "sockperf", re.compile(r"^sockperf(?:\[CLIENT\]|:) ", re.MULTILINE), _fill, _terms, ("sockperf",)
)
