"""Intel MPI Benchmarks 2018 to 2021: the tables of IMB-MPI1, IMB-NBC, IMB-RMA and IMB-P2P.

    #    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
    # Benchmarking PingPong
    # #processes = 2
           #bytes #repetitions      t[usec]   Mbytes/sec
               64       129495         3.51        18.25
    # Benchmarking Allreduce
    # #processes = 4
           #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
               64          100         0.65        60.77        42.41

A megabyte is 10^6 bytes, before 2018 2^20; of time and rate, which both have two decimals, the finer gives both.
IMB-RMA says in which mode a test runs (`#    MODE: NON-AGGREGATE`): that is part of the table's name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from fabriscope.model.errors import ParseError
from fabriscope.model.rounding import Span, exactly, span
from fabriscope.readers import _rows
from fabriscope.readers._imb_units import FIRST_DECIMAL, datatypes_of, megabyte_of, year_of
from fabriscope.readers._tables import finer, is_row
from fabriscope.readers.base import Column, Draft, Parameter, Reader, TableDraft, Value, printed_row
from fabriscope.readers.terms import BOTH_WAYS, ONE_WAY, TWO_BUFFERS, Terms

SIZE, REPETITIONS, RATE, TIME = "#bytes", "#repetitions", "Mbytes/sec", "t[usec]"
GROUP = "Group"
MOST_TIME, MESSAGE_RATE, OVERLAP = "t_max[usec]", "Msg/sec", "overlap[%]"
OVERLAP_STEP = 1.0
"""Percent by which an overlap may differ from what the times beside it come to."""
LAST_LINE = "All processes entering MPI_Finalize"

STEP_US = 0.01
"""Of printed times."""
_RANKS = "of the ranks' means over their operations"
COLUMNS = {
    column.head: column
    for column in (
        Column(GROUP, "group", "group", "", "of processes that run at once with others (-multi 1)", kind="whole"),
        Column(SIZE, "message_size_bytes", "size", "bytes", "of a message, or of a rank's share", kind="whole"),
        Column(REPETITIONS, "repetition_count", "repetitions", "", "operations that were timed", kind="whole"),
        Column(
            TIME, "time_ns", "time", "ns",
            "of one operation, the mean over the repetitions; of PingPong and PingPing half of a round trip", 1e3,
        ),
        Column(RATE, "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes of an operation over its time", 1e6),
        Column(MESSAGE_RATE, "message_rate_per_s", "message rate", "per_s", "messages of all windows over their time"),
        Column("t_min[usec]", "time_ns_least_rank_mean", "least time", "ns", f"the least {_RANKS}", 1e3),
        Column(MOST_TIME, "time_ns_most_rank_mean", "most time", "ns", f"the most {_RANKS}", 1e3),
        Column("t_avg[usec]", "time_ns_mean", "mean time", "ns", f"the mean {_RANKS}", 1e3),
        Column("t_ovrl[usec]", "time_ns_overlapped", "with computing", "ns", "the operation while computing", 1e3),
        Column("t_pure[usec]", "time_ns_pure", "alone", "ns", "the operation alone", 1e3),
        Column("t_CPU[usec]", "compute_ns", "computing", "ns", "the computation alone", 1e3),
        Column(OVERLAP, "overlap_percent", "overlap", "percent", "share of the operation hidden by computing"),
    )
}  # fmt: skip
_MESSAGES = {"Sendrecv": 2, "Exchange": 4}
"""Test to the messages of an operation, all of whose bytes over `t_max` are its rate."""
_VERSION = re.compile(r"Intel ?\(R\) MPI Benchmarks?(?: Suite V| )(?P<version>\d[\w.]*(?: Update \d+)?)")
_HEAD = re.compile(r"# Benchmarking (?P<test>[\w-]+)\s*")
_MODE = re.compile(r"#\s+MODE: (?P<mode>[A-Z-]+)\s*")
_LEAST_LENGTH = re.compile(r"^[ ]{0,40}# Minimum message length in bytes:\s{1,9}(\d{1,12})\s*$", re.MULTILINE)
_MOST_LENGTH = re.compile(r"^[ ]{0,40}# Maximum message length in bytes:\s{1,9}(\d{1,12})\s*$", re.MULTILINE)
_CALLED = re.compile(r"^[ ]{0,40}# Calling sequence was:\s{1,40}((?:[ ]{0,40}#.{0,500}\n){1,9})", re.MULTILINE)
_LOG = re.compile(r"-msglog[ =](?:(\d{1,2}):)?\d")
"""The power of 2 that is the least size behind 0."""
_CHOOSES = re.compile(r"-(?:msglen|msgsize|input|data_type|red_data_type|contig_type)\b")
_OPTIONS = ("-window_size", "-sync", "-root_shift", "-off_cache")
_OFF = ("off", "0", "no", "disable")
_EXT = re.compile(r"Benchmarks?[^\n]{0,40}, MPI-(?:2|EXT) part|IMB-EXT\b")
"""Whose shortest message behind none is a float, of all its tests."""
_REDUCES = re.compile("[Rr]educe|Accumulate|Get_accumulate")
_PROCESSES = re.compile(r"# #processes = (\d{1,9})(?:; rank order \(rowwise\):)?\s*")
_NEARLY = re.compile(r"[-+]?\d|[-+]?(?:nan|inf)", re.IGNORECASE)
"""Begins a row that is none: one with such a size is refused."""
_GROUPS = re.compile(r"# \( (\d{1,9}) groups of (\d{1,9}) processes each running simultaneous \)\s*")
_MEMBERS = re.compile(r"# Group {1,9}\d{1,9}: {1,9}(\d{1,9}(?: {1,9}\d{1,9})*)\s*")
"""The ranks of a group, of which the first line names all where they are few."""


def _fill(draft: Draft) -> None:
    version = _VERSION.search(draft.text)
    draft.version = version["version"] if version else None
    table: TableDraft | None = None
    first_lines: dict[tuple[int, Value, Value], int] = {}
    begun, untitled = 0, False
    for name, value in (*_told(draft.text, draft.version), *datatypes_of(draft.text)):
        draft.parameter(name, value)
    megabyte = megabyte_of(draft.text, draft.version)
    for line in draft.lines():
        words = line.split()
        if _VERSION.search(line):
            if begun:
                draft.problem(f"the log of line {begun} ends before {LAST_LINE!r}: another one begins here", "cut")
            begun, table = draft.line, None
        elif LAST_LINE in line:
            begun = 0
        elif head := _HEAD.fullmatch(line.strip()):
            table = draft.table(head["test"])
        elif table is None:
            if not untitled and (words[:2] == [SIZE, REPETITIONS] or (begun and is_row(words))):
                untitled = True
                draft.problem("rows of an IMB table stand under no '# Benchmarking'", "cut")
        elif _take_head(table, line.strip()):
            continue
        elif words[:1] in ([SIZE], [REPETITIONS], [GROUP]):
            table.columns = _columns(table, words, megabyte)
        elif words[:1] == ["="]:
            continue  # MPICH's frame around what it says of a job that did not end well
        elif table.columns and words and not words[0].startswith("#"):
            _row(draft, table, words, first_lines)
    for empty in (table for table in draft.tables if table.columns and not table.rows):
        draft.problem(f"{empty.name} has no row", "cut", empty.line)
    with_mode = {table.name.split()[0] for table in draft.tables if " " in table.name}
    for without in (table for table in draft.tables if table.name in with_mode):
        draft.problem(f"{without.name} says no mode, and another table of it does", "cut", without.line)
    if begun or LAST_LINE not in draft.text:
        draft.problem(f"the log ends before {LAST_LINE!r}", "cut")


def _take_head(table: TableDraft, line: str) -> bool:
    """Take what a line says of a test before its rows; return whether it says anything of it."""
    if mode := _MODE.fullmatch(line):
        if table.columns:
            raise ParseError(f"{table.name} is followed by another mode, {mode['mode']}, under no head of its own")
        table.name = f"{table.name.split()[0]} {mode['mode']}"
    elif processes := _PROCESSES.fullmatch(line):
        table.parameters.append(Parameter("process_count", int(processes[1])))
    elif groups := _GROUPS.fullmatch(line):
        table.parameters.append(Parameter("group_count", int(groups[1])))
        table.parameters.append(Parameter("process_count", int(groups[2])))
    elif (members := _MEMBERS.fullmatch(line)) and not table.columns:
        _add_members(table, members[1])
    else:
        return False
    return True


def _add_members(table: TableDraft, words: str) -> None:
    """Note the ranks of one more group."""
    before = next((one for one in table.parameters if one.name == "groups"), None)
    said = " ".join(words.split())
    table.parameters = [one for one in table.parameters if one is not before]
    table.parameters.append(Parameter("groups", f"{before.value}; {said}" if before else said))


def _told(text: str, version: str | None) -> Iterator[tuple[str, Value]]:
    """Yield the options that decide on a definition, where one calling sequence stands in the log."""
    called = _CALLED.findall(text)
    words = called[0].replace("=", " ").split() if len(called) == 1 else []
    options = {word: value.lower() for word, value in pairwise(words) if word in _OPTIONS}
    if (window := options.get("-window_size", "")).isdecimal() and len(window) < 10:
        yield "window_size", int(window)
    year = year_of(version)
    if words and year is not None and year >= FIRST_DECIMAL:
        yield "sync", "off" if options.get("-sync") in _OFF else "on"
    for option in ("-root_shift", "-off_cache"):
        if option in options:
            yield option[1:], options[option]


def _columns(table: TableDraft, words: list[str], megabyte: float) -> tuple[Column, ...]:
    if table.columns or not set(words) <= set(COLUMNS) or len(set(words)) < len(words):
        raise ParseError(f"{table.name} has the columns {' '.join(words)}")
    known = COLUMNS | {RATE: replace(COLUMNS[RATE], factor=megabyte)}
    return tuple(known[word] for word in words)


def _row(draft: Draft, table: TableDraft, words: list[str], first_lines: dict[tuple[int, Value, Value], int]) -> None:
    if len(words) != len(table.columns) or not (is_row(words) or _NEARLY.match(words[0])):
        return  # "time-out", a death in the middle of a row, or what the MPI library says in between
    printed = printed_row(table.columns, words)
    size, group = printed.get(SIZE, 0), printed.get(GROUP, 0)
    first = first_lines.setdefault((len(draft.tables), size, group), draft.line)
    if first != draft.line:
        raise ParseError(f"{table.name} of {size} B stands in line {first} already")
    if not printed.get(REPETITIONS, 1):
        raise ParseError(f"{table.name} of {size} B is the mean of no repetition")
    spans = {column.head: span(word) for column, word in zip(table.columns, words, strict=True)}
    _check_order(table, spans, printed)
    megabyte = next((column.factor for column in table.columns if column.head == RATE), 1e6)
    _check_rate(table.name, int(size), spans, printed, megabyte)
    _check_overlap(table.name, spans, printed)
    derived = ""
    if TIME in printed and RATE in printed:
        time_us, rate, is_by_rate = finer(float(printed[TIME]), float(printed[RATE]), float(size) * 1e6 / megabyte)
        printed |= {TIME: time_us, RATE: rate}
        derived = COLUMNS[TIME if is_by_rate else RATE].name
    draft.row(printed, derived=derived)


def _check_order(table: TableDraft, spans: Mapping[str, Span], printed: Mapping[str, Value]) -> None:
    """Raise ParseError where the mean of the ranks cannot be that of ranks with that least and that most."""
    heads = ("t_min[usec]", "t_avg[usec]", MOST_TIME)
    if any(head not in spans for head in heads):
        return
    least, mean, most = (spans[head] for head in heads)
    said = {one.name: int(one.value) for one in table.parameters if one.name in ("process_count", "group_count")}
    groups = 1 if GROUP in spans else said.get("group_count", 1)  # a row is of one of them, or of all
    count = groups * said.get("process_count", 0)
    lowest, highest = least, most
    if count > 1:  # one of them had the least and another one the most
        others = count - 1
        lowest, highest = (
            Span((few.least * others + one.least) / count, (few.most * others + one.most) / count)
            for few, one in ((least, most), (most, least))
        )
    least_us, mean_us, most_us = (float(printed[head]) for head in heads)
    is_ordered = least_us <= mean_us + STEP_US <= most_us + 2 * STEP_US  # 1e99 may stand for nothing, and is none
    if not is_ordered or lowest.exceeds(mean) or mean.exceeds(highest) or least.exceeds(most):
        of = f" of {count} ranks" if count else ""
        raise ParseError(f"{table.name} has a mean of {mean_us} usec between {least_us} and {most_us} usec{of}")


def _check_rate(name: str, size: int, spans: Mapping[str, Span], printed: Mapping[str, Value], megabyte: float) -> None:
    """Raise ParseError where a rate is not what the time, or the messages, of its row come to."""
    if RATE not in spans:
        return
    count, moved = _MESSAGES.get(name), exactly(size * 1e6 / megabyte)
    if MESSAGE_RATE in spans and not (moved * spans[MESSAGE_RATE] * 1e-6).meets(spans[RATE]):
        what = f"{printed[MESSAGE_RATE]} messages of {size} B a second"
    elif TIME in spans and not (moved / spans[TIME]).meets(spans[RATE]):
        what = f"{size} B in {printed[TIME]} usec"
    elif count is not None and MOST_TIME in spans and not (moved * count / spans[MOST_TIME]).meets(spans[RATE]):
        what = f"{count} messages of {size} B in {printed[MOST_TIME]} usec"
    else:
        return
    raise ParseError(f"{what} are not {printed[RATE]} Mbytes/sec of {'10^6' if megabyte == 1e6 else '2^20'} bytes")


def _check_overlap(name: str, spans: Mapping[str, Span], printed: Mapping[str, Value]) -> None:
    """Raise ParseError where an overlap is not what its times say: (pure + CPU - ovrl) over the larger of both."""
    heads = ("t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]")
    if not {OVERLAP, *heads} <= set(spans):
        return
    together, alone, computing = (spans[head] for head in heads)
    longer = Span(max(alone.least, computing.least), max(alone.most, computing.most))
    hidden = Span(
        max(alone.least + computing.least - together.most, 0.0), max(alone.most + computing.most - together.least, 0.0)
    )
    share = hidden / longer * 100
    if not Span(min(share.least, 100.0), min(share.most, 100.0)).widened(OVERLAP_STEP).meets(spans[OVERLAP]):
        times = ", ".join(str(printed[head]) for head in heads)
        raise ParseError(f"{name} has an overlap of {printed[OVERLAP]} %, and t_ovrl, t_pure, t_CPU are {times} usec")


def _terms(table: str) -> Terms:
    test = table.split()[0].removeprefix("Multi-")
    both = {"Sendrecv": "of both messages of a rank", "Exchange": "of all four messages of a rank", "Biband": BOTH_WAYS}
    one_way = ONE_WAY if test in ("PingPong", "PingPing", "Uniband") else ""
    timing = "the repetitions' sum over their number, by each rank's own clock"
    return Terms(timing, f"{TWO_BUFFERS}; with -off_cache they move through memory", both.get(test, one_way))


def _missing(table: _rows.Rows, text: str) -> Iterator[_rows.Wrong]:
    """Yield where sizes are not doubled, unless a user has chosen them."""
    if "# Message lengths were user defined" in text or _rows.SIZE not in table.rows[-1][1]:
        return
    group = table.rows[0][1].get("group")
    if group is not None:  # each size has a row for each of them
        of_one = [(line, dict(values)) for line, values in table.rows if values.get("group") == group]
        table = TableDraft(table.name, table.line, rows=of_one)
    yield from _rows.doubling(table)
    first = next((row for row in table.rows if row[1].get(_rows.SIZE)), None)
    called = _CALLED.findall(text)
    powers = {int(power or 0) for power in _LOG.findall(called[0])} if len(called) == 1 else ()
    least = max(4 if _REDUCES.search(table.name) or _EXT.search(text) else 1, 1 << min(max(powers, default=0), 30))
    if first and first is not table.rows[0] and len(called) == 1 and not _CHOOSES.search(called[0]):
        size = float(first[1][_rows.SIZE])
        if table.rows[0][1].get(_rows.SIZE) == 0 and size > least and size == 2 ** round(math.log2(size)):
            yield first[0], f"{table.name} has no row of {least} B between 0 and {size:.0f} B"
    begins, leasts = float(table.rows[0][1].get(_rows.SIZE, 0)), {int(one) for one in _LEAST_LENGTH.findall(text)}
    if (
        len(table.rows) > 1
        and len(leasts) == 1
        and begins > min(leasts)
        and (min(leasts) == 0 or not _REDUCES.search(table.name))
    ):
        yield table.rows[0][0], f"{table.name} begins at {begins:.0f} B, and the shortest message has {min(leasts)} B"
    most, last = _MOST_LENGTH.search(text), float(table.rows[-1][1][_rows.SIZE])
    if most is not None and len(table.rows) > 1 and last < float(most[1]) == 2 ** round(math.log2(float(most[1]) or 1)):
        yield table.rows[-1][0], f"{table.name} ends at {last:.0f} B, and the longest message has {most[1]} B"


READER = Reader(
    "imb",
    "IMB-MPI1, IMB-NBC, IMB-RMA",
    re.compile(r"Intel ?\(R\) MPI Benchmarks? |^[ ]{0,40}#(?:bytes +#)?repetitions +[\w#]", re.MULTILINE),
    _fill,
    _terms,
    ("MPI Benchmark", "#repetitions"),
    among=_rows.Among(re.compile(r"\s*(?:#|=|\[)"), _rows.BEGINS_WITH_NUMBER, _missing),
)
