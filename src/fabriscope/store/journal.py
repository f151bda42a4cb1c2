"""The journal: one line of JSON for each launch, or for launches that are added, and never one without its newline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope.model.errors import StoreError
from fabriscope.model.run_data import ADDED
from fabriscope.store import inside, shapes
from fabriscope.store.files import to_json

JOURNAL_NAME = "journal.jsonl"
MOST_NAMED = 3
"""Damaged lines that are named one by one; of more, their number is told."""


@dataclass(frozen=True)
class Line:
    """One whole line of the journal."""

    number: int
    raw: bytes
    """Without its newline."""
    record: dict[str, Any] | None
    problem: str = ""
    """Why there is no record in it."""


def lines_of(content: bytes, before: int = 0) -> tuple[tuple[Line, ...], int]:
    """Return the lines, and the length in bytes up to which they go; so many stand `before` them.

    A last line that is torn (no newline, or no JSON: the machine stopped while it was written) does not count.
    """
    *texts, rest = content.split(b"\n")
    lines = [line_of(number, raw) for number, raw in enumerate(texts, start=before + 1)]
    if not rest and lines and lines[-1].record is None and not _is_json(lines[-1].raw):
        del lines[-1]
    return tuple(lines), sum(len(line.raw) + 1 for line in lines)


def content_of(folder: Path) -> bytes:
    """Return the journal's bytes; none where no launch has ended yet. Raises StoreError if it cannot be read."""
    try:
        return inside.read_bytes(folder, JOURNAL_NAME)
    except inside.MissingFile:
        return b""


def records_of(folder: Path, lines: Sequence[Line]) -> tuple[dict[str, Any], ...]:
    """Return the records in order; raises StoreError for a line that is damaged."""
    for line in lines:
        if line.record is None:
            raise StoreError(
                f"this line of the journal is damaged: {line.problem}",
                where=f"{folder / JOURNAL_NAME}:{line.number}",
                fix="restore the folder from a copy, or remove the line to do without that launch",
            )
    return tuple(line.record for line in lines if line.record is not None)


def that_count(records: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the record of each launch that counts, in order.

    Of several attempts at one launch the last one counts, unless an earlier one measured more of its cases: a retry
    that fared worse takes nothing away. What was measured has no say in it.
    """
    best: dict[int, tuple[int, int]] = {}
    for place, record in enumerate(records):
        if ADDED in record:
            continue
        ranked = (sum(one.get("status") == "ok" for one in (record.get("results") or {}).values()), place)
        best[record["launch_id"]] = max(ranked, best.get(record["launch_id"], ranked))
    places = {place for _, place in best.values()}
    return tuple(record for place, record in enumerate(records) if place in places)


def append(path: Path, record: dict[str, Any], sound_bytes: int) -> None:
    """Append one record behind the sound lines and wait until it is on the disk; what is torn behind them is cut.

    When the disk is full the journal is left as it was, and OSError is raised.
    """
    line = to_json(record) + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(descriptor, sound_bytes)
        os.lseek(descriptor, sound_bytes, os.SEEK_SET)
        try:
            _write_all(descriptor, line)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, sound_bytes)
            raise
    finally:
        os.close(descriptor)


def line_of(number: int, raw: bytes) -> Line:
    """Return a line with its record, or with what is wrong with it."""
    try:
        record = inside.parse(raw)
        is_added = isinstance(record, dict) and ADDED in record
        shapes.check(record, shapes.Addition if is_added else shapes.Record)
    except ValueError as error:
        return Line(number, raw, None, str(error))
    return Line(number, raw, record)


def _is_json(raw: bytes) -> bool:
    try:
        inside.parse(raw)
    except ValueError:
        return False
    return True


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
