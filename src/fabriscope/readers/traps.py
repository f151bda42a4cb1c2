"""Which known traps the numbers of a document have; the traps themselves are in `model/trap_table.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabriscope.model.trap_table import known_of, traps_of
from fabriscope.model.traps import Stated
from fabriscope.readers.base import Column, Document, Row, Table, Value

_COUNTS = ("repetition_count", "iteration_count", "round_trips_per_trial")
_SIZE = "message_size_bytes"


@dataclass(frozen=True)
class Trapped:
    """One trap of one column, and the lines of the rows that it concerns."""

    name: str
    column: Column
    lines: tuple[int, ...]


class TableTraps:
    """Tells the traps of a table's numbers.

    `window` is what somebody says of it where the log does not; `is_launched`: we started the program ourselves.
    """

    def __init__(
        self, document: Document, table: Table, window: float | None = None, *, is_launched: bool = False
    ) -> None:
        self._document, self._table, self._is_launched = document, table, is_launched
        self._said = {one.name: one.value for one in (*document.parameters, *table.parameters)}
        self._window = _number(self._said, "window_size") or window
        sizes = [row.number(_SIZE) for row in table.rows]
        self._largest = max((size for size in sizes if size > 0), default=None)

    def of(self, row: Row, column: Column) -> tuple[str, ...]:
        """Return the names of one number's traps."""
        value = row.number(column.name)
        if math.isnan(value) or not known_of(self._document.program, self._table.name, column.name):
            return ()
        stated = Stated(
            self._document.program, self._table.name, column.name, column.definition, column.printed_in,
            self._document.version, self._said, size_bytes=_number(row.values, _SIZE),
            largest_size_bytes=self._largest, window=_number(row.values, "window_size") or self._window,
            count=next((count for name in _COUNTS if (count := _number(row.values, name)) is not None), None),
            value=value, time_s=_number(row.values, "time_s"), is_launched=self._is_launched,
        )  # fmt: skip
        return traps_of(stated)

    def all(self) -> list[Trapped]:
        """Return the traps of all numbers, column by column."""
        found: dict[tuple[str, Column], list[int]] = {}
        for column in self._table.columns:
            if known_of(self._document.program, self._table.name, column.name):
                for row in self._table.rows:
                    for name in self.of(row, column):
                        found.setdefault((name, column), []).append(row.line)
        return [Trapped(name, column, tuple(lines)) for (name, column), lines in found.items()]


def _number(values: Mapping[str, Value], name: str) -> float | None:
    value = values.get(name)
    return value if isinstance(value, int | float) else None
