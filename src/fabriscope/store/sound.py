"""What of a run may be believed: its manifest, each line of its journal, and each file that a line names.

Everything is compared with its digest before it is read. What is not as it was written is left out by name, and the
rest is told; of folders of older versions, which kept no digests, what cannot be read is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope.model.errors import StoreError
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import AddedLaunches, FileDigests, LaunchRecord
from fabriscope.model.record import Line as Record
from fabriscope.model.run_data import IDLE_COUNTERS
from fabriscope.store import counters, inside, journal, marks, samples, seal
from fabriscope.store.files import PLAN_NAME
from fabriscope.store.manifest import MANIFEST_NAME

CHANGED = "it was changed after it was written"
VERIFY = "`fabriscope verify` lists all that was changed; restore the folder from a copy"


@dataclass(frozen=True)
class Sound:
    """What is left of a journal when all that is damaged is left out."""

    lines: tuple[Record, ...]
    counting: tuple[LaunchRecord, ...]
    """The record of each launch that counts, in order."""
    notes: tuple[str, ...]
    """What was left out, and why: a sentence each."""


class Reader:
    """Checks one folder, and remembers which of its files were as they should be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: dict[tuple[str, str], tuple[int, int, int]] = {}
        self._begin = ""
        self._believed: list[journal.Line] = []
        """The first lines of the journal, as far as each follows on the one before it, and the first on `_begin`."""

    def seal_notes(self, is_sealed: bool) -> tuple[list[str], int]:
        """Check the manifest and the plan against the seal; return what is to be told, and how many lines it counts.

        Raises StoreError for a manifest that was changed: everything rests on it.
        """
        try:
            stated = seal.load(self._path)
        except inside.MissingFile:
            return ([f"{seal.SEAL_NAME} is missing: the manifest was compared with nothing"] if is_sealed else []), 0
        except StoreError as error:
            return [f"the manifest was compared with nothing: {error}"], 0
        notes = []
        for name, digests in stated.files.items():
            what = self._wrong_bytes(name, digests.sha256)
            if what and name == MANIFEST_NAME:
                raise StoreError(what + self._place(digests), where=str(self._path / name), fix=VERIFY)
            if what:
                kept = "; the manifest has the plan that was measured" if name == PLAN_NAME else ""
                notes.append(f"{name}: {what}{kept}")
        return notes, stated.launch_count

    def sound(self, lines: Sequence[journal.Line], manifest: Manifest) -> Sound:
        """Return what is as it was written of these lines and the files that they name."""
        records: list[Record] = []
        notes: list[str] = []
        unread: list[str] = []
        known = _Known(manifest)
        for line, problem in zip(lines, self._problems(lines), strict=True):
            what = problem or known.stranger(line.record)
            if what or line.record is None:
                (unread if line.record is None else notes).append(
                    f"{_called(line.record, line.number)} left out: {journal.JOURNAL_NAME}, line {line.number}: {what}"
                )
                continue
            records.append(line.record)
            known.take(line.record)
        notes += unread[: journal.MOST_NAMED]
        if len(unread) > journal.MOST_NAMED:
            notes.append(
                f"{len(unread)} lines of {journal.JOURNAL_NAME} are damaged, of which the first are named here"
            )
        while True:
            counting = journal.that_count(records)
            damaged = {id(record): wrong for record in counting if (wrong := next(self.damage(record), None))}
            if not damaged:
                return Sound(tuple(records), counting, tuple(notes))
            notes += [
                f"{_called(record, 0)} left out: {damaged[id(record)]}" for record in counting if id(record) in damaged
            ]
            records = [record for record in records if id(record) not in damaged]

    def damage(self, record: LaunchRecord, *, with_raw: bool = False) -> Iterator[str]:
        """Yield what is wrong with each file that a launch's record names, as `samples/launch-0003.parquet: ...`."""
        digests = None if record.seal is None else record.seal.files
        names = [name for name in (record.samples, record.counters) if name]
        names += [name for name in digests or () if with_raw and name not in names]
        for name in names:
            if digests is None:
                what = self._unreadable(name)
            elif name not in digests:
                what = "the journal has no digest of it"
            else:
                what = self._wrong_bytes(name, digests[name].sha256) or self._wrong_columns(name)
            if what:
                yield f"{name}: {what}"

    def idle_note(self, records: Sequence[Record]) -> str:
        """Return what is wrong with the file of what idle hosts counted; nothing where it is whole."""
        for record in records:
            if not isinstance(record, LaunchRecord) or record.idle_counters != IDLE_COUNTERS or record.seal is None:
                continue
            if IDLE_COUNTERS in record.seal.files:
                what = self._wrong_bytes(IDLE_COUNTERS, record.seal.files[IDLE_COUNTERS].sha256)
                return f"{IDLE_COUNTERS} is left out: {what}" if what else ""
        return ""

    def _problems(self, lines: Sequence[journal.Line]) -> Iterator[str]:
        """Yield for each line why it may not be believed; nothing for one that is as it was written.

        A line that was believed on an earlier reading, with all before it, is not computed again.
        """
        older = b"".join(line.raw + b"\n" for line in _older(lines))
        begin = seal.origin(inside.read_bytes(self._path, MANIFEST_NAME), older)
        chains, is_begun = {begin}, False
        believed = self._believed if self._begin == begin else []
        self._begin, self._believed = begin, []
        for place, line in enumerate(lines):
            stated = seal.chain_of(line.document or {})
            if line.document is None:
                chains = set()
                yield f"it is damaged: {line.problem}"
            elif stated is None:
                yield "it has no digests, and a line before it has" if is_begun else ""
            elif place < len(believed) and believed[place] is line and len(self._believed) == place:
                chains, is_begun = {stated}, True
                self._believed.append(line)
                yield ""
            else:
                computed = {seal.chain(line.document, before) for before in chains}
                is_right = not chains or stated in computed
                is_first = len(self._believed) == place and computed == {stated}
                self._believed += [line] if is_first else []
                chains, is_begun = {stated, *computed}, True
                yield "" if is_right else _what_changed(line.document)

    def _wrong_bytes(self, name: str, sha256: str) -> str:
        try:
            about = inside.path_of(self._path, name).stat()
            seen = (about.st_size, about.st_mtime_ns, about.st_ino)
            if self._checked.get((name, sha256)) == seen:
                return ""
            if seal.sha256(inside.read_bytes(self._path, name)) != sha256:
                return CHANGED
        except FileNotFoundError:
            return "the file is missing"
        except StoreError as error:
            return error.what
        except OSError as error:
            return f"it cannot be read: {error.strerror}"
        self._checked[name, sha256] = seen
        return ""

    def _wrong_columns(self, name: str) -> str:
        """Return what is wrong with the columns of a file that has its digest: the journal may be anybody's, too."""
        return self._unreadable(name, with_rows=False) if name.endswith(".parquet") else ""

    def _unreadable(self, name: str, *, with_rows: bool = True) -> str:
        """Return why a file cannot be read, which is all that can be told without a digest."""
        key = (name, "rows" if with_rows else "columns")
        try:
            about = inside.path_of(self._path, name).stat()
            seen = (about.st_size, about.st_mtime_ns, about.st_ino)
            if self._checked.get(key) == seen:
                return ""
            if name.endswith(".json.gz"):
                counters.load(inside.path_of(self._path, name))
            else:
                samples.check(inside.read_bytes(self._path, name), with_rows=with_rows)
        except FileNotFoundError:
            return "the file is missing"
        except StoreError as error:
            return error.what
        except (OSError, ValueError) as error:
            return str(error)
        self._checked[key] = seen
        return ""

    def _place(self, digests: FileDigests) -> str:
        """Return where the manifest was changed, as far as its marks tell."""
        try:
            where = marks.locate_field(digests.marks, inside.parse(inside.read_bytes(self._path, MANIFEST_NAME)))
        except ValueError:
            return ""
        return f" ({where})" if where else ""


def _older(lines: Sequence[journal.Line]) -> Iterator[journal.Line]:
    """Yield the lines of a version that wrote no digests, which stand before all others."""
    for line in lines:
        if line.document is None or seal.FIELD in line.document:
            return
        yield line


def _what_changed(document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != seal.FIELD}
    try:
        where = marks.locate_field(document[seal.FIELD]["marks"], content)
    except ValueError:
        where = seal.FIELD
    return f"{where}: {CHANGED}" if where else "it does not follow on the line before it"


class _Known:
    """The names that the manifest, and the lines so far, give to something."""

    def __init__(self, manifest: Manifest) -> None:
        self._entries = manifest.entries
        self._cases = set(manifest.cases)
        self._launches = {launch.launch_id for launch in manifest.schedule}

    def take(self, record: Record) -> None:
        """Know what a line adds."""
        if isinstance(record, AddedLaunches):
            self._cases.update(record.cases)
            self._launches.update(launch.launch_id for launch in record.schedule)

    def stranger(self, record: Record | None) -> str:
        """Return which name in a record stands for nothing, or is given to something else already."""
        if isinstance(record, AddedLaunches):
            entries = [launch.entry_id for launch in record.schedule]
            names = [case_id for launch in record.schedule for case_id in launch.case_ids]
            numbers = [launch.launch_id for launch in record.schedule]
            known = {*self._cases, *record.cases}
        else:
            entries = [record.entry_id] if record is not None and record.entry_id else []
            names = list(record.results) if record is not None else []
            numbers, known = [], self._cases
        missing = next((name for name in entries if name not in self._entries), None)
        if missing is not None:
            return f"there is no entry {missing!r}"
        missing = next((name for name in names if name not in known), None)
        if missing is not None:
            return f"there is no case {missing!r}"
        counts = Counter([*numbers, *(number for number in set(numbers) if number in self._launches)])
        number, count = counts.most_common(1)[0] if counts else (0, 0)
        return f"launch {number} is scheduled twice" if count > 1 else ""


def _called(record: Record | None, number: int) -> str:
    if record is None:
        return f"line {number} is"
    if isinstance(record, AddedLaunches):
        return f"round {record.added} of added launches is"
    return f"launch {record.launch_id}{f', attempt {record.attempt},' if record.attempt > 1 else ''} is"
