"""Which of our quantities the numbers of a log are; a number with no definition of ours keeps its program's name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fabriscope.model.case import SocketOptions
from fabriscope.model.errors import ParseError
from fabriscope.model.metrics import metric_of, unit_of
from fabriscope.readers.base import Column, Document, Row, Table
from fabriscope.readers.osu import RIGHT
from fabriscope.readers.traps import TableTraps
from fabriscope.running import log_series
from fabriscope.running.log_definitions import definition_of
from fabriscope.running.log_labels import Said
from fabriscope.running.log_ours import Ours

_LAYERS = {
    "osu": "mpi", "imb": "mpi", "iperf3": "tcp", "iperf2": "tcp", "perftest": "verbs", "rping": "verbs", "nccl": "nccl",
}  # fmt: skip
"""Program to the layer that it measures, but for what says that it went over UDP."""
_SIZE = "message_size_bytes"
_CHECKS = {"check": ("PASSED",), "validation": (*RIGHT, "skipped"), "verification": ("SUCCESSFUL",)}
"""Columns in which a program says whether the result of the row is right, and what it says where it is."""
_WORD = re.compile(r"[^a-z0-9]+")


def layer_of_table(document: Document, table: Table) -> str:
    """Return the layer of a table: its program's, TCP or UDP where a log says which, or else the program."""
    stated = {one.name: one.value for one in (*document.parameters, *table.parameters)}
    layer = _LAYERS.get(document.program, document.program)
    protocol = str(stated.get("protocol", "")).lower()
    return protocol if layer in ("tcp", "sockperf") and protocol in ("tcp", "udp") else layer


@dataclass(frozen=True)
class LogValue:
    """One number of a log."""

    benchmark: str
    series: str
    window_size: int
    message_size_bytes: int
    metric_id: str
    value: float
    line: int
    traps: tuple[str, ...] = ()
    """The known traps that it has, by name."""
    is_below: bool = False
    """It is 0, which is less than what its program prints: no number."""


@dataclass(frozen=True)
class LogTable:
    """The numbers of one table, and what of it was left out."""

    values: tuple[LogValue, ...]
    left_out: tuple[str, ...] = ()
    unlike: str = ""
    """Why its numbers are none of our quantities, where one would expect that."""
    socket: SocketOptions = field(default_factory=SocketOptions)
    """What the program is known to set."""
    parameters: tuple[tuple[str, str], ...] = ()


def of_table(document: Document, table: Table, beside: Said) -> LogTable:
    """Return what a table says in our quantities; `beside` is what the user says of the log."""
    stated = {one.name: one.value for one in (*document.parameters, *table.parameters)}
    kept_as = definition_of(document, table, beside)
    ours, said, window = kept_as.ours, stated.get("window_size"), beside.window
    traps = TableTraps(document, table, window)
    if isinstance(said, int | float) and said >= 1:
        window = int(said)
    elif ours is None or not ours.has_window:
        window = None
    of_table = log_series.of_table(document, table, ours)
    found: dict[tuple[str, int, int, str], LogValue] = {}
    twice: dict[tuple[str, int, int, str], int] = {}
    left_out: dict[str, None] = {}
    for row in table.rows:
        if wrong := _wrong(row):
            left_out[f"{table.name}: the result in line {row.line} is not right: {wrong}"] = None
            continue
        series = ", ".join(part for part in (of_table, *log_series.of_row(document.program, row, ours)) if part)
        size = int(row.number(_SIZE)) if _SIZE in row.values else int(kept_as.size_bytes or stated.get(_SIZE) or 0)
        size *= kept_as.size_factor
        own = int(row.number("window_size")) if "window_size" in row.values else window
        for benchmark, metric_id, column in _of_row(document.program, table, row, ours):
            value, key = row.number(column.name), (series, size, own or 1, metric_id)
            if key in found:
                twice[key] = row.line
            elif value > 0 or (value == 0 and unit_of(metric_id).can_be_zero):
                told = traps.of(row, column)
                found[key] = LogValue(benchmark, series, own or 1, size, metric_id, value, row.line, told)
            elif size or not unit_of(metric_id).is_rate:
                left_out[f"{table.name}: line {row.line} has {value:g}, which is below what the program prints"] = None
                found[key] = LogValue(benchmark, series, own or 1, size, metric_id, value, row.line, is_below=True)
    if twice:
        lines = f"lines {min(found[key].line for key in twice)} to {max(twice.values())}"
        left_out[f"{table.name}: {lines} have several rows of one size, and nothing here tells them apart"] = None
    found = {key: value for key, value in found.items() if key not in twice}
    socket = ours.socket if ours is not None else SocketOptions()
    return LogTable(tuple(found.values()), tuple(left_out), kept_as.why_not, socket, kept_as.parameters)


def _wrong(row: Row) -> str:
    """Return what a program says against a row's own result; nothing where it is right, or nobody looked."""
    for name, right in _CHECKS.items():
        if row.values.get(name, right[0]) not in right:
            return f"{name} {row.values[name]}"
    counts = [name for name in row.values if name.endswith("wrong_count") and row.number(name) > 0]
    return f"{row.number(counts[0]):.0f} elements are wrong" if counts else ""


def _of_row(program: str, table: Table, row: Row, ours: Ours | None) -> Iterator[tuple[str, str, Column]]:
    """Yield benchmark, metric id and column of a row's numbers."""
    for column in table.columns:
        is_setting = column.name in ("window_size", _SIZE) or column.unit in ("", "bytes")
        if is_setting or not math.isfinite(row.number(column.name)):
            continue
        if ours is None:
            if metric_id := _foreign_metric(program, table, column.name):
                yield _slug(f"{program} {table.name}"), metric_id, column
        elif column.name in (metrics := ours.metrics_of(row)):
            yield ours.benchmark, metrics[column.name], column


def _foreign_metric(program: str, table: Table, column: str) -> str:
    """Return the id of a quantity that only its program defines; nothing for a column whose unit no metric has."""
    metric_id = f"{_slug(f'{program} {table.name}')}_{column}"
    try:
        metric_of(metric_id)
    except ParseError:
        return ""
    return metric_id


def _slug(text: str) -> str:
    words = [word for word in _WORD.split(text.lower()) if word]
    return "_".join(word for place, word in enumerate(words) if word not in words[:place])
