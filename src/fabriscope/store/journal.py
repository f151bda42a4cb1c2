"""The journal: one line of JSON for each launch, or for launches that are added, and never one without its newline."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.foreign import JsonObject
from fabriscope.model.record import AddedLaunches, LaunchRecord
from fabriscope.model.record import Line as Record
from fabriscope.store import inside, shapes
from fabriscope.store.additions import ADDED
from fabriscope.store.files import to_json

JOURNAL_NAME = "journal.jsonl"
MOST_NAMED = 3
"""Damaged lines that are named one by one; of more, their number is told."""
_FOLDER_GONE = "the run's folder is not there any more: it was moved or removed while the run wrote to it"
_CHANGED_MEANWHILE = (
    "what was written to the journal is gone or was changed: something else removed it or wrote to it during the run"
)


@dataclass(frozen=True)
class Line:
    """One whole line of the journal."""

    number: int
    raw: bytes
    """Without its newline."""
    document: JsonObject | None
    """Its JSON, over which its digests are made; None where there is no record in it."""
    record: Record | None
    problem: str = ""
    """Why there is no record in it."""


class Journal:
    """The journal of one folder, kept in memory: a line is read once, and again only if the file was changed.

    While the folder is locked nothing but what we wrote may stand there: anything else is a StoreError.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL_NAME
        self._folder = folder
        self.is_locked = False
        self._forget()

    def _forget(self) -> None:
        self._lines: list[Line] = []
        self._records: list[Record] = []
        self._sound_bytes = 0
        self._torn = b""
        """What stands behind the lines; an append cuts it, even one that then fails."""
        self._seen: tuple[int, ...] | None = None
        """By what we would notice that the file is another than it was when it was read or written last."""
        self._damaged: Line | None = None
        self._attempts: Counter[int] = Counter()
        self.has_idle = False
        """Whether a launch's line names the file of what idle hosts counted."""

    def lock(self) -> None:
        """Take what stands there now for ours; until `unlock` it must stay so."""
        self.refresh()
        self.is_locked = True

    def unlock(self) -> None:
        """Let others write again."""
        self.is_locked = False

    def refresh(self) -> None:
        """Read what was added since; raises StoreError where it cannot be read, or was changed under our lock."""
        seen = _signature(self._path)
        if seen is not None and seen == self._seen:
            return
        if self.is_locked and not self._folder.is_dir():
            fix = "`fabriscope run --resume` goes on where it was moved to; what was removed takes a new run"
            raise StoreError(_FOLDER_GONE, where=str(self._folder), fix=fix)
        content = _content_of(self._folder)
        sound = content[: self._sound_bytes]
        is_as_it_was = sound == b"".join(line.raw + b"\n" for line in self._lines)
        if self.is_locked:
            if not is_as_it_was or content[self._sound_bytes :] not in (b"", self._torn):
                fix = "`fabriscope verify` says what is left; start a new run"
                raise StoreError(_CHANGED_MEANWHILE, where=str(self._path), fix=fix)
        elif not is_as_it_was:
            self._forget()
        if not self.is_locked:
            more, length = lines_of(content[self._sound_bytes :], len(self._lines))
            for line in more:
                self._take(line)
            self._sound_bytes += length
        self._torn = content[self._sound_bytes :]
        self._seen = seen

    @property
    def lines(self) -> Sequence[Line]:
        """Return every whole line, damaged ones too; raises as `refresh` does."""
        self.refresh()
        return self._lines

    @property
    def is_torn(self) -> bool:
        """Return whether something stands behind the lines; raises as `refresh` does."""
        self.refresh()
        return bool(self._torn)

    @property
    def records(self) -> Sequence[Record]:
        """Return the record of every line, in order; raises StoreError for a line that is damaged."""
        self.refuse_damaged()
        return self._records

    def refuse_damaged(self) -> None:
        """Raise StoreError for a line that is damaged, and as `refresh` does."""
        self.refresh()
        if self._damaged is not None:
            raise StoreError(
                f"this line of the journal is damaged: {self._damaged.problem}",
                where=f"{self._path}:{self._damaged.number}",
                fix="restore the folder from a copy, or remove the line to do without that launch",
            )

    @property
    def content(self) -> bytes:
        """Return the bytes of the lines."""
        return b"".join(line.raw + b"\n" for line in self._lines)

    def attempts_at(self, launch_id: int) -> int:
        """Return how many records there are of a launch."""
        return self._attempts[launch_id]

    def append(self, document: JsonObject) -> None:
        """Append one line behind the sound ones and wait until it is on the disk; what is torn behind them is cut.

        When the disk is full the journal is left as it was, and OSError is raised; ValueError for a line that could not
        be read back.
        """
        raw = to_json(document)
        line = line_of(len(self._lines) + 1, raw)
        if line.record is None:
            raise ValueError(f"it cannot be recorded: {line.problem}")
        _append(self._path, raw + b"\n", self._sound_bytes)
        self._torn, self._seen = b"", _signature(self._path)
        self._take(line)
        self._sound_bytes += len(raw) + 1

    def _take(self, line: Line) -> None:
        self._lines.append(line)
        if line.record is None:
            self._damaged = self._damaged or line
            return
        self._records.append(line.record)
        if isinstance(line.record, LaunchRecord):
            self._attempts[line.record.launch_id] += 1
            self.has_idle = self.has_idle or bool(line.record.idle_counters)


def lines_of(content: bytes, before: int = 0) -> tuple[list[Line], int]:
    """Return the lines, and the length in bytes up to which they go; `before` counts those above them.

    A last line that is torn (no newline, or no JSON: the machine stopped while it was written) does not count.
    """
    *texts, rest = content.split(b"\n")
    lines = [line_of(number, raw) for number, raw in enumerate(texts, start=before + 1)]
    if not rest and lines and lines[-1].record is None and not _is_json(lines[-1].raw):
        del lines[-1]
    return lines, sum(len(line.raw) + 1 for line in lines)


def that_count(records: Sequence[Record]) -> tuple[LaunchRecord, ...]:
    """Return the record of each launch that counts, in order.

    Of several attempts at one launch the last one counts, unless an earlier one measured more of its cases: a retry
    that fared worse takes nothing away. What was measured has no say in it.
    """
    best: dict[int, tuple[int, int]] = {}
    launches = [record for record in records if isinstance(record, LaunchRecord)]
    for place, record in enumerate(launches):
        ranked = record.ok_count, place
        best[record.launch_id] = max(ranked, best.get(record.launch_id, ranked))
    places = {place for _, place in best.values()}
    return tuple(record for place, record in enumerate(launches) if place in places)


def line_of(number: int, raw: bytes) -> Line:
    """Return a line with its record, or with what is wrong with it."""
    try:
        document = inside.parse_object(raw)
        whole = inside.whole_characters(raw, document)
        is_added = isinstance(whole, dict) and ADDED in whole
        record: Record = shapes.decode(whole, AddedLaunches) if is_added else shapes.decode(whole, LaunchRecord)
    except ValueError as error:
        return Line(number, raw, None, None, str(error))
    return Line(number, raw, document, record)


def _content_of(folder: Path) -> bytes:
    """Return the journal's bytes; none where no launch has ended yet. Raises StoreError if it cannot be read."""
    try:
        return inside.read_bytes(folder, JOURNAL_NAME)
    except inside.MissingFile:
        return b""


def _signature(path: Path) -> tuple[int, ...] | None:
    """Return what changes when somebody writes to a file, replaces it or removes it; None where there is none."""
    try:
        about = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _append(path: Path, content: bytes, sound_bytes: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(descriptor, sound_bytes)
        os.lseek(descriptor, sound_bytes, os.SEEK_SET)
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, sound_bytes)
            raise
    finally:
        os.close(descriptor)


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
