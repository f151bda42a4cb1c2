"""What readers read, as text for a terminal, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from fabriscope.model.counting import counted
from fabriscope.model.errors import ParseError, printable
from fabriscope.model.trap_table import TRAPS
from fabriscope.readers.base import Column, Document, Parameter, Problem, Row, Table, Unit, Value
from fabriscope.readers.terms import Terms
from fabriscope.readers.traps import TableTraps

Documents = Sequence[tuple[str, Document]]
"""Name of a file, and what it says."""
SHOWN: dict[Unit, tuple[str, float]] = {
    "": ("", 1.0),
    "bytes": ("B", 1.0),
    "ns": ("µs", 1e-3),
    "s": ("s", 1.0),
    "bytes_per_s": ("MB/s", 1e-6),
    "per_s": ("1/s", 1.0),
    "flop_per_s": ("Gflop/s", 1e-9),
    "percent": ("%", 1.0),
}
"""A document's unit to the one that a terminal shows, with its factor; a MB has 10^6 bytes."""
DIGITS = 15
"""Of a number in JSON and CSV: what a unit's factor added to the digits that were printed goes."""
MOST_CHARACTERS = 60
MOST_PROBLEMS = 20


def as_text(documents: Documents, _errors: Sequence[ParseError]) -> str:
    """Return tables with aligned columns, and under them what each column is."""
    lines: list[str] = []
    for name, document in documents:
        version = f" {_word(document.version)}" if document.version else ""
        lines += [f"{printable(name)}: {document.program}{version}", *_parameters(document.parameters)]
        for (title, columns), tables in groupby(document.tables, key=lambda table: (table.name, table.columns)):
            lines += _tables(document, title, columns, [*tables])
        lines += [f"  {_sentence(problem)}" for problem in document.problems[:MOST_PROBLEMS]]
        more = len(document.problems) - MOST_PROBLEMS
        lines += [f"  and {more} more like these"] if more > 0 else []
        lines.append("")
    return "\n".join(lines)


def as_json(documents: Documents, errors: Sequence[ParseError]) -> str:
    """Return one object, each row on a line; a number that is none (nan, inf) is null."""
    found = ",\n".join(_document(name, document) for name, document in documents)
    unread = [{"file": error.where, "text": error.what} for error in errors]
    return f'{{"documents": [{found}],\n"errors": {_dumps(unread)}}}\n'


def as_csv(documents: Documents, _errors: Sequence[ParseError]) -> str:
    """Return one table of all rows; a column is empty where a row has no such number."""
    tables = [(name, document, table) for name, document in documents for table in document.tables]
    names = dict.fromkeys(column.name for _, _, table in tables for column in table.columns)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "program", "version", "table", "line", *names])
    for name, document, table in tables:
        start = [_cell(text) for text in (name, document.program, document.version or "", table.name)]
        for row in table.rows:
            values = [_cell(_plain(row.values.get(column))) for column in names]
            writer.writerow([*start, row.line, *values])
    return out.getvalue()


def _parameters(parameters: Iterable[Parameter]) -> list[str]:
    shown = [f"{_word(one.name)}: {_shown(one.value, one.unit)} {SHOWN[one.unit][0]}".rstrip() for one in parameters]
    return [f"  {', '.join(shown)}"] if shown else []


def _tables(document: Document, title: str, columns: Sequence[Column], tables: Sequence[Table]) -> list[str]:
    """Return tables that follow each other and have the same columns, and once under them what the columns are."""
    rows = [row for table in tables for row in table.rows]
    columns = [column for column in columns if any(column.name in row.values for row in rows)]
    if not rows:
        return []
    lines: list[str] = []
    for parameters, alike in groupby(tables, key=lambda table: table.parameters):
        if part := [row for table in alike for row in table.rows]:
            lines += ["", _word(title), *_parameters(parameters), *_grid(columns, part)]
    return [*lines, *_definitions(columns, tables[0].terms), *_traps(document, tables, len(rows))]


def _grid(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    units = [SHOWN[column.unit][0] for column in columns]
    cells = [[_shown(row.values.get(column.name), column.unit) for column in columns] for row in rows]
    grid = [[column.title for column in columns], *([units] if any(units) else []), *cells]
    widths = [max(len(line[place]) for line in grid) for place in range(len(columns))]
    return ["".join(f"  {cell:>{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in grid]


def _definitions(columns: Sequence[Column], terms: Terms) -> list[str]:
    """Return what each column is, of bytes the unit that the program prints too, and what the columns share."""
    says: list[tuple[str, str]] = []
    for column in columns:
        unit = SHOWN[column.unit][0]
        is_other = column.unit in ("bytes", "bytes_per_s") and column.printed_in not in ("", "B")
        printed = f"; printed in {column.printed_in}" if is_other else ""
        says.append((f"{column.title}{f' ({unit})' if unit else ''}", f"{column.definition}{printed}"))
    says += [
        (name, text)
        for name, text in (("timing", terms.timing), ("buffers", terms.buffers), ("bytes counted", terms.bytes_counted))
        if text
    ]
    width = max(len(head) for head, _ in says)
    return [f"    {head.ljust(width)}  {text}" for head, text in says]


def _traps(document: Document, tables: Sequence[Table], row_count: int) -> list[str]:
    """Return the known traps of the tables' numbers, a line each with the columns and the rows that it concerns."""
    rows_of: dict[str, dict[str, int]] = {}
    for table in tables:
        for one in TableTraps(document, table).all():
            of_columns = rows_of.setdefault(one.name, {})
            of_columns[one.column.title] = of_columns.get(one.column.title, 0) + len(one.lines)
    lines = []
    for name, of_columns in rows_of.items():
        most = max(of_columns.values())
        rows = "" if most == row_count else f" of {counted(most, 'row')}"
        lines.append(f"    trap {name}: {', '.join(of_columns)}{rows}: {TRAPS[name].sentence}")
    return lines


def _shown(value: Value | None, unit: Unit) -> str:
    if isinstance(value, str):
        return _word(value)
    if value is None or math.isnan(value):
        return "-"
    if isinstance(value, int) and SHOWN[unit][1] == 1.0:
        return str(value)
    scaled = value * SHOWN[unit][1]
    return f"{scaled:.2f}".removesuffix(".00") if 1e5 <= abs(scaled) < 1e15 else f"{scaled:.7g}"


def _word(text: str) -> str:
    """Return a text of others on one line, short, without what a terminal would obey."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}..."


def _sentence(problem: Problem) -> str:
    where = f"line {problem.line}: " if problem.line else ""
    return f"{where}{printable(' '.join(problem.text.split()))}"


def _document(name: str, document: Document) -> str:
    head = {
        "file": name,
        "program": document.program,
        "version": document.version,
        "parameters": [_parameter(one) for one in document.parameters],
        "problems": [{"line": one.line, "kind": one.kind, "text": one.text} for one in document.problems],
    }
    return _with_list(head, "tables", (_table(document, table) for table in document.tables))


def _table(document: Document, table: Table) -> str:
    terms = table.terms
    head = {
        "name": table.name,
        "line": table.line,
        "parameters": [_parameter(one) for one in table.parameters],
        "terms": {
            "timing": terms.timing or None,
            "buffers": terms.buffers or None,
            "bytes_counted": terms.bytes_counted or None,
        },
        "columns": [_column(one) for one in table.columns],
        "traps": [
            {"name": one.name, "column": one.column.name, "lines": one.lines, "text": TRAPS[one.name].sentence}
            for one in TableTraps(document, table).all()
        ],
    }
    return _with_list(head, "rows", (_dumps(_row(row)) for row in table.rows))


def _with_list(head: dict[str, Any], name: str, items: Iterable[str]) -> str:
    """Return an object with one more member, whose items stand on a line each."""
    inside = ",\n".join(items)
    return f'{_dumps(head)[:-1]},\n"{name}": [{f"{chr(10)}{inside}" if inside else ""}]}}'


_dumps = json.JSONEncoder(allow_nan=False).encode
"""Without indents, which are ten times as slow."""


def _column(column: Column) -> dict[str, str | None]:
    return {
        "name": column.name,
        "unit": column.unit,
        "definition": column.definition,
        "printed_as": column.head,
        "printed_in": column.printed_in or None,
    }


def _parameter(parameter: Parameter) -> dict[str, Value | None]:
    return {"name": parameter.name, "value": _plain(parameter.value), "unit": parameter.unit}


def _row(row: Row) -> dict[str, object]:
    derived = {"derived": row.derived} if row.derived else {}
    return {"line": row.line, "values": {name: _plain(value) for name, value in row.values.items()}} | derived


def _plain(value: Value | None) -> Value | None:
    """Return a value with the digits that it was printed with; None for what is no number."""
    if value is None or isinstance(value, str | int):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _cell(value: Value | None) -> Value | None:
    """Return a cell of a table that a spreadsheet does not run, and a terminal does not obey."""
    if not isinstance(value, str):
        return value
    text = printable(" ".join(value.split()))
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
