"""What must hold between the numbers of a table of the OSU micro-benchmarks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import _osu_columns as columns
from fabriscope.readers._osu_columns import Head
from fabriscope.readers._osu_tests import Test
from fabriscope.readers.base import Column, Draft, TableDraft, Value

_ORDERS = (
    (columns.LEAST, columns.LATENCY), (columns.LATENCY, columns.MOST), (columns.LEAST, columns.MOST),
    (columns.LEAST_PURE, columns.MOST_PURE), (columns.COMPUTE, columns.OVERALL),
)  # fmt: skip
_STEP = 0.0101
"""Of two decimals: the mean of equal numbers may be printed one digit off."""
_RATE_TOLERANCE = 1e-6
RIGHT, WRONG = ("Pass", "passed"), ("Fail", "failed")
"""Of the data that arrived; one-sided tests have the second word of each."""
VALIDATIONS = (*RIGHT, *WRONG, "skipped")


_INVALID = re.compile(r"DATA VALIDATION ERROR: .*")
_ENDED = re.compile(
    r"job\.exception type=|exited with exit code [1-9]|exited on signal|CANCELLED AT|DUE TO TIME LIMIT|oom[-_]kill"
    r"|BAD TERMINATION|Segmentation fault|MPI_ABORT was invoked|exited with non-zero status|forcing job termination",
    re.IGNORECASE,
)


def complaint(line: str) -> str:
    """Return what a line says of a job that did not end well; empty for any other line."""
    if invalid := _INVALID.search(line):
        return invalid[0][:200]
    if _ENDED.search(line):
        return f"the job did not end well, its table may be short: {shown(line)}"
    return ""


def check_row(test: Test, table: TableDraft, heads: Sequence[Head], words: Sequence[str]) -> None:
    """Raise ParseError where a row contradicts itself or the rows before it."""
    by_key = {head.key: word for head, word in zip(heads, words, strict=True) if not head.percent}
    if columns.SIZE in by_key:
        check_growing(test, table, int(by_key[columns.SIZE]))
    elif table.rows:
        raise ParseError(f"the result of {test.name} stands twice, in line {table.rows[-1][0]} too")
    what = f"{test.name} of {by_key.get(columns.SIZE, '0')} B"
    _check_decimals(heads, words, what)
    for less, more in _ORDERS:
        if {less, more} <= set(by_key) and float(by_key[less]) > float(by_key[more]) + _STEP:
            raise ParseError(f"{what} has {by_key[less]} us as its {less} and {by_key[more]} us as its {more} time")
    if {columns.SIZE, columns.BANDWIDTH, columns.RATE} <= set(by_key):
        size, rate = float(by_key[columns.SIZE]), span(by_key[columns.RATE])
        if size and not (exactly(size * 1e-6) * rate).meets(span(by_key[columns.BANDWIDTH]), _RATE_TOLERANCE):
            says = f"{by_key[columns.RATE]} messages a second are not {by_key[columns.BANDWIDTH]} MB/s of 10^6 bytes"
            raise ParseError(f"{what}: {says}")
    _check_percentiles(heads, words, what)
    if by_key.get(columns.VALIDATION, "Pass") not in VALIDATIONS:
        raise ParseError(f"{what}: the validation should be Pass or Fail and is {shown(by_key[columns.VALIDATION])}")


def check_growing(test: Test, table: TableDraft, size: int) -> None:
    """Raise ParseError where a size stands after itself or a larger one."""
    if not table.rows:
        return
    line, before = table.rows[-1]
    last = before.get("message_size_bytes", -1)
    if isinstance(last, str) or size > last:
        return
    if size == last:
        raise ParseError(f"{test.name} of {size} B stands twice, in line {line} too")
    raise ParseError(f"{test.name} of {size} B stands after {last:g} B in line {line}")


def _check_decimals(heads: Sequence[Head], words: Sequence[str], what: str) -> None:
    """Raise ParseError where the numbers of a row have other decimals than each other: a digit or a point is lost."""
    numbers = [word for head, word in zip(heads, words, strict=True) if head.column.kind == "number"]
    decimals = {len(word.partition(".")[2]) for word in numbers if word[:1].isdigit()}
    if len(decimals) > 1 or 0 in decimals:
        raise ParseError(f"{what} has numbers with other decimals than the program prints: {' '.join(numbers)}")


def _check_percentiles(heads: Sequence[Head], words: Sequence[str], what: str) -> None:
    if not any(head.percent for head in heads):
        return
    for key in ("time percentile", "rate percentile"):
        tails = sorted((head.percent, word) for head, word in zip(heads, words, strict=True) if head.key == key)
        for (low, less), (high, more) in itertools.pairwise(tails):
            if span(less).exceeds(span(more)):
                raise ParseError(f"{what} has a percentile {low:g} of {less} and a percentile {high:g} of {more}")


def check_ends(draft: Draft) -> None:
    """Note each table that ends before another one of the same test does."""
    last: dict[tuple[str, Value, tuple[Column, ...]], list[tuple[Value, TableDraft]]] = {}
    for table in draft.tables:
        if table.rows and "message_size_bytes" in table.rows[-1][1]:
            size, first = (table.rows[place][1]["message_size_bytes"] for place in (-1, 0))
            last.setdefault((table.name, first, table.columns), []).append((size, table))
    for (name, _, _), ends in last.items():
        most, longest = max(((float(size), table) for size, table in ends), key=lambda end: end[0])
        for size, table in ends:
            if float(size) < most:
                says = (
                    f"{name} ends at {size} B, and in the table of line {longest.line} at {most:.0f} B: it may be cut"
                )
                draft.problem(says, "cut", table.rows[-1][0])
