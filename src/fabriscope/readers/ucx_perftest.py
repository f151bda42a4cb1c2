"""ucx_perftest: its final row; of the older layout without stages, and of CSV (`-v`), each row, the last is the result.

    |    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
    [thread 0]                34      0.272 56927.562 56927.562    17987.77   17987.77          18          18
    Final:                  1000      0.716     0.741     0.741     2633.63    2633.63     1349871     1349871

"average" is that of the last interval, "overall" that of the whole test: what is read. Its MB has 2^20 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import _rows
from fabriscope.readers._tables import is_row
from fabriscope.readers.base import Column, Draft, Reader
from fabriscope.readers.terms import TWO_BUFFERS, Terms

_OF = "of operations: halves of round trips in latency tests"
_ITERATIONS = Column("iterations", "iteration_count", "iterations", "", "of the test", kind="whole")
_TYPICAL = Column("typical", "latency_ns", "median", "ns", f"the median {_OF}", 1e3)
_OVERALL = (
    Column("overall", "latency_ns_mean", "mean", "ns", f"the mean {_OF}", 1e3),
    Column("bandwidth", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes over the whole time", 1 << 20),
    Column("rate", "message_rate_per_s", "message rate", "per_s", "messages over the whole time"),
)
_BOX = re.compile(r"\s*\|(.*)\|\s*")
_HEAD = ["# iterations", "average", "overall", "average", "overall", "average", "overall"]
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%ile")
_SETTING = re.compile(
    r"\s*(API|Test|Data layout|Send memory|Recv memory|Message size|Window size)\s*: ?\s*(\S(?:.*\S)?)\s*"
)
_NAMES = {"Message size": "message_size_bytes", "Window size": "window_size"}
"""Settings that are numbers."""
_ROW = re.compile(r"(?:\s*(?:(Final):|\[thread (\d{1,9})\]))?\s*(\d[\d,.\s]*)")
_CSV_HEAD = "iterations,typical_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr"
_UNIT = re.compile(r"(?:latency|overhead|bandwidth|message rate) \(([^()]{1,20})\)")
_UNITS = {"usec", "MB/s", "msg/s"}
_NUMBER_COUNT = 8
_TOLERANCE = 0.02
"""Of the mean time against the rate: fast tests print 0.039 usec."""


@dataclass
class _Test:
    """One test that is being read."""

    line: int
    typical: Column
    settings: dict[str, str] = field(default_factory=dict)
    interim: tuple[int, list[str]] | None = None
    """The last row, with its line."""
    threads: set[str] = field(default_factory=set)
    has_stages: bool = False
    has_table: bool = False
    lines: list[int] = field(default_factory=list)
    """Of rows, until there is a table."""
    is_ended: bool = False


def _fill(draft: Draft) -> None:
    test: _Test | None = None
    settings: dict[str, str] = {}
    for line in draft.lines():
        box, row = _BOX.fullmatch(line), _ROW.fullmatch(line)
        if box:
            cells = [cell.strip() for cell in box[1].split("|")]
            setting = _SETTING.fullmatch(box[1]) if len(cells) == 1 else None
            if setting:
                if setting[1] == "API" or (test and setting[1] in (test.settings if not test.is_ended else ())):
                    settings = {}
                settings[setting[1]] = setting[2]
                if test is not None and not test.is_ended:
                    test.settings = {**test.settings, **settings}
            elif units := [unit for cell in cells for unit in _UNIT.findall(cell)]:
                if set(units) - _UNITS:
                    raise ParseError(
                        f"its columns are in {', '.join(units)}, and {', '.join(sorted(_UNITS))} are known"
                    )
            elif len(cells) > _NUMBER_COUNT - 1 and any("iterations" in cell for cell in cells):
                _end(draft, test)
                test = _begin(draft, cells, settings)
        elif line.strip().endswith(_CSV_HEAD):
            _end(draft, test)
            test = _Test(draft.line, _TYPICAL, dict(settings))
        elif test is not None and row and (row[1] or not test.is_ended):
            if test.is_ended:
                raise ParseError(f"the test of line {test.line} has two final rows")
            _take(draft, test, row)
        elif "UCX  ERROR" in line:
            draft.problem(f"UCX says: {shown(line.strip())}", "said")
    _end(draft, test)


def _begin(draft: Draft, cells: Sequence[str], settings: dict[str, str]) -> _Test:
    """Return a new test; raises ParseError for a head that is not known."""
    heads = [cell for cell in cells if cell != "Stage"]
    rest = [head for head in heads if head != "typical" and not _PERCENTILE.fullmatch(head)]
    if rest != _HEAD or len(heads) != _NUMBER_COUNT:
        raise ParseError(f"the columns {shown(', '.join(heads))} are not those that are known")
    share = _PERCENTILE.fullmatch(heads[1])
    typical = _TYPICAL
    if share and float(share[1]) != 50:
        name = f"{float(share[1]):g}"
        typical = Column(
            "typical", f"latency_ns_p{name.replace('.', '_')}", f"{name} %", "ns", f"the {name}th percentile {_OF}", 1e3
        )
    return _Test(draft.line, typical, dict(settings), has_stages="Stage" in cells)


def _take(draft: Draft, test: _Test, row: re.Match[str]) -> None:
    """Take a row: the final one ends the test."""
    words = (
        row[3].split(",")
        if row[3].count(",") == _NUMBER_COUNT - 1 and " " not in row[3].strip()
        else row[3].replace(",", "").split()
    )
    if not is_row(words) or (len(words) < 3 and row[1] is None):
        return
    if len(words) != _NUMBER_COUNT:
        raise ParseError(f"a row has {len(words)} columns, and its table {_NUMBER_COUNT}: {shown(row[3].strip())}")
    (draft.tables[-1] if test.has_table else test).lines.append(draft.line)
    if row[2]:
        test.threads.add(row[2])
    elif not test.has_stages and test.interim is not None and float(words[0]) <= float(test.interim[1][0]):
        raise ParseError(f"a row of {words[0]} iterations stands after that of line {test.interim[0]}")
    test.interim = (draft.line, words)
    if row[1] or not test.has_stages:  # the older layout does not say which row is the final one
        _row(draft, test)
        test.is_ended = row[1] is not None


def _row(draft: Draft, test: _Test) -> None:
    """Add the last row of a test; raises ParseError where time, rate and bandwidth do not agree."""
    if test.interim is None:
        return
    words = test.interim[1]
    if not test.has_table:
        table = draft.table(test.settings.get("Test", "test"), (_ITERATIONS, test.typical, *_OVERALL))
        if test.settings and "Test" not in test.settings:
            draft.problem("what the program says of its test has no 'Test:'", "cut", test.line)
        table.line = test.line  # its head's: rows that cannot be read may stand between
        table.lines += test.lines
        test.has_table = True
        for name, value in test.settings.items():
            known = _NAMES.get(name)
            draft.table_parameter(
                known or name.lower().replace(" ", "_"), int(value) if known and value.isdecimal() else value
            )
    said = dict(
        zip(
            ("iterations", "typical", "overall", "bandwidth", "rate"),
            (*words[:2], words[3], words[5], words[7]),
            strict=True,
        )
    )
    columns = {column.head: column for column in (_ITERATIONS, test.typical, *_OVERALL)}
    printed = {head: columns[head].printed(word) for head, word in said.items()}
    count = max(1, len(test.threads))
    if not any((span(said["overall"]) * span(said["rate"])).meets(exactly(1e6 * k), _TOLERANCE) for k in {1, count}):
        raise ParseError(f"operations of {said['overall']} usec are not {said['rate']} a second")
    size = test.settings.get("Message size", "")
    if size.isdigit() and not (exactly(float(size) / (1 << 20)) * span(said["rate"])).meets(
        span(said["bandwidth"]), _TOLERANCE
    ):
        raise ParseError(f"{said['rate']} messages of {size} B a second are not {said['bandwidth']} MB/s")
    draft.row(printed)


def _end(draft: Draft, test: _Test | None) -> None:
    """Note a test without a final row; of the older layout, without any."""
    if test is not None and not test.is_ended and (test.has_stages or test.interim is None):
        draft.problem(f"the test of line {test.line} has no final row", "cut", test.line)


def _terms(_table: str) -> Terms:
    return Terms("all operations together; for the median each by itself", TWO_BUFFERS)


_SIGNATURE = re.compile(
    rf"^[^\n]{{0,40}}\|\s{{0,9}}# iterations \|[^\n]*ile \||\|\s{{0,9}}# iterations \| typical|{_CSV_HEAD}",
    re.MULTILINE,
)
_AMONG = _rows.Among(re.compile(r"\s*[+|]|.*UCX  (?:WARN|INFO|ERROR|DEBUG)"), re.compile(r"(?:Final:|\[thread )?\s*\d"))
READER = Reader("ucx_perftest", "ucx_perftest", _SIGNATURE, _fill, _terms, ("# iterations |", _CSV_HEAD), among=_AMONG)
