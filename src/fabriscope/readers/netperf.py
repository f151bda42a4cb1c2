"""netperf 2: its classic tables, and the CSV (`-o`) and key=value (`-k`) output of omni tests.

    MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to node2 () port 0 AF_INET
    Recv   Send    Send
    Socket Socket  Message  Elapsed
    Size   Size    Size     Time     Throughput
    bytes  bytes   bytes    secs.    10^6bits/sec

     87380  16384  16384    10.00    2997.84

Which table it is its last head line tells. Units follow `-f`: 10^6bits are decimal, KBytes and MBytes binary.
UDP_STREAM has a second row, of what arrived; request-response tests one of the far end's sockets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers._tables import is_row
from fabriscope.readers.base import Column, Draft, Reader, Value
from fabriscope.readers.terms import ONE_WAY, Terms

_RATES = {f"10^{power}bits": 10.0**power / 8 for power in (0, 3, 6, 9, 12)} | {
    "KBytes": 1024.0,
    "MBytes": 1024.0**2,
    "GBytes": 1024.0**3,
    "bytes": 1.0,
    "Bytes": 1.0,
}
_UNIT_WORD = re.compile(r"(10\^\d{1,2}bits|[KMG]?[Bb]ytes)/s(?:ec)?")
_SPELT = "the unit of the head: bits of powers of 10, bytes of powers of 2"
_RATE = Column(
    "throughput", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes that arrived over the time",
    unit_in_text=_SPELT,
)  # fmt: skip
_SENT_RATE = Column(
    "sent", "sent_bandwidth_bytes_per_s", "sent", "bytes_per_s", "bytes that were sent over the time",
    unit_in_text=_SPELT,
)  # fmt: skip
_TRANSACTIONS = Column("transactions", "transaction_rate_per_s", "rate", "per_s", "requests with answers over time")
_SECONDS = Column("seconds", "duration_s", "time", "s", "of the test")
_MESSAGE = Column("message", "message_size_bytes", "size", "bytes", "of each send", kind="whole")


def _whole(head: str, name: str, title: str, definition: str, *, is_count: bool = False) -> Column:
    return Column(head, name, title, "" if is_count else "bytes", definition, kind="whole")


_RECEIVE = _whole("receive socket", "receive_socket_bytes", "receive buffer", "of the receiver's socket")
_SEND = _whole("send socket", "send_socket_bytes", "send buffer", "of the sender's socket")
_REQUEST, _RESPONSE = (_whole(name, f"{name}_size_bytes", name, f"of each {name}") for name in ("request", "response"))
_SENT = _whole("messages sent", "sent_message_count", "messages sent", "that the sender's system took", is_count=True)
_ERRORS = _whole("errors", "error_count", "errors", "sends that failed", is_count=True)
_ARRIVED = _whole("messages received", "received_message_count", "messages received", "that arrived", is_count=True)
_CPU = (
    Column("local CPU", "local_cpu_percent", "local CPU", "percent", "of the local processors; -1 is not measured"),
    Column("remote CPU", "remote_cpu_percent", "remote CPU", "percent", "of the remote processors"),
    Column("local demand", "local_demand_us", "local demand", "", "usec of a processor for a KB, or for a transaction"),
    Column("remote demand", "remote_demand_us", "remote demand", "", "usec of a remote processor, likewise"),
)
_STREAM = (_RECEIVE, _SEND, _MESSAGE, _SECONDS, _RATE)
_DATAGRAMS = (_SEND, _MESSAGE, _SECONDS, _SENT, _ERRORS, _SENT_RATE)
_FAR_DATAGRAMS = (_RECEIVE, _SECONDS, _ARRIVED, _RATE)
_RESPONSES = (_SEND, _RECEIVE, _REQUEST, _RESPONSE, _SECONDS, _TRANSACTIONS)
_TITLE = re.compile(
    r"(?:MIGRATED )?((?:TCP|UDP|SCTP|DCCP|OMNI|AF_UNIX|DG|STREAM)[\w/ +-]{0,50}?(?:TEST|Test)) (?:from|to) .*"
)
_OF_STREAM = re.compile(r"bytes bytes bytes secs\. (\S+)/s(?:ec)?( % \S+ % \S+ us/KB us/KB)?")
_OF_DATAGRAMS = re.compile(r"bytes bytes secs # # (\S+)/s(?:ec)?( % \S+ us/KB)?")
_OF_RESPONSES = re.compile(r"bytes [Bb]ytes bytes bytes secs\. per sec( % \S+ % \S+ us/Tr us/Tr)?")
_UNKNOWN_HEAD = re.compile(r"bytes (?:bytes|Bytes) .*")
_KEY = re.compile(r"([A-Z][A-Z0-9_]{2,60})=(.*)")
_JSON_LINE = re.compile(r'\s*"(.*)",?\s*')
_NS = 1e3
_NAMED = {
    "Throughput": ("throughput", 1.0),
    "Elapsed Time (sec)": ("duration_s", 1.0),
    "Mean Latency Microseconds": ("latency_ns_mean", _NS),
    "Minimum Latency Microseconds": ("latency_ns_least", _NS),
    "Maximum Latency Microseconds": ("latency_ns_most", _NS),
    "Stddev Latency Microseconds": ("latency_ns_deviation", _NS),
    "50th Percentile Latency Microseconds": ("latency_ns_p50", _NS),
    "90th Percentile Latency Microseconds": ("latency_ns_p90", _NS),
    "99th Percentile Latency Microseconds": ("latency_ns_p99", _NS),
}
_KEYS = {
    "THROUGHPUT": "Throughput",
    "THROUGHPUT_UNITS": "Throughput Units",
    "ELAPSED_TIME": "Elapsed Time (sec)",
    "MEAN_LATENCY": "Mean Latency Microseconds",
    "MIN_LATENCY": "Minimum Latency Microseconds",
    "MAX_LATENCY": "Maximum Latency Microseconds",
    "STDDEV_LATENCY": "Stddev Latency Microseconds",
    "P50_LATENCY": "50th Percentile Latency Microseconds",
    "P90_LATENCY": "90th Percentile Latency Microseconds",
    "P99_LATENCY": "99th Percentile Latency Microseconds",
}
_TOLERANCE = 0.005


class _Reading:
    """What of netperf's output is being read."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.title = "netperf"
        self.columns: tuple[Column, ...] = ()
        self.done: tuple[Column, ...] = ()
        """The columns of a table that has its only row."""
        self.unit = ""
        self.csv: list[str] = []
        self.pairs: dict[str, str] = {}
        self.waits = 0
        """Line of a title whose result has not come."""
        self.waits_for_far_end = 0
        """Line of a row of datagrams that were sent, without that of those that arrived."""

    def take(self, line: str) -> None:
        """Take a line; raises ParseError."""
        quoted = _JSON_LINE.fullmatch(line)
        text = (quoted[1] if quoted else line).strip()
        words = text.split()
        joined = " ".join(words)
        key = _KEY.fullmatch(text)
        if title := _TITLE.match(text):
            self.begin(title[1])
        elif key and (key[1] in _KEYS or self.pairs):
            self.pairs[_KEYS.get(key[1], key[1])] = key[2].strip().strip('"')
        elif "," in text and "Throughput" in text and "Throughput Units" in text:
            self.csv = [head.strip() for head in text.split(",")]
        elif self.csv:
            cells = text.split(",")
            if len(cells) > 1:
                self.values(self.csv, cells)
                self.csv = []
        elif not self.head(joined) and is_row(words):
            if self.columns:
                self.row(words)
            elif self.done and len(words) == len(self.done):
                first = self.draft.tables[-1].rows[-1][0]
                raise ParseError(f"another row stands under the head of that of line {first}: {shown(joined)}")

    def begin(self, title: str) -> None:
        """Begin a test."""
        self.end()
        self.title, self.columns, self.csv, self.waits = title.removesuffix(" TEST"), (), [], self.draft.line
        self.done = ()

    def head(self, joined: str) -> bool:
        """Take the last line of a head, which has the units; return whether a line is one."""
        if stream := _OF_STREAM.fullmatch(joined):
            self.columns, self.unit = _STREAM + (_CPU if stream[2] else ()), stream[1]
        elif datagrams := _OF_DATAGRAMS.fullmatch(joined):
            self.columns = _DATAGRAMS + ((_CPU[0], _CPU[2]) if datagrams[2] else ())
            self.unit = datagrams[1]
        elif responses := _OF_RESPONSES.fullmatch(joined):
            self.columns, self.unit = _RESPONSES + (_CPU if responses[1] else ()), ""
        elif _UNKNOWN_HEAD.fullmatch(joined):
            raise ParseError(f"the columns {shown(joined)} are not those that are known")
        else:
            return False
        if self.unit and self.unit not in _RATES:
            raise ParseError(f"the throughput is in {shown(self.unit)}, which is not known")
        return True

    def row(self, words: Sequence[str]) -> None:
        """Take a row of a table, the second of datagrams or of sockets too."""
        rows = self.draft.tables[-1].rows if self.draft.tables else []
        is_second = not self.waits and bool(rows)
        if is_second and self.columns[:1] == (_SEND,) and len(words) < len(self.columns):
            self.second(words, rows[-1][1])
            self.columns = ()
            return
        if is_second and self.columns[:1] == (_SEND,):
            raise ParseError(f"the row of line {rows[-1][0]} stands twice in the result of {self.title}")
        if len(words) != len(self.columns):
            text = shown(" ".join(words))
            raise ParseError(f"a row has {len(words)} columns, and its table {len(self.columns)}: {text}")
        more = _FAR_DATAGRAMS if self.columns[:6] == _DATAGRAMS else ()
        self.draft.table(self.title, tuple(dict.fromkeys((*self.columns, *(c for c in more if c != _SECONDS)))))
        printed = {column.head: self.printed(column, word) for column, word in zip(self.columns, words, strict=True)}
        if self.columns[:6] == _DATAGRAMS:
            self.check(words[3], words[1], words[2], words[5])
        self.draft.row(printed)
        self.waits, self.waits_for_far_end = 0, self.draft.line if more else 0
        if self.columns[:5] == _STREAM:
            self.columns, self.done = (), self.columns

    def second(self, words: Sequence[str], values: dict[str, Value]) -> None:
        """Take the row of the far end."""
        if self.columns[:6] == _RESPONSES and len(words) == 2:
            return  # its socket's buffers
        if self.columns[:6] != _DATAGRAMS or len(words) not in (len(_FAR_DATAGRAMS), len(_FAR_DATAGRAMS) + 2):
            raise ParseError(f"a row has {len(words)} columns, and that of the far end {len(_FAR_DATAGRAMS)}")
        self.draft.tables[-1].lines.append(self.draft.line)
        self.waits_for_far_end = 0
        far = {column: self.printed(column, word) for column, word in zip(_FAR_DATAGRAMS, words[:4], strict=True)}
        if float(far[_ARRIVED]) > float(values["sent_message_count"]):
            raise ParseError(f"{words[2]} messages arrived, and {values['sent_message_count']} were sent")
        self.check(words[2], str(values["message_size_bytes"]), words[1], words[3])
        values |= {column.name: value for column, value in far.items() if column != _SECONDS}

    def printed(self, column: Column, word: str) -> Value:
        """Return a word in the document's unit."""
        least = -1.0 if "cpu" in column.name or "demand" in column.name else 0.0
        value = column.printed(word, least=least)
        return float(value) * _RATES[self.unit] if column in (_RATE, _SENT_RATE) else value

    def check(self, count: str, size: str, time: str, rate: str) -> None:
        """Raise ParseError where messages times size over the time are not the rate."""
        if not (exactly(float(count) * float(size)) / span(time)).meets(span(rate) * _RATES[self.unit], _TOLERANCE):
            raise ParseError(f"{count} messages of {size} B in {time} s are not {rate} {self.unit}/sec")

    def values(self, heads: Sequence[str], cells: Sequence[str]) -> None:
        """Take the values of an omni test; what has no name of ours keeps its own, as a word."""
        while len(cells) > len(heads) and cells[-1].strip() == "-1":
            cells = cells[:-1]  # not measured, and of some protocols without a head
        if len(heads) != len(cells):
            raise ParseError(f"a row has {len(cells)} columns, and its table {len(heads)}")
        said = dict(zip(heads, (cell.strip() for cell in cells), strict=True))
        if len(said) < len(heads):
            raise ParseError("a column stands twice")
        unit = _UNIT_WORD.fullmatch(said.get("Throughput Units", ""))
        columns: list[Column] = []
        printed: dict[str, Value] = {}
        for head, word in said.items():
            name, factor = _NAMED.get(head, (re.sub(r"\W+", "_", head).strip("_").lower(), 1.0))
            column = Column(head, name, head.lower(), "", f"{head}, as netperf prints it", kind="word")
            if head == "Throughput":
                column = self.throughput(unit, said)
            elif head in _NAMED:
                column = Column(head, name, head.lower(), "ns" if name[:7] == "latency" else "s", head.lower(), factor)
            if (is_number := column.kind != "word") and number(word, head, "") < 0:
                continue  # -1 is not measured
            columns.append(column)
            printed[column.head] = column.printed(word) if is_number else word
        self.draft.table(self.title, columns)
        self.draft.row(printed)
        self.waits = 0

    def throughput(self, unit: re.Match[str] | None, said: dict[str, str]) -> Column:
        """Return the column of the throughput; raises ParseError for a unit that is not known."""
        stated = said.get("Throughput Units", "")
        if stated in ("Trans/s", "Trans/sec"):
            return Column("Throughput", _TRANSACTIONS.name, "rate", "per_s", _TRANSACTIONS.definition)
        if unit is None or unit[1] not in _RATES:
            raise ParseError(f"the throughput is in {shown(stated)}, which is not known")
        return Column("Throughput", _RATE.name, "bandwidth", "bytes_per_s", _RATE.definition, _RATES[unit[1]])

    def end(self) -> None:
        """End a test."""
        if "Throughput" in self.pairs:
            self.values(list(self.pairs), list(self.pairs.values()))
        if self.waits:
            self.draft.problem(f"the test of line {self.waits} has no result", "cut", self.waits)
        if self.waits_for_far_end:
            line, self.waits_for_far_end = self.waits_for_far_end, 0
            self.draft.problem("what arrived of it is missing: it has no row of the far end", "cut", line)
        self.pairs, self.waits = {}, 0


def _fill(draft: Draft) -> None:
    reading = _Reading(draft)
    take: Callable[[str], None] = reading.take
    for line in draft.lines():
        take(line)
        if "establish control" in line or "could not establish" in line:
            draft.problem(f"netperf says: {shown(line.strip())}", "said")
    reading.end()


def _terms(table: str) -> Terms:
    if "STREAM" in table.upper():
        return Terms("the bytes of the test's time", "a ring of send buffers", f"{ONE_WAY}, the payload alone")
    return Terms("requests with their answers in the test's time") if "REQUEST" in table.upper() else Terms()


_SIGNATURE = re.compile(
    r"^[^\n]{0,40}(?:TCP|UDP|SCTP|OMNI|DG|STREAM)[\w/ +-]{0,50}(?:TEST|Test) (?:from|to) \S"
    r"|^[ \t]{0,20}THROUGHPUT=|^establish control: ",
    re.MULTILINE,
)
READER = Reader(
    "netperf",
    "netperf 2",
    _SIGNATURE,
    _fill,
    _terms,
    ("TEST from ", "TEST to ", "Test from ", "Test to ", "THROUGHPUT=", "establish control: "),
)
