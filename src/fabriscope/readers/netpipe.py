"""NetPIPE 3 to 5: NPtcp, NPopenmpi, NPmpich2; one sweep over the sizes, on the terminal or in a file `.np`.

The sender writes to standard error, one line a size:

    Send and receive buffers are 16384 and 131072 bytes
    (A bug in Linux doubles the requested buffer sizes)
    Now starting the main loop
      0:       1 bytes  21503 times -->      1.43 Mbps in       5.33 usec
      1:       2 bytes  18745 times -->      1.31 Mbps in      11.62 usec

Each size is tried three times over many round trips; the time is half of a round trip, the least of the three means.
A "Mbps" is 2^20 bits per second, of the same ping-pong. The finer of the two columns gives both of our values.

NetPIPE 5 prints means in decimal units that change from row to row, in colours:

      1:       1  B     24999 times -->    4.022 Mbps  in    1.989 usecs

Its rate is that of all pairs and directions, a whole number of times that of one message in the time.
Files `.np` have size, rate and time alone: `1 1.430184 0.00000533`, or with 5 size, three rates in Gbps, and usecs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown, whole
from fabriscope.model.rounding import Span, exactly, span
from fabriscope.readers import _marks, _netpipe_sizes, _rows
from fabriscope.readers._tables import finer
from fabriscope.readers.base import Column, Draft, Reader, TableDraft, printed_row
from fabriscope.readers.terms import SAME_BUFFER, Terms

BITS_PER_MBPS = 1 << 20

COLUMNS = (
    Column("bytes", "message_size_bytes", "size", "bytes", "of a message", kind="whole"),
    Column("times", "round_trips_per_trial", "round trips", "", "of each of the three trials", kind="whole"),
    Column(
        "Mbps", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s",
        "message size over that time", BITS_PER_MBPS / 8,
    ),
    Column("usec", "latency_ns", "latency", "ns", "half of a round trip, the least of the means of three trials", 1e3),
)  # fmt: skip
_ROW = re.compile(r"\s*(\d+):\s+(\d+) bytes\s+(\d+) times -->\s+(\S+) Mbps in\s+(\S+) (usec|sec)\s*")
_ROW_START = re.compile(r"\s*\d+:\s+(?P<size>\d+) bytes")
_BUFFERS = re.compile(r"Send and receive buffers are (?P<send>\d+) and (?P<receive>\d+) bytes")


_BEGINS = re.compile(r"Now starting (?:the )?main loop")
_OLDER = "ping-pong in seconds"
"""The table of versions 2, and of those that MPICH had; how many trials these make, nobody says."""


def _us_of(unit: str, table: TableDraft) -> float:
    """Return the microseconds of a time's unit; a table in seconds is named as that of an older version."""
    if unit != "sec":
        return 1.0
    if table.name != _OLDER:
        least = "half of a round trip, the least of the means of the trials"
        *others, time = COLUMNS
        table.name, table.columns = _OLDER, (*others, replace(time, definition=least, unit_in_text="s"))
    return 1e6


def _broken(line: str, size: str) -> str:
    """Return what is wrong with a row that is none of NetPIPE's: it stops there, or says something else."""
    if not re.search(r"-->\s*[\d.]", line):
        return f"it died in {size}"
    return f"the row of {size} is not whole, or in units that are not known: {shown(line.strip())}"


def _fill(draft: Draft) -> None:
    if _FILE_3.match(draft.text) or _FILE_5.match(draft.text):
        _file(draft, is_5=not _FILE_3.match(draft.text))
        return
    if _marks.has(draft.text, _ROW_5, ("-->",)):
        _fill_5(draft)
        return
    table = draft.table("ping-pong", COLUMNS)
    size_before, begun = -1, 0
    for line in draft.lines():
        if _BEGINS.match(line):
            if begun and not table.rows:
                draft.problem(f"the sweep of line {begun} has no row: another one begins here", "cut")
            begun = draft.line
        if buffers := _BUFFERS.match(line):
            for end in ("send", "receive"):
                draft.parameter(f"{end}_buffer_bytes", whole(buffers[end], f"the {end} buffer", ""), "bytes")
        elif row := _ROW.fullmatch(line):
            place, *words, unit = row.groups()
            printed = printed_row(COLUMNS, words)
            us = _us_of(unit, table)
            size, time_us, rate = int(printed["bytes"]), float(printed["usec"]) * us, float(printed["Mbps"])
            if whole(place, "the row", "") != len(table.rows) or size <= size_before:
                before = f"row {len(table.rows) - 1} of {size_before} B" if table.rows else "the first row"
                raise ParseError(f"row {place} of {size} B stands after {before}")
            size_before = size
            if not (exactly(size * 8e6 / BITS_PER_MBPS) / (span(words[3]) * us)).meets(span(words[2])):
                raise ParseError(f"{size} B in {time_us} usec are not {rate} Mbps of 2^20 bits per second")
            if not printed["times"]:
                raise ParseError(f"{size} B went to and fro 0 times")
            steps = 10.0 ** (len(words[3].partition(".")[2]) - 2) / us  # finer looks at numbers of two decimals
            time_us, rate, is_by_rate = finer(time_us * steps, rate, size * 8e6 / BITS_PER_MBPS * steps)
            time_us /= steps
            derived = COLUMNS[3 if is_by_rate else 2].name
            draft.row(printed | {"usec": time_us, "Mbps": rate}, derived=derived)
        elif start := _ROW_START.match(line):
            draft.problem(_broken(line, f"{start['size'][:20]} B"), "cut")
            break
    _check_sizes(draft, table)


def _check_sizes(draft: Draft, table: TableDraft) -> None:
    """Raise ParseError for the row of a size that the sweep does not visit."""
    if strange := _netpipe_sizes.stranger([int(row["message_size_bytes"]) for _, row in table.rows]):
        place, what = strange
        draft.line = table.lines[place]
        raise ParseError(what)


_SIZE_5 = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9}
_RATE_5 = {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
_NS_5 = {"nsecs": 1.0, "usecs": 1e3, "msecs": 1e6, "secs": 1e9}
_ROW_5 = re.compile(
    r"^[ \t]*(\d+): +(\S+) +([KMG]?B) +(\d+) times +--> +(\S+) +([KMGT]?bps) +in +(\S+) +([num]?secs)\b(.*)$",
    re.MULTILINE,
)
_ROW_5_START = re.compile(r"[ \t]*(\d{1,9}): +([\d.]+) +([KMG]?B) +\d+ times +-->")
_ALL_TIMES = "half of a round trip, the mean over the trials and all pairs"
COLUMNS_5 = (
    COLUMNS[0],
    Column("times", "round_trips_per_trial", "round trips", "", "of each trial", kind="whole"),
    Column(
        "bps", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "of all pairs and directions", 1 / 8,
        unit_in_text="bit/s with prefixes of powers of 10^3",
    ),
    Column("ns", "latency_ns", "latency", "ns", _ALL_TIMES, unit_in_text="nsecs to secs"),
)  # fmt: skip
_FILE_3 = re.compile(
    r"\A\s{0,99}(?:[ \t]{0,99}\d{1,12}\s{1,99}\d{1,15}\.\d{4,9}\s{1,99}\d{1,15}\.\d{6,12}[ \t]{0,99}(?:\r?\n|\Z)){2}"
)
_FILE_5 = re.compile(
    r"\A\s{0,99}(?:[ \t]{0,99}\d{1,12}(?:[ \t]{1,99}\d{1,15}\.\d{3}){3}"
    r"[ \t]{1,99}\d{1,15}\.\d\d[ \t]{0,99}(?:\r?\n|\Z)){2}"
)
_TOLERANCE = 0.001


def _fill_5(draft: Draft) -> None:
    """Read the rows of NetPIPE 5."""
    size_before = count = last = 0
    draft.table("ping-pong", COLUMNS_5)
    for line in draft.lines():
        if row := _ROW_5.match(line):
            place, word, size_unit, times, rate, rate_unit, time, time_unit, rest = row.groups()
            size = round(float(COLUMNS[3].printed(word)) * _SIZE_5[size_unit])
            number_of_row = whole(place, "the row", "")
            if number_of_row not in ((0, 1) if not count else (last + 1,)) or size <= size_before:
                raise ParseError(f"row {place} of {size} B stands after {count} rows and {size_before} B")
            size_before, count, last = size, count + 1, number_of_row
            bps_value, ns_value = float(COLUMNS_5[2].printed(rate)), float(COLUMNS_5[3].printed(time))
            one = span(word) * _SIZE_5[size_unit] * 8e9 / (span(time) * _NS_5[time_unit])
            what = f"{word} {size_unit} in {time} {time_unit}"
            _check_multiple(one, span(rate) * _RATE_5[rate_unit], what, f"{rate} {rate_unit}")
            values = {"bps": bps_value * _RATE_5[rate_unit], "ns": ns_value * _NS_5[time_unit]}
            draft.row({"bytes": size, "times": whole(times, "times", ""), **values})
            if "failures" in rest:
                draft.problem(f"NetPIPE says:{rest}", "said")
        elif start := _ROW_5_START.match(line):
            draft.problem(_broken(line, f"{start[2]} {start[3]}"), "cut")
            break


def _check_multiple(one: Span, rate: Span, what: str, printed: str) -> None:
    """Raise ParseError where a rate is not a whole number of times that of one message."""
    count = max(1, round(rate.most / one.most)) if one.most > 0 else 1
    if not (one * count).meets(rate, _TOLERANCE):
        raise ParseError(f"{what} are not {printed}")


def _file(draft: Draft, *, is_5: bool) -> None:
    """Read a file of results; without the unit in it, time, size and rate must agree in the version's."""
    columns = (COLUMNS_5[0], *COLUMNS_5[2:]) if is_5 else (COLUMNS[0], *COLUMNS[2:])
    draft.table("ping-pong", columns)
    size_before = 0
    for line in draft.lines():
        words = line.split()
        if not words:
            continue
        if len(words) < (5 if is_5 else 3):
            raise ParseError(f"a row of {len(words)} columns is too short")
        size = whole(words[0], "the size", "")
        if size <= size_before:
            raise ParseError(f"a row of {size} B stands after one of {size_before} B")
        size_before, time = size, words[4 if is_5 else 2]
        rate, seconds = (float(columns[1].printed(word)) for word in (words[1], time))
        if is_5:
            _check_multiple(
                span(words[0]) * 8e-3 / span(time), span(words[1]), f"{size} B in {time} usecs", f"{words[1]} Gbps"
            )
            draft.row({"bytes": size, "bps": rate * 1e9, "ns": seconds * 1e3})
        else:
            if not (exactly(size * 8 / BITS_PER_MBPS) / span(time)).meets(span(words[1]), _TOLERANCE):
                raise ParseError(f"{size} B in {time} s are not {words[1]} Mbps of 2^20 bits per second")
            draft.row({"bytes": size, "Mbps": rate, "usec": seconds * 1e6})


_BASES = tuple(sorted(base << power for base in (2, 3) for power in range(3, 32)))
_SIZES = (1, 2, 3, 4, 6, 8, 12, *(base + by for base in _BASES for by in (-3, 0, 3)))
"""Which a sweep has without options: powers of 2, those and a half, and three bytes less and more."""


def _missing(table: _rows.Rows, _text: str) -> Iterator[_rows.Wrong]:
    """Yield where a size of a sweep without options is missing; rows of other sweeps have numbers."""
    sizes = [int(float(values[_rows.SIZE])) for _, values in table.rows]
    if not any(base - 3 in sizes for base in _BASES) or not set(sizes) <= set(_SIZES):
        return
    for (line, _), less, more in zip(table.rows[1:], sizes, sizes[1:], strict=False):
        if (after := _SIZES[_SIZES.index(less) + 1]) < more:
            yield line, f"{table.name} has no row of {after} B between {less} and {more} B"


def _terms(_table: str) -> Terms:
    return Terms(
        "all round trips of a trial together, by the transmitter's clock",
        f"{SAME_BUFFER}; with -I they move through memory",
    )


_SIGNATURE = re.compile(
    r"^Now starting (?:the )?main loop|^[ \t]{0,20}\d{1,9}: {1,20}\S{1,20} {1,9}(?:bytes|[KMG]?B) .{1,20} times +-->"
    rf"|{_FILE_3.pattern}|{_FILE_5.pattern}",
    re.MULTILINE,
)
READER = Reader(
    "netpipe",
    "NPtcp, NPopenmpi, NPmpich2, files .np",
    _SIGNATURE,
    _fill,
    _terms,
    ("Now starting", "-->"),
    among=_rows.Among(re.compile(r"Now starting"), re.compile(r"\s*\d+(?::\s+\d|[\d.]*\s*$|\s+\d)"), _missing),
)
