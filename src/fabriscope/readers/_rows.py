"""One rule for the tables of all readers: what stands among rows and is none, and which rows are missing.

A reader says what its program prints beside rows inside a table, how a row begins, and which row follows which. The
rest is done here, when a text was read: a line that no row and nothing else of the program's has taken is told.

A part of a row ("cut") is what begins as one or has two of its numbers; another line ("noted") is one that another
process wrote to the same terminal, and takes nothing away.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

from fabriscope.model.foreign import shown

Wrong = tuple[int, str]
"""The line of a row, and what is wrong with it."""
SIZE = "message_size_bytes"
_PIECE = re.compile(r"(?<![\w.:])\d[\d.]*\s+\d+\.\d|^[\s\d.]*$")
"""Two numbers of a row, or nothing but digits."""
_LEFT_OUT = re.compile(r"\s*(?:\.{2,9}|\u2026|\[\.\.\.\])\s*")
"""What somebody writes where he left out rows."""
_DIGITS = re.compile(r"\d+")
MAY_LACK = re.compile(r"(?!.*\b(?:sender|receiver)\s*$).*(?:\d|[=:]\s*\w[\w ]*$)")
"""A last line without its end that may have lost a part: digits, or the word of a label; mere words are whole."""
_RULER = re.compile(r"[\s|+=*_.\u2026-]*|`{3}\w*")
BEGINS_WITH_NUMBER = re.compile(r"[\s|\u2502]*\d+(?![-\d.:/,]|inputs\+)")
"""And with no date, no time of day, and not with what GNU's time says of a program's files."""
_LINES_BEHIND = 2
"""After the last row, in which the rest of one may stand."""
_LEAST_NUMBERS = 3
"""Of a line that may be a row of a table without its head."""


class Rows(Protocol):
    """A table that was read."""

    name: str
    line: int
    rows: list[tuple[int, dict[str, float | str]]]
    lines: list[int]
    """Of rows and their parts."""


class Part(Protocol):
    """What one rank wrote."""

    @property
    def rank(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def numbers(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class Among:
    """What a program prints inside its tables."""

    lines: re.Pattern[str]
    """Matches lines that it prints there and that are no rows, at their beginning."""
    part: re.Pattern[str] | None = None
    """Matches the beginning of a row, and of what is left of one."""
    missing: Callable[[Rows, str], Iterator[Wrong]] | None = None
    """Yields what is wrong with the order of a table's rows; also given the text."""


def check(
    text: str, numbers: Sequence[int], tables: Sequence[Rows], told: Iterable[int], among: Among | None
) -> Iterator[tuple[str, Literal["cut", "noted"], int]]:
    """Yield what stands among the rows of tables that were read, and which rows are missing: the words, kind and line.

    `numbers` are those of the text's lines in the file, empty where they are the same; `told` are lines of problems.
    """
    if among is None or not any(table.rows for table in tables):
        return
    lines = text.splitlines()
    text_of = dict(zip(numbers or range(1, len(lines) + 1), lines, strict=False))
    taken = {line for table in tables for line in table.lines} | set(told)
    begins = sorted({table.line for table in tables} | {max(text_of, default=0) + 1})
    for table in tables:
        end = begins[bisect_right(begins, table.line)]
        region = range(table.line + 1, min(max(table.lines) + 1 + _LINES_BEHIND, end) if table.lines else end)
        strays = [(number, text_of[number]) for number in region if number not in taken and number in text_of]
        parts, others = _strays(table, among, strays, {_form(text_of[one]) for one in table.lines if one in text_of})
        if parts:
            yield f"a row of {table.name} is not whole: {_shown(parts)}", "cut", parts[0][0]
        if others:
            yield f"among the rows of {table.name} stands what is none of them: {_shown(others)}", "noted", others[0][0]
        left_out = [one for one in strays if _LEFT_OUT.fullmatch(one[1]) and one[0] < max(table.lines, default=0)]
        if left_out:
            yield f"somebody has left out rows of {table.name}: {_shown(left_out)}", "noted", left_out[0][0]
        elif among.missing is not None and table.rows:
            of_parts = [line for line, _ in parts]
            for line, what in among.missing(table, text):
                if not _is_part(line, table, of_parts):
                    yield what, "cut", line


def _is_part(line: int, table: Rows, parts: Sequence[int]) -> bool:
    """Return whether what is missing before that row, or behind the last one, may be a part that was told already."""
    of_rows = [number for number, _ in table.rows]
    before = max((number for number in of_rows if number < line), default=table.line)
    return any(before < part < line or (part > line == of_rows[-1]) for part in parts)


def odd(lines: Sequence[Wrong], tables: Sequence[Rows]) -> Iterator[tuple[str, Literal["cut", "noted"], int]]:
    """Yield lines that have digits of another script: behind a table's head they may be rows of it."""
    first = min((table.line for table in tables), default=math.inf)
    kinds: tuple[Literal["cut"], Literal["noted"]] = ("cut", "noted")
    for kind in kinds:
        found = [one for one in lines if (one[0] >= first) is (kind == "cut")]
        if found:
            yield (
                f"digits that are not ASCII's stand here, and no program prints them: {_shown(found)}",
                kind,
                found[0][0],
            )


def headless(
    known: Sequence[Part], parts: Sequence[Part], tables: Sequence[Rows]
) -> Iterator[tuple[str, Literal["cut"], int]]:
    """Yield lines of ranks of which no head is known that look like rows which were read of other ranks."""
    others = [part for part in parts if part.rank not in {one.rank for one in known}]
    taken = {line for table in tables for line in table.lines} if others else set[int]()
    shapes = {_shape(line) for part in known for number, line in _numbered(part) if number in taken} - {()}
    for part in others if shapes else ():
        found = [(number, line) for number, line in _numbered(part) if number not in taken and _shape(line) in shapes]
        if found:
            yield f"rows of rank {part.rank} stand under no head: {_shown(found)}", "cut", found[0][0]


def _numbered(part: Part) -> Iterator[tuple[int, str]]:
    return zip(part.numbers, part.text.splitlines(), strict=False)


def _shape(line: str) -> tuple[bool, ...]:
    """Return which words of a line are numbers; nothing of one that has less than three."""
    are_numbers = tuple(word.lstrip("=+-")[:1].isdigit() for word in line.split())
    return are_numbers if sum(are_numbers) >= _LEAST_NUMBERS else ()


def _form(line: str) -> tuple[str, ...]:
    """Return of a row's words which are whole numbers and which have decimals; nothing of one with a single word."""
    words = line.split()
    return tuple(_DIGITS.sub("0", word) for word in words) if len(words) > 1 else ()


def _ends_as(text: str, forms: Iterable[tuple[str, ...]]) -> bool:
    """Return whether a line ends in a row: something stands before it, such as a sign of a comment or a prefix."""
    words = _form(re.sub(r"#(?=\d)", "# ", text))
    return any(len(words) > len(form) and words[-len(form) :] == form for form in forms if form)


def _strays(
    table: Rows, among: Among, strays: Sequence[Wrong], forms: Iterable[tuple[str, ...]]
) -> tuple[list[Wrong], list[Wrong]]:
    """Return what is left of rows into which other processes' lines ran, and such lines; `forms`: of rows."""
    first, last = min(table.lines, default=0), max(table.lines, default=0)
    parts, others = [], []
    for line, text in strays:
        is_row = _ends_as(text, forms)
        if _RULER.fullmatch(text) or (among.lines.match(text) and not is_row):
            continue
        if is_row or (among.part and among.part.match(text)) or _PIECE.search(text):
            parts.append((line, text))
        elif first < line < last:
            others.append((line, text))
    return parts, others


def _shown(found: Sequence[Wrong]) -> str:
    more = f" (and {len(found) - 1} lines more)" if len(found) > 1 else ""
    return f"{shown(' '.join(found[0][1].split()))}{more}"


def doubling(table: Rows, _text: str = "") -> Iterator[Wrong]:
    """Yield where sizes are not doubled from row to row, as programs do that sweep over them."""
    for (_, before), (line, values) in pairwise(table.rows):
        less, more = (_number(one, SIZE) for one in (before, values))
        after = 2 * less if less else 1
        if more > after and (less or not math.log2(more).is_integer()):
            yield line, f"{table.name} has no row of {after:.0f} B between {less:.0f} and {more:.0f} B"


def _number(values: Mapping[str, float | str], name: str) -> float:
    value = values.get(name, math.nan)
    return math.nan if isinstance(value, str) else float(value)


def growing(column: str, what: str) -> Callable[[Rows, str], Iterator[Wrong]]:
    """Return a check for a column that counts from row to row, and begins at 0 again."""

    def missing(table: Rows, _text: str) -> Iterator[Wrong]:
        for (_, before), (line, values) in pairwise(table.rows):
            less, more = (_number(one, column) for one in (before, values))
            if more not in (less + 1, 0) or more == less:
                yield line, f"{what} {more:.0f} stands after {what} {less:.0f}"

    return missing
