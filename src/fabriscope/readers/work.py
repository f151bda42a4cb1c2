"""How much a log may hold: more costs more time and memory than is promised.

The limits are of a log, whoever wrote it: what several programs, or ranks, say in it counts together. Whatever a line,
a table or a number costs to read, these bound the whole (docs/readers.md has what was measured).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from fabriscope.model.errors import ParseError

MOST_LINES = 120_000
"""Lines that are read, once for each program and rank that reads them."""
MOST_ROWS, MOST_VALUES = 40_000, 185_000
"""Of tables, and numbers and words in them: 36,000 rows have five each."""
MOST_TABLES = 4_000
MOST_COLUMNS = 400
"""Different ones of all tables."""
MOST_PARAMETERS = 20_000
MOST_PROBLEMS = 2_000
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@lru_cache(maxsize=2)
def line_count(text: str) -> int:
    """Return how many lines a text has at most, without splitting it."""
    return sum(map(text.count, _LINE_ENDS[:7] if text.isascii() else _LINE_ENDS)) - text.count("\r\n") + 1


@dataclass
class Work:
    """What has been taken of the limits so far; each step raises ParseError beyond one of them."""

    lines: int = 0
    rows: int = 0
    values: int = 0
    tables: int = 0
    parameters: int = 0
    problems: int = 0
    columns: set[str] = field(default_factory=set)

    def lines_left(self) -> int:
        """Return how many more lines may be read."""
        return MOST_LINES - self.lines

    def take_lines(self, count: int) -> None:
        """Take lines."""
        self.lines += count
        if self.lines > MOST_LINES:
            raise _too_much(MOST_LINES, "lines (counted for each program and rank that reads them)")

    def hold_rows(self, count: int) -> None:
        """Raise ParseError where so many more rows, which are to be taken later, are too many."""
        if self.rows + count > MOST_ROWS:
            raise _too_much(MOST_ROWS, "rows")

    def take_row(self, value_count: int) -> None:
        """Take a row with so many values."""
        self.hold_rows(1)
        self.rows += 1
        self.values += value_count
        if self.values > MOST_VALUES:
            raise _too_much(MOST_VALUES, "numbers in tables")

    def take_table(self) -> None:
        """Take a table."""
        self.tables += 1
        if self.tables > MOST_TABLES:
            raise _too_much(MOST_TABLES, "tables")

    def take_columns(self, names: Iterable[str]) -> None:
        """Take the columns of a table by their names."""
        self.columns.update(names)
        if len(self.columns) > MOST_COLUMNS:
            raise _too_much(MOST_COLUMNS, "different columns")

    def take_parameters(self, count: int) -> None:
        """Take parameters, of a table or of the whole."""
        self.parameters += count
        if self.parameters > MOST_PARAMETERS:
            raise _too_much(MOST_PARAMETERS, "settings")

    def take_problem(self) -> None:
        """Take a problem."""
        self.problems += 1
        if self.problems > MOST_PROBLEMS:
            raise _too_much(MOST_PROBLEMS, "places in which something is wrong")


def _too_much(most: int, what: str) -> ParseError:
    return ParseError(f"more than {most:,} {what}, which is the most of a log: cut out what is to be read")
