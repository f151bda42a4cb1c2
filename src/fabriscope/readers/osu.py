"""OSU micro-benchmarks 3 to 7.5, OMB-Py and the NCCL variants: all their tables, and what start-up tests print.

    # OSU MPI Bandwidth Test v5.7.1
    # Size      Bandwidth (MB/s)
    1                       0.19
    2                       0.38

    # OSU MPI Allreduce Latency Test v7.4
    # Datatype: MPI_CHAR.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    4                   12732.90          11346.69          14011.40          50

The title alone tells which test it is (`_osu_tests.py`), the heads which columns it has (`_osu_columns.py`).
osu_bw_fan_in and osu_bw_fan_out print the title of osu_bw: the command line tells them apart where the log has it. No
line says that a table is at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown, whole
from fabriscope.readers import _osu_checks as checks
from fabriscope.readers import _rows
from fabriscope.readers._osu_columns import BANDWIDTH, RATE, SIZE, START_UP, VALIDATION, Head, heads, is_heads, varied
from fabriscope.readers._osu_tests import TITLE, VERSION, Test, terms_of, test_of
from fabriscope.readers._tables import is_number, is_row, printed
from fabriscope.readers.base import Draft, Parameter, Reader, TableDraft

_TITLE_LINE = re.compile(rf"[^#\w]*#+\s*{TITLE.pattern}", re.IGNORECASE)
_SIZES = re.compile(r"(?:Message )?Size\b", re.IGNORECASE)
_BUFFERS = re.compile(
    r"(?:Send Buffer|Rank 0 Memory) on (?P<source>.+?) and (?:Receive Buffer|Rank 1 Memory) on (?P<target>.+)"
)
_PAIRS = re.compile(r"\[ pairs: (?P<pairs>\d+) \] \[ window size: (?P<window>\d+|varied) \]")
_SAID = re.compile(
    r"(?P<what>Window creation|Synchronization|Datatype|Number of (?:Sender|Receiver) threads"
    r"|Number of forked processes in (?:sender|receiver)):\s*(?P<value>.+?)\.?\s*"
)
_INIT = re.compile(
    r"nprocs:\s*(?P<count>\d+),\s*min:\s*(?P<min>\S+) ms,\s*max:\s*(?P<max>\S+) ms,\s*avg:\s*(?P<avg>\S+) ms"
)
_HELLO = re.compile(r"This is a test with (?P<count>\d+) process(?:es)?")
_FAN = re.compile(r"\bosu_bw_fan_(?P<way>in|out)\b")
_ANY_TEST = Test("a test", "unknown")
_NUMBERS = re.compile(r"[0-9]+(?:[ \t]+[0-9]+(?:\.[0-9]+)?)*")
_VALUE = re.compile(r"\d+\.\d\d")


@dataclass
class _State:
    """What of a log is being read."""

    draft: Draft
    test: Test | None = None
    version: str | None = None
    title: str = ""
    title_line: int = 0
    said: list[Parameter] = field(default_factory=list)
    said_before: list[Parameter] = field(default_factory=list)
    """Of the test whose title is to come."""
    heads: tuple[Head, ...] = ()
    table: TableDraft | None = None
    windows: tuple[int, ...] = ()
    fan: str = ""
    odd: str = ""
    """The first line of a table that begins as a row and is none."""
    versions: set[str] = field(default_factory=set)

    def say(self, name: str, value: str | int) -> None:
        if name.startswith("number_of_") and (self.test is None or self.table is not None):
            self.said_before.append(Parameter(name, value))
            return
        self.said = [*(one for one in self.said if one.name != name), Parameter(name, value)]
        if self.table is not None:
            self.table.parameters = [*(one for one in self.table.parameters if one.name != name), self.said[-1]]


def _fill(draft: Draft) -> None:
    state = _State(draft)
    for raw in draft.lines():
        line = raw.strip().strip("\u2502|").strip()
        if state.test is not None and _NUMBERS.fullmatch(line):  # says nothing else
            _take_numbers(state, state.test, line)
        else:
            _take(state, line)
    _take_last(state)
    _close(state)
    checks.check_ends(draft)
    versions = sorted(state.versions)
    draft.version = ", ".join(versions) or None


def _take(state: _State, line: str) -> None:
    if title := _TITLE_LINE.match(line):
        _begin(state, title)
        return
    if fan := _FAN.search(line):
        state.fan = fan["way"]
    if complaint := checks.complaint(line):
        state.draft.problem(complaint, "said")
    if state.test is None or not line:
        if not _take_said(state, line.lstrip("# ")) and _is_of_table(line):
            state.draft.problem(f"a table stands under no title: {shown(' '.join(line.split()))}", "cut")
    else:
        _take_line(state, state.test, line)


def _is_of_table(line: str) -> bool:
    """Return whether a line is the heads of a table, of whichever test, or the result of a start-up test."""
    text = line.lstrip("# ")
    is_heads_line = ("(us)" in text or "MB/s" in text) and is_heads(text, _ANY_TEST)
    return is_heads_line or _INIT.fullmatch(text) is not None or _HELLO.fullmatch(text) is not None


def _take_last(state: _State) -> None:
    """Read a last line without its end where it has all columns and both decimals of the last: it lacks no digit."""
    last = state.draft.problems[-1] if state.draft.problems else None
    if last is None or last.kind != "cut" or last.line != state.draft.line or state.table is None or state.windows:
        return
    line = state.draft.text.splitlines()[-1].strip()
    words = line.split()
    if len(words) == len(state.heads) and words and _VALUE.fullmatch(words[-1]):
        state.draft.problems.pop()
        _take(state, line)


def _begin(state: _State, title: re.Match[str]) -> None:
    words = " ".join(title[0].lstrip("# ").split())
    if state.test is not None and not (state.table is None and state.title == words):
        _close(state)
        state.said = []
    state.said, state.said_before = [*state.said, *state.said_before], []
    test = test_of(title)
    if test.name == "osu_bw" and state.fan:
        test = test_of(re.match(TITLE, f"OSU MPI Fan {state.fan.capitalize()} Bandwidth Test") or title)
    state.fan = ""
    state.test, state.table, state.heads, state.windows, state.odd = test, None, (), (), ""
    state.title, state.title_line = words, state.draft.line
    version = VERSION.match(title["version"])
    if version:
        state.versions.add(version["version"])
    state.say("title", words)
    if version:
        state.say("version", version["version"])
    if title["suite"].upper() != "OSU":
        state.say("suite", "OMB-Py")
    if title["buffers"]:
        state.say("buffers", title["buffers"].upper())


def _close(state: _State) -> None:
    if state.test is None:
        return
    if state.table is None or not state.table.rows:
        line = state.table.line if state.table is not None else state.title_line
        odd = f" that can be read: {shown(state.odd)}" if state.odd else ""
        state.draft.problem(f"{state.test.name} has no row{odd}", "cut", line)
    state.test = state.table = None


def _take_line(state: _State, test: Test, line: str) -> None:
    """Read a line of a test."""
    text = line.lstrip("# ").strip()
    words = text.split()
    if _take_said(state, text) or _take_start_up(state, test, text):
        return
    is_size = _SIZES.match(text) is not None and (line.startswith("#") or is_heads(text, test))
    if is_size or (not is_number(words[0] if words else "") and is_heads(text, test)):
        _new_table(state, test, heads(text, test))
    elif line.startswith("#"):
        _take_windows(state, test, text, words)
    elif (state.heads and state.table is not None) or all(map(is_number, words)):
        _take_numbers(state, test, line)


def _take_numbers(state: _State, test: Test, line: str) -> None:
    """Read a line of numbers alone."""
    words = line.split()
    if state.heads and state.table is not None:
        row = _varied_row if state.windows else _row
        row(state, test, state.table, words)
    elif len(words) > 1:
        raise ParseError(f"{test.name} has numbers before any heading of its columns: {shown(line)}")


def _take_said(state: _State, text: str) -> bool:
    if said := _SAID.fullmatch(text):
        name = said["what"].lower().replace(" ", "_")
        value = said["value"]
        state.say(name, int(value) if value.isdecimal() and len(value) < 10 else value)
    elif pairs := _PAIRS.search(text):
        state.say("pair_count", whole(pairs["pairs"], "the number of pairs", ""))
        window = pairs["window"]
        state.say("window_size", window if window == "varied" else whole(window, "the window size", ""))
    elif buffers := _BUFFERS.fullmatch(text):
        state.say("source_buffer", buffers["source"])
        state.say("target_buffer", buffers["target"])
    else:
        return False
    return True


def _take_start_up(state: _State, test: Test, text: str) -> bool:
    if init := _INIT.fullmatch(text):
        columns, words = list(START_UP), list(init.groups())
    elif hello := _HELLO.fullmatch(text):
        columns, words = list(START_UP[:1]), [hello["count"]]
    else:
        return False
    if ("Init" not in state.title and len(words) > 1) or ("Hello" not in state.title and len(words) == 1):
        raise ParseError(f"{state.title!r} stands over the result of another test: {shown(text)}")
    if state.table is not None and state.table.rows:
        raise ParseError(f"the result of {test.name} stands twice, in line {state.table.rows[-1][0]} too")
    state.test = replace(test, name="osu_init" if len(words) > 1 else "osu_hello")
    state.table = state.draft.table(state.test.name, columns)
    state.table.parameters = list(state.said)
    row = printed(columns, words)
    if len(words) > 1 and not float(row["min"]) <= float(row["avg"]) <= float(row["max"]):
        raise ParseError(f"{test.name} has a mean of {row['avg']} ms between {row['min']} and {row['max']} ms")
    state.draft.row(row)
    return True


def _new_table(state: _State, test: Test, found: tuple[Head, ...]) -> None:
    """Begin a table; a second one under the same title may be of other hosts, or of a test whose title is lost."""
    if state.table is not None and state.table.rows:
        says = f"a second table stands under the title of line {state.title_line}: of which test it is nobody says"
        state.draft.problem(says, "said")
    elif state.table is not None:
        state.draft.tables.pop()  # it is the last: nothing else begins one
    state.heads, state.windows, state.odd = found, (), ""
    state.table = state.draft.table(test.name, [head.column for head in found])
    state.table.parameters = list(state.said)


def _take_windows(state: _State, test: Test, text: str, words: Sequence[str]) -> None:
    """Begin a table over sizes and windows where a line after a `varied` window has their numbers."""
    if text.startswith("Message Rate Profile"):
        state.heads = varied(test, RATE)
    elif text.startswith("Uni-directional Bandwidth (MB/sec)"):
        state.heads = varied(test, BANDWIDTH)
    elif words and state.heads[1:2] and state.heads[1].column.name == "window_size" and all(map(str.isdecimal, words)):
        found = state.heads
        if state.table is not None and state.table.columns != tuple(head.column for head in found):
            state.table = None
        _new_table(state, test, found)
        state.windows = tuple(whole(word, "a window size", "") for word in words)


def _row(state: _State, test: Test, table: TableDraft, words: list[str]) -> None:
    """Read a row; pass by a line of another program, and what is left of a row."""
    columns = [head.column for head in state.heads]
    is_first = words[:1] and (is_number(words[0]) if state.heads[0].column.kind != "word" else len(words) > 1)
    is_damaged = len(words) > 1 and words[1][:1].isdigit() and not is_number(words[1])  # others' words behind a number
    if not is_first or len(words) != len(columns) or is_damaged:
        state.odd = state.odd or (" ".join(words) if words and words[0].isdecimal() else "")
        return
    if state.heads[0].key == SIZE and not words[0].isdecimal():
        if is_row(words):
            raise ParseError(f"{test.name} has a size of {shown(words[0])}")
        return
    if len(words) > 1 and not any(map(is_number, words[1:])) and not _may_be_no_number(words[1]):
        return
    row = printed(columns, words)
    checks.check_row(test, table, state.heads, words)
    if any(head.key == VALIDATION and row[head.column.head] in checks.WRONG for head in state.heads):
        state.draft.problem(f"{words[0]} B of {test.name} did not arrive whole", "said")
    state.draft.row(row)


def _may_be_no_number(word: str) -> bool:
    return word.lower().lstrip("-") in ("nan", "inf")


def _varied_row(state: _State, test: Test, table: TableDraft, words: list[str]) -> None:
    if not words or not words[0].isdecimal() or len(words) != len(state.windows) + 1:
        return
    columns = [head.column for head in state.heads]
    for place, (window, word) in enumerate(zip(state.windows, words[1:], strict=True)):
        row = printed(columns, [words[0], str(window), word])
        if not place:
            checks.check_growing(test, table, int(row[columns[0].head]))
        state.draft.row(row)


_SIGNATURE = re.compile(
    r"^[^#\w\n]*#+[ \t]*(?:OSU|OMB[- ]Py(?:thon)?)[ \t]+(?:One Sided[ \t]+)?(?:MPI|[NRX]CCL|OpenSHMEM|UPC)"
    r"[^\n]*\bTest\b",
    re.IGNORECASE | re.MULTILINE,
)
RIGHT = checks.RIGHT
"""What the column of a validation says where the data arrived whole."""
_MARKS = ("OSU", "OMB", "osu", "omb", "Osu", "Omb")
_AMONG = _rows.Among(re.compile(r"[^#\w]*#|\[ pairs:"), _rows.BEGINS_WITH_NUMBER, _rows.doubling)
READER = Reader("osu", "OSU micro-benchmarks, OMB-Py", _SIGNATURE, _fill, terms_of, _MARKS, among=_AMONG)
