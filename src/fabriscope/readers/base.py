"""What a reader is: it turns what a program printed, text alone, into a typed document.

A reader declares the columns that it knows, each with the unit in which the program prints it and the unit in which the
document holds it, and fills a `Draft` line by line:

    READER = Reader("x", "x_bench 2.x", re.compile(r"^x_bench ", re.MULTILINE), fill)

Nothing here raises on a strange text. What is wrong stands among the document's problems: text that contradicts itself
is read no further, since its units are not what they are taken for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fabriscope.model.counting import counted
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown, whole
from fabriscope.readers import _marks, _prefixed, _rows
from fabriscope.readers._rows import Among
from fabriscope.readers._streams import streams
from fabriscope.readers.terms import UNSTATED, Terms, printed_unit, unstated
from fabriscope.readers.work import Work, line_count

Value = float | str
"""A number in its column's unit, NaN where the program printed none, or a word."""
Unit = Literal["", "bytes", "ns", "s", "bytes_per_s", "per_s", "flop_per_s", "percent"]
"""Of documents; a count, a ratio and a word have none."""
Kind = Literal["refused", "cut", "said", "noted"]
"""The text contradicts itself; it, or a row of it, is not whole; the program says that something failed; another's line
stands among rows, of which none is missing for it."""

LONGEST_LINE = 1000
"""Longer lines hold no table."""
_NO_NUMBERS = ("nan", "-nan", "inf", "-inf")


@dataclass(frozen=True)
class Column:
    """What a number of a table is, and how the program prints it."""

    head: str
    """How the program calls it."""
    name: str
    """How the document calls it; the unit is part of it."""
    title: str
    unit: Unit
    definition: str
    factor: float = 1.0
    """From the printed unit to the document's."""
    kind: Literal["number", "whole", "word"] = "number"
    unit_in_text: str = ""
    """Where the factor does not tell it: units that change from row to row."""

    @property
    def printed_in(self) -> str:
        """Return the unit in which the program prints it, with what its prefixes stand for; empty for none."""
        return self.unit_in_text or printed_unit(self.unit, self.factor)

    def printed(self, word: str, *, least: float = 0.0, may_lack: bool = False) -> Value:
        """Return a printed word in the printed unit; raises ParseError. `may_lack`: nan and inf are let through."""
        if self.kind == "word":
            return word
        if self.kind == "whole":
            return whole(word, self.head, "")
        return float(word) if may_lack and word in _NO_NUMBERS else number(word, self.head, "", least=least)


@dataclass(frozen=True)
class Parameter:
    """What a program says of its test or of itself."""

    name: str
    value: Value
    unit: Unit = ""


@dataclass(frozen=True)
class Row:
    """One line of results."""

    line: int
    values: Mapping[str, Value]
    """By the names of the columns; what a row lacks is absent."""
    derived: str = ""
    """The name of the column that another one of the row gives, which has more digits; empty for none."""

    def number(self, name: str) -> float:
        """Return a number, NaN where the row has none."""
        value = self.values.get(name, math.nan)
        return math.nan if isinstance(value, str) else value


@dataclass(frozen=True)
class Table:
    """The results of one test."""

    name: str
    line: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    parameters: tuple[Parameter, ...] = ()
    terms: Terms = UNSTATED


@dataclass(frozen=True)
class Problem:
    """What is wrong with a text, or with what it tells of."""

    line: int
    """Counted from 1; 0 where no line is to blame."""
    text: str
    kind: Kind


@dataclass(frozen=True)
class Document:
    """What a program's text says."""

    program: str
    version: str | None
    parameters: tuple[Parameter, ...]
    tables: tuple[Table, ...]
    problems: tuple[Problem, ...]

    def rows(self, table: str | None = None) -> list[Row]:
        """Return the rows of all tables, or of those that have a name."""
        return [row for one in self.tables if table in (None, one.name) for row in one.rows]

    def parameter(self, name: str) -> Value | None:
        """Return the value of a parameter."""
        return next((one.value for one in self.parameters if one.name == name), None)

    def problem(self, kind: Kind) -> Problem | None:
        """Return the first problem of a kind."""
        return next((problem for problem in self.problems if problem.kind == kind), None)

    def check(self, where: str) -> None:
        """Raise ParseError where the text contradicts itself."""
        problem = self.problem("refused")
        if problem is not None:
            raise ParseError(problem.text, where=f"{where}, line {problem.line}" if problem.line else where)


@dataclass
class TableDraft:
    """A table that is being read."""

    name: str
    line: int
    columns: tuple[Column, ...] = ()
    rows: list[tuple[int, dict[str, Value]]] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """That are its rows, or parts of them."""
    derived: dict[int, str] = field(default_factory=dict)
    """By the place of a row: the column that another one gives."""


@dataclass
class Draft:
    """A document whose text is being read; `line` is the number of the line under way."""

    text: str
    line: int = 0
    version: str | None = None
    numbers: Sequence[int] = ()
    """Of the text's lines in the file; empty where they are those of the text."""
    work: Work = field(default_factory=Work)
    """What of the limits of a log is taken."""
    parameters: dict[Parameter, None] = field(default_factory=dict)
    tables: list[TableDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def lines(self, longest: int = LONGEST_LINE) -> Iterator[str]:
        """Yield the lines, but those that are empty or longer than any table's, and a last one that is cut."""
        count = line_count(self.text)
        if count > self.work.lines_left():
            self.line = self.place(max(0, self.work.lines_left()) + 1)
        self.work.take_lines(count)
        lines = self.text.splitlines()
        is_cut = self.text[-1:].splitlines() == [self.text[-1:]]
        for place, line in enumerate(lines, start=1):
            self.line = self.numbers[place - 1] if self.numbers else place
            if is_cut and place == len(lines) and _rows.MAY_LACK.match(line):
                self.problem("the last line has no end: it may lack digits", "cut")
            elif 0 < len(line) <= longest:
                yield line

    def place(self, line: int) -> int:
        """Return the number in the file of a line of the text."""
        return self.numbers[line - 1] if 0 < line <= len(self.numbers) else line

    def table(self, name: str, columns: Sequence[Column] = ()) -> TableDraft:
        """Begin a table. Raises ParseError where its head names a column twice: which of them counts?"""
        self.work.take_table()
        counts = Counter(column.head for column in columns)
        if len(counts) < len(columns):
            twice = next(head for head, count in counts.items() if count > 1)
            raise ParseError(f"the head of a table names the column {shown(twice)} twice")
        self.tables.append(TableDraft(name, self.line, tuple(columns)))
        return self.tables[-1]

    def row(self, printed: Mapping[str, Value], line: int | None = None, derived: str = "") -> dict[str, Value]:
        """Add a row to the last table, by heads in printed units; return its values, which may be added to."""
        table = self.tables[-1]
        if not table.rows:
            self.work.take_columns(column.name for column in table.columns)
        values = {
            column.name: value if isinstance(value, str) or column.factor == 1.0 else value * column.factor
            for column in table.columns
            if (value := printed.get(column.head)) is not None
        }
        self.work.take_row(max(len(values), len(table.columns) // 2))
        table.rows.append((self.line if line is None else line, values))
        table.lines.append(table.rows[-1][0])
        if derived:
            table.derived[len(table.rows) - 1] = derived
        return values

    def parameter(self, name: str, value: Value | None, unit: Unit = "") -> None:
        """Add what the program says of itself, where it does; what it says again (HPCC its settings) once."""
        if value is not None and (told := Parameter(name, value, unit)) not in self.parameters:
            self.work.take_parameters(1)
            self.parameters[told] = None

    def table_parameter(self, name: str, value: Value, unit: Unit = "") -> None:
        """Add what the program says of the last table's test."""
        self.work.take_parameters(1)
        self.tables[-1].parameters.append(Parameter(name, value, unit))

    def problem(self, text: str, kind: Kind, line: int | None = None) -> None:
        """Add a problem of the line under way, or of another."""
        if kind != "refused":  # that is the last
            self.work.take_problem()
        self.problems.append(Problem(self.line if line is None else line, text, kind))

    def document(self, program: str, terms: Callable[[str], Terms] = unstated) -> Document:
        """Return what was read; `terms` gives those of a table by its name."""
        tables = tuple(
            Table(
                *(one.name, one.line, one.columns),
                tuple(Row(*row, one.derived.get(place, "")) for place, row in enumerate(one.rows)),
                tuple(one.parameters),
                terms=terms(one.name),
            )
            for one in self.tables
        )
        return Document(program, self.version, tuple(self.parameters), tables, tuple(self.problems))


@dataclass(frozen=True)
class Reader:
    """Knows what one program prints."""

    name: str
    reads: str
    """The programs, or what of their output, in a few words."""
    signature: re.Pattern[str]
    """Found in every text of the program and in no other's."""
    fill: Callable[[Draft], None]
    """Reads a draft's text into it; may raise ParseError where the text contradicts itself."""
    terms: Callable[[str], Terms] = unstated
    """What the columns of a table share, by its name."""
    marks: tuple[str, ...] = ()
    """Words of which any line with the signature has one; without them it is looked for everywhere."""
    unless: re.Pattern[str] | None = None
    """Found in no text of the program: that of another one, which reads this one's part too."""
    among: Among | None = None
    """What the program prints inside its tables; without it what is no row there is not told."""

    def recognises(self, text: str) -> bool:
        """Return whether the program wrote a text, or one rank of it did."""
        return any(self._wrote(part.text) for part in streams(text))

    def _wrote(self, text: str) -> bool:
        return _marks.has(text, self.signature, self.marks, self.unless)

    def read(self, text: str, work: Work | None = None) -> Document:
        """Return what a text says; never raises for what stands in it. `work`: what of the log's limits is taken.

        Where ranks are told apart, those that this program wrote are read one after the other.
        """
        parts = streams(text)
        known = [part for part in parts if self._wrote(part.text)] or parts[:1]
        draft = Draft("", work=work or Work())
        for part in known:
            before = len(draft.tables)
            draft.text, draft.numbers, draft.line = part.text, part.numbers, 0
            try:
                self.fill(draft)
                for problem in _prefixed.strays(part, draft, before, self.among, Draft, self.fill):
                    draft.problem(*problem)
            except ParseError as error:
                draft.problem(error.what, "refused")
            for problem in _rows.odd(part.odd, draft.tables[before:]):
                draft.problem(*problem)
            if part.rank:
                for table in draft.tables[before:]:
                    table.parameters.append(Parameter(*part.told))
        for problem in _rows.headless(known, parts, draft.tables):
            draft.problem(*problem)
        return draft.document(self.name, self.terms)


def printed_row(columns: Sequence[Column], words: Sequence[str], *, least: float = 0.0) -> dict[str, Value]:
    """Return the words of a row in their printed units by head; raises ParseError for what is no number there.

    So it does where there are more or fewer words than columns.
    """
    if len(words) != len(columns):
        raise ParseError(f"the row has {counted(len(words), 'word')}, and the table {counted(len(columns), 'column')}")
    return {column.head: column.printed(word, least=least) for column, word in zip(columns, words, strict=True)}
