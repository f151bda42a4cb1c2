"""The journal: one line of JSON for each launch, or for launches that are added, and never one without its newline."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabriscope.model.errors import StoreError
from fabriscope.model.run_data import ADDED
from fabriscope.store.files import to_json


def read(path: Path) -> tuple[tuple[dict[str, Any], ...], int]:
    """Return the records in order, and the length in bytes up to which the journal is sound.

    A last line that is torn (no newline, or no JSON: the machine stopped while it was written) does not count;
    a torn line elsewhere is damage and raises StoreError.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return (), 0
    except OSError as error:
        raise StoreError(f"the journal cannot be read: {error.strerror}", where=str(path)) from error
    records: list[dict[str, Any]] = []
    sound_bytes = 0
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines if lines[-1] else lines[:-1]
    for number, line in enumerate(lines, start=1):
        record = _parse(line)
        if record is None:
            if number == len(lines):
                break
            raise StoreError(
                "this line of the journal is damaged",
                where=f"{path}:{number}",
                fix="restore the folder from a copy, or remove the line to do without that launch",
            )
        records.append(record)
        sound_bytes += len(line)
    return tuple(records), sound_bytes


def sound(path: Path) -> bytes:
    """Return the journal's content without a torn last line."""
    _, length = read(path)
    return path.read_bytes()[:length] if length else b""


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


def append(path: Path, record: dict[str, Any]) -> None:
    """Append one record and wait until it is on the disk; cuts a torn last line first.

    When the disk is full the journal is left as it was, and OSError is raised.
    """
    _, sound_bytes = read(path)
    line = to_json(record) + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
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


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and ("launch_id" in record or ADDED in record) else None


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
