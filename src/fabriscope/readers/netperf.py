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
from collections.abc import Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers._netperf_columns import (
    ARRIVED,
    CPU,
    DATAGRAMS,
    FAR_DATAGRAMS,
    KEYS,
    MOVED,
    NAMED,
    RATE,
    RATES,
    RESPONSES,
    SECONDS,
    SEND,
    SENT_RATE,
    STREAM,
    settings_of,
    terms_of,
    throughput_in,
)
from fabriscope.readers._tables import is_row
from fabriscope.readers.base import Column, Draft, Reader, Value

_TITLE = re.compile(
    r"(?:MIGRATED )?((?:TCP|UDP|SCTP|DCCP|OMNI|AF_UNIX|DG|STREAM)[\w/ +|-]{0,50}?(?:TEST|Test))"
    r" (?:from|to) (?P<rest>.*)"
)

_OF_STREAM = re.compile(r"bytes bytes bytes secs\. (\S+)/s(?:ec)?( % \S+ % \S+ us/KB us/KB)?")
_OF_DATAGRAMS = re.compile(r"bytes bytes secs # # (\S+)/s(?:ec)?( % \S+ us/KB)?")
_OF_RESPONSES = re.compile(r"bytes [Bb]ytes bytes bytes secs\. (?:per sec|(\S+)/s(?:ec)?)( % \S+ % \S+ us/Tr us/Tr)?")
_UNKNOWN_HEAD = re.compile(r"bytes (?:bytes|Bytes) .*")
_KEY = re.compile(r"([A-Z][A-Z0-9_]{2,60})=(.*)")
_CUT_KEY = re.compile(r"[A-Z0-9]{1,20}_|(?:THR|ELA|MEAN|MIN|MAX|STD|P\d\d?)[A-Z]{0,20}\b")
"""What is left of `KEY=value`."""
_NO_HEAD = re.compile(r"[\[\]:]|WARN")
_JSON_LINE = re.compile(r'\s*"(.*)",?\s*')
_TOLERANCE = 0.005
_UNTITLED = "the head of a table stands under no title"


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
        """The head of a table of values whose row has not come."""
        self.csv_line = 0
        self.pairs: dict[str, str] = {}
        self.said: list[tuple[str, Value]] = []
        """Settings that the title tells of."""
        self.waits = 0
        """Line of a title whose result has not come."""
        self.titled = 0
        """Line of the last title."""
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
            self.said = list(settings_of(title["rest"]))
        elif key and (key[1] in KEYS or self.pairs):
            self.pair(KEYS.get(key[1], key[1]), key[2].strip().strip('"'))
        elif "," in text and "Throughput" in text and "Throughput Units" in text:
            self.begin_csv([head.strip() for head in text.split(",")])
        elif self.csv and "," in text:
            self.values(self.csv, text.split(","))
            self.csv = []
        elif self.pairs and not key and _CUT_KEY.match(text):
            self.draft.problem(f"a line of the result is not whole: {shown(text)}", "cut")
        elif not self.head(joined) and is_row(words):
            if self.columns:
                self.row(words)
            elif self.done:
                self.another(words)

    def pair(self, name: str, word: str) -> None:
        """Take a `KEY=value`; where no titles are printed the first key of a result begins the next one."""
        if name in self.pairs:
            if self.titled or name != next(iter(self.pairs)):
                raise ParseError(f"{name} stands twice in one result")
            self.end()
        self.pairs[name] = word

    def another(self, words: Sequence[str]) -> None:
        """Tell a row, or a part of one, behind the only row of its table; `-v 2` prints longer ones there."""
        first, joined = self.draft.tables[-1].rows[-1][0], shown(" ".join(words))
        if len(words) == len(self.done):
            raise ParseError(f"another row stands under the head of that of line {first}: {joined}")
        if 1 < len(words) < len(self.done):
            self.draft.problem(f"a row is not whole: {joined}", "cut")

    def begin_csv(self, heads: list[str]) -> None:
        """Take the head of a table of values; raises ParseError for what stands in none."""
        self.end_csv()
        odd = next((head for head in heads if _NO_HEAD.search(head)), None)
        if odd is not None:
            raise ParseError(f"the head of a table has a column {shown(odd)}")
        if not self.titled:
            self.draft.problem(_UNTITLED, "cut")
        self.csv, self.csv_line = heads, self.draft.line

    def end_csv(self) -> None:
        """Note a head without its row."""
        if self.csv:
            self.draft.problem(f"the head of line {self.csv_line} has no row", "cut", self.csv_line)
            self.csv, self.waits = [], 0

    def begin(self, title: str) -> None:
        """Begin a test."""
        self.end()
        self.title, self.columns, self.csv, self.waits = title.removesuffix(" TEST"), (), [], self.draft.line
        self.done, self.titled = (), self.draft.line

    def check_title(self, *, is_of_responses: bool, is_table: bool) -> None:
        """Raise ParseError where a result stands under the title of another one: its own is lost, or is not whole."""
        if not self.titled:  # `-P 0` prints none, and no heads of tables
            if is_table:
                self.draft.problem(_UNTITLED, "cut")
            return
        if not self.waits:
            raise ParseError(f"another result stands under the title of line {self.titled}: its own is missing")
        has_responses = re.search("request|response", self.title, re.IGNORECASE) is not None
        is_stream = not has_responses and "STREAM" in self.title
        if (is_of_responses and is_stream) or (is_table and has_responses and not is_of_responses):
            what = "transactions" if is_of_responses else "a throughput"
            raise ParseError(f"the result of {self.title} is {what}: the title of another test is missing")

    def head(self, joined: str) -> bool:
        """Take the last line of a head, which has the units; return whether a line is one."""
        if stream := _OF_STREAM.fullmatch(joined):
            self.columns, self.unit = STREAM + (CPU if stream[2] else ()), stream[1]
        elif datagrams := _OF_DATAGRAMS.fullmatch(joined):
            self.columns = DATAGRAMS + ((CPU[0], CPU[2]) if datagrams[2] else ())
            self.unit = datagrams[1]
        elif responses := _OF_RESPONSES.fullmatch(joined):
            self.columns = (MOVED if responses[1] else RESPONSES) + (CPU if responses[2] else ())
            self.unit = responses[1] or ""
        elif _UNKNOWN_HEAD.fullmatch(joined):
            raise ParseError(f"the columns {shown(joined)} are not those that are known")
        else:
            return False
        self.check_title(is_of_responses=self.columns[:4] == RESPONSES[:4], is_table=True)
        if self.unit and self.unit not in RATES:
            raise ParseError(f"the throughput is in {shown(self.unit)}, which is not known")
        return True

    def row(self, words: Sequence[str]) -> None:
        """Take a row of a table, the second of datagrams or of sockets too."""
        rows = self.draft.tables[-1].rows if self.draft.tables else []
        is_second = not self.waits and bool(rows)
        if is_second and self.columns[:1] == (SEND,) and len(words) < len(self.columns):
            self.second(words, rows[-1][1])
            self.columns = ()
            return
        if is_second and self.columns[:1] == (SEND,):
            raise ParseError(f"the row of line {rows[-1][0]} stands twice in the result of {self.title}")
        if len(words) != len(self.columns):
            text = shown(" ".join(words))
            raise ParseError(f"a row has {len(words)} columns, and its table {len(self.columns)}: {text}")
        more = FAR_DATAGRAMS if self.columns[:6] == DATAGRAMS else ()
        self.table(tuple(dict.fromkeys((*self.columns, *(c for c in more if c != SECONDS)))))
        printed = {column.head: self.printed(column, word) for column, word in zip(self.columns, words, strict=True)}
        if self.columns[:6] == DATAGRAMS:
            self.check(words[3], words[1], words[2], words[5])
        self.draft.row(printed)
        self.waits, self.waits_for_far_end = 0, self.draft.line if more else 0
        if self.columns[:5] == STREAM:
            self.columns, self.done = (), self.columns

    def table(self, columns: Sequence[Column]) -> None:
        """Begin the table of the test."""
        self.draft.table(self.title, columns)
        for name, value in self.said:
            self.draft.table_parameter(name, value)

    def second(self, words: Sequence[str], values: dict[str, Value]) -> None:
        """Take the row of the far end."""
        if self.columns[:4] == RESPONSES[:4] and len(words) == 2:
            return  # its socket's buffers
        if self.columns[:6] != DATAGRAMS or len(words) not in (len(FAR_DATAGRAMS), len(FAR_DATAGRAMS) + 2):
            raise ParseError(f"a row has {len(words)} columns, and that of the far end {len(FAR_DATAGRAMS)}")
        self.draft.tables[-1].lines.append(self.draft.line)
        self.waits_for_far_end = 0
        far = {column: self.printed(column, word) for column, word in zip(FAR_DATAGRAMS, words[:4], strict=True)}
        if float(far[ARRIVED]) > float(values["sent_message_count"]):
            raise ParseError(f"{words[2]} messages arrived, and {values['sent_message_count']} were sent")
        self.check(words[2], str(values["message_size_bytes"]), words[1], words[3])
        values |= {column.name: value for column, value in far.items() if column != SECONDS}

    def printed(self, column: Column, word: str) -> Value:
        """Return a word in the document's unit."""
        least = -1.0 if "cpu" in column.name or "demand" in column.name else 0.0
        value = column.printed(word, least=least)
        return float(value) * RATES[self.unit] if column in (RATE, SENT_RATE, MOVED[-1]) else value

    def check(self, count: str, size: str, time: str, rate: str) -> None:
        """Raise ParseError where messages times size over the time are not the rate."""
        if not (exactly(float(count) * float(size)) / span(time)).meets(span(rate) * RATES[self.unit], _TOLERANCE):
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
        self.check_title(is_of_responses=said.get("Throughput Units", "").startswith("Trans"), is_table=False)
        columns: list[Column] = []
        printed: dict[str, Value] = {}
        for head, word in said.items():
            name, factor = NAMED.get(head, (re.sub(r"\W+", "_", head).strip("_").lower(), 1.0))
            column = Column(head, name, head.lower(), "", f"{head}, as netperf prints it", kind="word")
            if head == "Throughput":
                column = throughput_in(said.get("Throughput Units", ""))
            elif head in NAMED:
                column = Column(head, name, head.lower(), "ns" if name[:7] == "latency" else "s", head.lower(), factor)
            if (is_number := column.kind != "word") and number(word, head, "") < 0:
                continue  # -1 is not measured
            columns.append(column)
            printed[column.head] = column.printed(word) if is_number else word
        self.table(columns)
        self.draft.row(printed)
        self.waits = 0

    def end(self) -> None:
        """End a test."""
        self.end_csv()
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
    for line in draft.lines():
        reading.take(line)
        if "establish control" in line or "could not establish" in line:
            draft.problem(f"netperf says: {shown(line.strip())}", "said")
        elif "Desired confidence was not achieved" in line:
            draft.problem("netperf says that its result is not as sure as it was asked for", "noted")
    reading.end()


_SIGNATURE = re.compile(
    r"^[^\n]{0,40}(?:TCP|UDP|SCTP|OMNI|DG|STREAM)[\w/ +|-]{0,50}(?:TEST|Test) (?:from|to) \S"
    r"|^[ \t]{0,20}THROUGHPUT=|^establish control: ",
    re.MULTILINE,
)
READER = Reader(
    "netperf",
    "netperf 2",
    _SIGNATURE,
    _fill,
    terms_of,
    ("TEST from ", "TEST to ", "Test from ", "Test to ", "THROUGHPUT=", "establish control: "),
)
