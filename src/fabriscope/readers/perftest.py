"""perftest (ib_send_lat, ib_write_bw and their like): the tables that a client prints, and its report.

What a client says at the end of a latency test, and of a bandwidth test:

     #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec] ...
     2       1000          1.54           2.13         1.58               1.58           0.01          ...
     #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
     65536      5000             11025.44            11024.71                  0.176395

Latencies of send and write are halves of round trips already, those of read and atomics whole operations;
`t_typical` is the median. Its "MB/sec" is 2^20 bytes per second, whichever way its versions spell it (MB, MiB);
"Gb/sec" is 10^9 bits. Messages times size must come to the printed bandwidth, or the unit is not what we think.

A report (`--out_json_file`) states no units, and is read where there is no table; with 6.06 it is no JSON, as its names
have no quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import _rows
from fabriscope.readers._perftest_columns import BANDWIDTH, BYTES_PER_UNIT, COLUMNS, LATENCY, SIZE, column_of, terms_of
from fabriscope.readers.base import Column, Draft, Parameter, Reader, Value

__all__ = ("BANDWIDTH", "COLUMNS", "LATENCY", "PEAK_TOLERANCE", "READER", "SIZE")

_BANDWIDTH_STEP = 0.005
_MESSAGES_STEP = 0.5
"""Half of the last digit printed: of the bandwidth in its unit, of the messages per second."""
_RATE_TOLERANCE = 1e-3
_HEADS = re.compile(r"#\w+|(?:BW |Message |[\d.]+% )?[\w.%]+\[[^\]]*\]|tps average")
_NUMBERS = re.compile(r"\s*[0-9]+\s+[0-9]+(\s+(?:[-+.0-9eE]+|-?nan|-?inf))+\s*")
_ROW = re.compile(r"\s*[0-9]+\s+[0-9]+(?:\s+(?:[-+.0-9eE]+|-?nan|-?inf)){2,}\s*")
"""Whose head may be lost."""
_TITLE = re.compile(r"\s+((?:RDMA_|Send|Raw|Atomic|SEND)[\w ]{0,40}(?:BW|Latency) Test)\s*")
_UNTITLED = "results"
_ONE_END = re.compile(r"\s*(Local|Remote) results:\s*")
"""Stands over a table of what one end sent of a test both ways (`--report-both`)."""
_ORDER = ("t_min", "t_typical", "99% percentile", "99.9% percentile", "t_max")
_SETTINGS = {
    "TX depth": "queue_depth", "CQ Moderation": "signal_every", "Number of qps": "queue_pair_count",
    "Connection type": "connection_type",
}  # fmt: skip
_SETTING = re.compile(
    r" ?(TX[ _]depth|CQ[ _]Moderation|Number[ _]of[ _]qps|Connection[ _]type)\s{0,9}: (\w{1,9})(?!\w).*"
)
PEAK_TOLERANCE = 0.01
_REPORT = re.compile(r'"?results"?\s*:\s*\{([^{}]*)\}')
_OF_LATENCY = ("t_min", "t_max", "t_typical", "t_avg", "t_stdev")
_ALWAYS = {
    "BW_average": ("n_iterations", "MsgRate"),
    **dict.fromkeys(
        ("t_typical", "t_max", "t_min"), ("n_iterations", "t_min", "t_max", "t_typical", "t_avg", "t_stdev")
    ),
}
"""What stands in a report that has one of these."""
_MEMBER = re.compile(r'(?<![\w.])([\w.]{1,40})"?\s{0,20}:\s{0,20}"?([^\s",]{1,40})"?,?')


def _fill(draft: Draft) -> None:
    title, heads, settings = _UNTITLED, list[str](), dict[str, Parameter]()
    begun, is_server, before, columns = 0, False, list[str](), list[Column]()
    for line in draft.lines():
        words = line.split()
        if "Waiting for client" in line:  # it prints no result of some tests
            is_of_this = "rdma_cm" in line  # after the title; the other words stand before it
            begun, is_server = (0, is_server) if is_of_this else (begun, True)
        elif found := _TITLE.fullmatch(line):
            _end(draft, begun)
            title, settings, heads, columns = found[1], {}, [], []
            begun, is_server = 0 if is_server else draft.line, False
        elif setting := _SETTING.fullmatch(line):
            if heads and draft.tables[-1].rows:  # another run begins, without its title
                title, settings, heads = _UNTITLED, {}, []
            told = _told(setting)
            settings.setdefault(told.name, told)
        elif one_end := _ONE_END.fullmatch(line):
            title = f"{title.partition(',')[0]}, {one_end[1].lower()} results"
        elif "#bytes" in line:
            heads, before, columns = _HEADS.findall(line), [], []
            if re.search(r"\d", _HEADS.sub("", line)):
                draft.problem(f"behind a head stands what is none: {shown(' '.join(words))}", "cut")
            if title == _UNTITLED and settings:
                draft.problem("a table stands under no title, and behind what the program says of its test", "cut")
            draft.table(title).parameters += settings.values()
        elif heads and _NUMBERS.fullmatch(line) and len(words) == len(heads):
            columns = columns or _columns(draft, heads)
            _check_twice(draft, columns, before, words)
            _row(draft, columns, words, [column.factor for column in columns if column.name == BANDWIDTH])
            before, begun = words, 0
        elif _ROW.fullmatch(line) and (not draft.tables[-1].rows if heads else title != _UNTITLED):
            draft.problem(f"a row stands under no head with as many columns: {shown(' '.join(words))}", "cut")
        elif "Couldn't" in line or "Unable to" in line or "Failed" in line:
            draft.problem(f"perftest says: {shown(line.strip())}", "said")
            begun = 0
    _close(draft, begun, list(settings.values()))


def _close(draft: Draft, begun: int, settings: Sequence[Parameter]) -> None:
    """End a text, of which a report is read where no table has a row."""
    if any(table.rows for table in draft.tables):
        _end(draft, begun)
    else:
        _report(draft, settings)
    if not any(table.rows for table in draft.tables):
        draft.problem("no result stands in it", "cut")


def _told(setting: re.Match[str]) -> Parameter:
    value = setting[2]
    return Parameter(_SETTINGS[setting[1].replace("_", " ")], int(value) if value.isdecimal() else value)


def _columns(draft: Draft, heads: Sequence[str]) -> list[Column]:
    """Return the columns of a table, those that are known for the last one; raises ParseError for one that is twice."""
    columns = [column_of(head) for head in heads]
    if len({column.head for column in columns}) < len(columns):
        raise ParseError("a column stands twice")
    of_bandwidth, name = any(column.name == BANDWIDTH for column in columns), draft.tables[-1].name
    if name.endswith("Latency Test" if of_bandwidth else "BW Test"):
        draft.problem(f"columns of another test stand under the title {name}: its own is missing", "cut")
        draft.tables[-1].name = _UNTITLED
    draft.tables[-1].columns = tuple(column for column in columns if column.head in COLUMNS)
    return columns


def _check_twice(draft: Draft, columns: Sequence[Column], before: Sequence[str], words: Sequence[str]) -> None:
    """Raise ParseError where a row has the size of the one before it.

    With `--run_infinitely`, which looks for no peak, each period has a row. Where both ends print to one terminal, two
    heads stand together, and the last row may be printed by both.
    """
    rows = draft.tables[-1].rows
    if before[:1] != words[:1]:
        if len(rows) > 1 and rows[-1][1] == rows[-2][1] and "peak_bandwidth_bytes_per_s" in rows[-1][1]:
            raise ParseError(f"the row of {before[0]} B stands twice, in line {rows[-2][0]} too")
        return
    has_no_peak = any(
        column.head == "BW_peak" and set(word) <= set("0.") for column, word in zip(columns, words, strict=True)
    )
    two = draft.tables[-2:]
    if has_no_peak and list(before) == list(words):
        draft.problem(f"line {rows[-1][0]} stands here again", "noted")
    if not has_no_peak and not (before == words and two[0].name == two[-1].name and not two[0].rows):
        raise ParseError(f"the row of {words[0]} B stands twice, in line {two[-1].rows[-1][0]} too")


def _end(draft: Draft, begun: int) -> None:
    """Note that a client whose title stands in that line ends before its result."""
    if begun:
        draft.problem(f"the test of line {begun} has no result", "cut")


def _report(draft: Draft, settings: Sequence[Parameter]) -> None:
    """Add the rows of reports, whose latencies are in microseconds and whose bandwidths in an unstated unit."""
    line, end = 1, 0
    for results in _REPORT.finditer(draft.text):
        line, end = line + draft.text.count("\n", end, results.start()), results.start()
        draft.line = line
        members = {name: word for name, word in _MEMBER.findall(results[1]) if name in COLUMNS and name != "BW_peak"}
        if "MsgSize" in members:
            columns = [replace(COLUMNS[name], factor=1e3) if name[:2] == "t_" else COLUMNS[name] for name in members]
            draft.table("report", columns).parameters += settings
            always = next((names for name, names in _ALWAYS.items() if name in members), ())
            if lost := [name for name in always if name not in members]:
                draft.problem(f"the results have no {', '.join(lost)}", "cut")
            _row(draft, columns, list(members.values()), tuple(sorted(set(BYTES_PER_UNIT.values()))))


def _row(draft: Draft, columns: Sequence[Column], words: Sequence[str], units: Sequence[float]) -> None:
    """Add a row; the unit of its bandwidth is one of those."""
    printed = {
        column.head: column.printed(word, least=-math.inf, may_lack=True)
        for column, word in zip(columns, words, strict=True)
    }
    if printed.get("n_iterations") == 0:
        raise ParseError("0 iterations are said to have given a result")
    if printed.get("BW_peak") == 0:
        del printed["BW_peak"]  # it was not looked for
    _check_rows(draft, printed)
    shown_by = next((head for head in ("BW_average", "t_typical", "t_avg", "t_min") if head in printed), "t_typical")
    value = float(printed.get(shown_by, math.nan))
    if not (math.isfinite(value) and value > 0):
        # It measures the processor's clock by a straight line, and goes on without one where that fails.
        draft.problem(f"{value} is printed as {shown_by}: it did not find the processor's clock", "said")
        if value < 0 or value > float(printed.get("t_max", math.inf)):
            printed[shown_by] = math.nan  # no time, and beyond the most that stands beside it
        draft.row(printed | ({"BW_average": math.nan} if len(units) > 1 else {}))
    elif shown_by == "BW_average":
        bandwidth = _bytes_per_s(value, printed.get("MsgRate"), printed.get("MsgSize"), units)
        _check_peak(draft, columns, printed)
        is_printed = any(bandwidth == value * unit for unit in units)
        draft.row(printed, derived="" if is_printed else BANDWIDTH)[BANDWIDTH] = bandwidth
    else:
        said = {column.head: (column.factor, word) for column, word in zip(columns, words, strict=True)}
        finite = {head: said[head] for head in said if math.isfinite(float(printed[head]))}
        _check_order(finite)
        _check_transactions(finite)
        draft.row(printed)


def _check_rows(draft: Draft, printed: Mapping[str, Value]) -> None:
    """Raise ParseError for a row of a smaller message than the row before it: tests go through sizes upwards."""
    rows = draft.tables[-1].rows
    before, size = rows[-1][1].get(SIZE, 0) if rows else 0, printed.get("MsgSize")
    if size is not None and float(size) < float(before):
        raise ParseError(f"a row of {size} B stands after one of {before} B")


def _check_peak(draft: Draft, columns: Sequence[Column], printed: Mapping[str, Value]) -> None:
    """Raise ParseError where the average bandwidth is more than the peak.

    The peak is looked for between completions that are signalled; some versions pass by the messages after the last.
    """
    if len({column.factor for column in columns if column.unit == "bytes_per_s"}) > 1:
        raise ParseError("the peak and the average bandwidth are in two units")
    peak, average = float(printed.get("BW_peak", math.nan)), float(printed["BW_average"])
    count = int(printed.get("n_iterations", 1))
    moderated = next((str(one.value) for one in draft.tables[-1].parameters if one.name == "signal_every"), "")
    every = int(moderated) if moderated.isdecimal() else 0
    passed_by = count % every if 0 < every <= count else count / 2
    if average * (count - passed_by) / count > peak * (1 + PEAK_TOLERANCE) + _BANDWIDTH_STEP:
        raise ParseError(f"the average bandwidth is {average}, and its peak {peak}")


def _check_order(said: Mapping[str, tuple[float, str]]) -> None:
    """Raise ParseError for latencies that are negative or out of order, and for a mean that cannot be theirs."""
    said = {head: one for head, one in said.items() if head[:2] == "t_" or "%" in head}
    negative = next((f"{head} is {word}" for head, (_, word) in said.items() if float(word) < 0), None)
    if negative is not None:
        raise ParseError(negative)
    is_one_unit = len({factor for factor, _ in said.values()}) == 1
    spans = {head: span(word) if is_one_unit else span(word) * factor for head, (factor, word) in said.items()}
    known = [head for head in _ORDER if head in spans]
    pairs = [*pairwise(known), ("t_min", "t_avg"), ("t_avg", "t_max")]
    for less, more in pairs:
        if less in spans and more in spans and spans[less].exceeds(spans[more]):
            raise ParseError(f"{less} is {said[less][1]}, and {more} {said[more][1]}")
    # half of all operations take the median at least
    if "t_avg" in spans and "t_typical" in spans and (spans["t_typical"] * 0.5).exceeds(spans["t_avg"], PEAK_TOLERANCE):
        raise ParseError(f"t_typical is {said['t_typical'][1]}, and t_avg {said['t_avg'][1]}")


def _check_transactions(said: Mapping[str, tuple[float, str]]) -> None:
    """Raise ParseError where the operations in a second (`-D`) are not those of the mean time, or of two halves."""
    if "t_avg" not in said or "tps average" not in said:
        return
    (factor, word), (_, rate) = said["t_avg"], said["tps average"]
    second_ns = span(word) * factor * span(rate)
    if not any((second_ns * count).meets(exactly(1e9), PEAK_TOLERANCE) for count in (1, 2)):
        raise ParseError(f"{rate} operations a second do not take {word} each")


def _bytes_per_s(printed: float, mega_rate: Value | None, size: Value | None, units: Sequence[float]) -> float:
    """Return the bandwidth from the column that has more digits; raises ParseError where the two disagree.

    Which unit a report is in only its messages can tell; a table, which has none before version 2, says it in its head.
    """
    if mega_rate is None and len(units) == 1:
        return printed * units[0]
    if size is None or mega_rate is None or not math.isfinite(float(mega_rate)):
        raise ParseError("its result has no rate of messages, which the bandwidth is checked by")
    counted, count_step = float(mega_rate) * 1e6 * float(size), _MESSAGES_STEP * float(size)
    for unit in units:
        bytes_per_s, step = printed * unit, _BANDWIDTH_STEP * unit
        if abs(bytes_per_s - counted) <= step + count_step + _RATE_TOLERANCE * counted:
            return bytes_per_s if step <= count_step else counted
    raise ParseError(f"{printed} is printed as the bandwidth, and its messages come to {counted:.0f} B/s")


_SIGNATURE = re.compile(
    r"^ {0,9}(?:#bytes {1,20}#iterations|\"?test\"?: {0,9}\"?\w{1,40}_Test\"?,)"
    r"|^ {0,99}(?:RDMA_|Send |Atomic |Raw )\w{0,20} ?(?:BW|Latency) Test",
    re.MULTILINE,
)
READER = Reader(
    "perftest",
    "ib_send_lat, ib_write_bw ...",
    _SIGNATURE,
    _fill,
    terms_of,
    ("#bytes", "_Test,", '_Test",', "BW Test", "Latency Test"),
    among=_rows.Among(re.compile(r"\s*(?:#|Conflicting CPU frequency)"), _rows.BEGINS_WITH_NUMBER, _rows.doubling),
)
