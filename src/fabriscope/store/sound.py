"""What of a run may be believed: its manifest, each line of its journal, and each file that a line names.

Everything is compared with its digest before it is read. What is not as it was written is left out by name, and the
rest is told; of folders of older versions, which kept no digests, what cannot be read is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import AddedLaunches, FileDigests, LaunchRecord
from fabriscope.model.record import Line as Record
from fabriscope.model.run_data import IDLE_COUNTERS
from fabriscope.store import age, counters, inside, journal, marks, samples, seal
from fabriscope.store.files import PLAN_NAME
from fabriscope.store.known import Known
from fabriscope.store.manifest import MANIFEST_NAME

CHANGED = "it was changed after it was written"
STRANGER = "it does not follow on the line before it"
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
        self._rank_counts: Mapping[str, int] = {}
        """Of each entry."""
        self._is_sealed = False
        """Whether anything in the folder has digests."""
        self._knows_manifest = False
        """Whether the manifest was compared with a digest."""
        self._begin = ""
        self._believed: list[journal.Line] = []
        """The first lines of the journal, as far as each follows on the one before it, and the first on `_begin`."""

    def seal_notes(self, planned: Manifest, lines: Sequence[journal.Line], *, is_torn: bool) -> list[str]:
        """Compare the manifest, the plan and the end of the journal with the seal; return what is to be told.

        Raises StoreError for a manifest that was changed: everything rests on it.
        """
        self._is_sealed, self._knows_manifest = True, False
        try:
            stated = seal.load(self._path)
        except inside.MissingFile:
            return self._without_seal(planned, [line.document for line in lines if line.document is not None])
        except StoreError as error:
            return [f"the manifest was compared with nothing: {error}"]
        self._knows_manifest = MANIFEST_NAME in stated.files
        notes = [] if self._knows_manifest else [f"{seal.SEAL_NAME} has no digest of {MANIFEST_NAME}"]
        for name, digests in stated.files.items():
            what = self._wrong_bytes(name, digests.sha256)
            if what and name == MANIFEST_NAME:
                raise StoreError(what + self._place(digests), where=str(self._path / name), fix=VERIFY)
            if what:
                kept = "; the manifest has the plan that was measured" if name == PLAN_NAME else ""
                notes.append(f"{name}: {what}{kept}")
        where, what = seal.wrong_end(stated, [line.document for line in lines], is_torn=is_torn)
        return [*notes, f"{journal.JOURNAL_NAME}, {where}: {what}"] if what else notes

    def _without_seal(self, planned: Manifest, documents: Sequence[Mapping[str, object]]) -> list[str]:
        self._is_sealed = any(map(seal.chain_of, documents))
        if self._is_sealed:
            return [f"{seal.SEAL_NAME} is missing: the manifest was compared with nothing"]
        other = next((name for name, case in planned.cases.items() if case.case_id != name), None)
        if other is not None:  # without digests the ids of cases, which are digests of them, are all that there is
            what = (
                f"the manifest was changed: cases.{other[:80]}: what it says is the case {planned.cases[other].case_id}"
            )
            raise StoreError(what, where=str(self._path / MANIFEST_NAME), fix=VERIFY)
        newer = age.must_be_sealed(planned.document, documents)
        what = f"{seal.SEAL_NAME} is missing, and only versions that write one write what stands in {newer}"
        return [f"{what}: nothing here was compared with a digest"] if newer else []

    def believed(self, lines: Sequence[journal.Line], manifest: Manifest) -> tuple[list[Record], list[str]]:
        """Return the records of these lines that are as they were written, and what is left out, a sentence each."""
        records: list[Record] = []
        notes: list[str] = []
        unread: list[str] = []
        known = Known(manifest)
        self._rank_counts = {name: len(entry.hosts) for name, entry in manifest.entries.items()}
        for line, problem in zip(lines, self._problems(lines, manifest), strict=True):
            what = problem or (known.stranger(line.record, line.number) if line.record is not None else "")
            if what or line.record is None:
                (unread if line.record is None else notes).append(
                    f"{_called(line.record, line.number)} left out: {journal.JOURNAL_NAME}, line {line.number}: {what}"
                )
                continue
            records.append(line.record)
            known.take(line.record, line.number)
        notes += unread[: journal.MOST_NAMED]
        if len(unread) > journal.MOST_NAMED:
            notes.append(
                f"{len(unread)} lines of {journal.JOURNAL_NAME} are damaged, of which the first are named here"
            )
        return records, notes

    def sound(self, lines: Sequence[journal.Line], manifest: Manifest) -> Sound:
        """Return what is as it was written of these lines and the files that they name."""
        records, notes = self.believed(lines, manifest)
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
        names = [name for name in (record.samples, record.counters) if name]
        names += [name for name in (record.seal.files if record.seal else ()) if with_raw and name not in names]
        for name in names:
            what = self._wrong_file(record, name)
            if what:
                yield f"{name}: {what}"

    def _wrong_file(self, record: LaunchRecord, name: str) -> str:
        """Return what is wrong with a file that a record names: by its digest, and by what it says."""
        digests = record.seal.files if record.seal is not None else None
        if digests is not None and name not in digests:
            return "the journal has no digest of it"
        what = self._wrong_bytes(name, digests[name].sha256) if digests is not None else ""
        return what or self._wrong_content(record, name)

    def idle_note(self, records: Sequence[Record]) -> str:
        """Return what is wrong with the file of what idle hosts counted; nothing where it is whole."""
        launches = (record for record in records if isinstance(record, LaunchRecord))
        named = next((record for record in launches if record.idle_counters is not None), None)
        what = self._wrong_file(named, IDLE_COUNTERS) if named is not None else ""
        return f"{IDLE_COUNTERS} is left out: {what}" if what else ""

    def _problems(self, lines: Sequence[journal.Line], manifest: Manifest) -> Iterator[str]:
        """Yield for each line why it may not be believed; nothing for one that is as it was written.

        A line that was believed on an earlier reading, with all before it, is not computed again. Raises StoreError
        where the first digest of a line says that the manifest, which no other covers, may be another.
        """
        older = self._older(lines, manifest)
        content = b"".join(line.raw + b"\n" for line in older)
        begin = seal.origin(inside.read_bytes(self._path, MANIFEST_NAME), content)
        doubt = self._doubt(lines[len(older) : len(older) + 1], begin)
        chains = {begin}
        believed = self._believed if self._begin == begin else []
        self._begin, self._believed = begin, []
        for place, line in enumerate(lines):
            stated = seal.chain_of(line.document or {})
            if line.document is None:
                chains = set()
                yield f"it is damaged: {line.problem}"
            elif place < len(older):
                yield doubt
            elif stated is None:
                chains = set()
                yield "it has no digests, and every line of this run was written with them"
            elif place < len(believed) and believed[place] is line and len(self._believed) == place:
                chains = {stated}
                self._believed.append(line)
                yield ""
            else:
                computed = {seal.chain(line.document, before) for before in chains}
                self._believed += [line] if len(self._believed) == place and computed == {stated} else []
                yield "" if stated in computed else _what_changed(line, STRANGER if chains else "")
                chains = {stated, *computed}

    def _older(self, lines: Sequence[journal.Line], manifest: Manifest) -> Sequence[journal.Line]:
        """Return the lines of a version that wrote no digests, which stand before all others.

        Where nothing has any, those are all: there may have been such a version, and what tells otherwise is noted.
        """
        if not self._is_sealed:
            return lines
        return [] if age.newer_part(manifest.document) else list(itertools.takewhile(_is_older, lines))

    def _doubt(self, first: Sequence[journal.Line], begin: str) -> str:
        """Return what is wrong with the lines before the first one that has digests, by the chain that this one has."""
        for line in first:
            document = line.document or {}
            stated = seal.chain_of(document)
            if stated is None or seal.chain(document, begin) == stated or _what_changed(line):
                break
            if not self._knows_manifest:
                what = f"it, line {line.number} of the journal or a line before that was changed after it was written"
                raise StoreError(what, where=str(self._path / MANIFEST_NAME), fix=VERIFY)
            return f"{CHANGED}, or another line before line {line.number} was"
        return ""

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

    def _wrong_content(self, record: LaunchRecord, name: str) -> str:
        """Return why a file cannot be what its record says: it may be anybody's, though its digest be right."""
        if name not in (record.samples, record.counters, record.idle_counters):
            return ""
        try:
            about = inside.path_of(self._path, name).stat()
            seen = (about.st_size, about.st_mtime_ns, about.st_ino)
            if self._checked.get((name, record.name)) == seen:
                return ""
            if name == record.samples:
                samples.check(inside.read_bytes(self._path, name), record, self._rank_counts.get(record.entry_id))
            else:
                counters.load(inside.path_of(self._path, name))
        except FileNotFoundError:
            return "the file is missing"
        except StoreError as error:
            return error.what
        except (OSError, ValueError) as error:
            return str(error)
        self._checked[name, record.name] = seen
        return ""

    def _place(self, digests: FileDigests) -> str:
        """Return where the manifest was changed, as far as its marks tell."""
        try:
            where = marks.locate_field(digests.marks, inside.parse(inside.read_bytes(self._path, MANIFEST_NAME)))
        except ValueError:
            return ""
        return f" ({where})" if where else ""


def _is_older(line: journal.Line) -> bool:
    return line.document is not None and seal.FIELD not in line.document and not age.newer_field(line.document)


def _what_changed(line: journal.Line, otherwise: str = "") -> str:
    """Return what of a line is not as its seal says; `otherwise` where its marks find nothing."""
    content = {name: value for name, value in (line.document or {}).items() if name != seal.FIELD}
    about = line.record.seal if line.record is not None else None
    try:
        where = marks.locate_field(about.marks, content) if about is not None else seal.FIELD
    except ValueError:
        where = seal.FIELD
    return f"{where}: {CHANGED}" if where else otherwise


def _called(record: Record | None, number: int) -> str:
    if record is None:
        return f"line {number} is"
    if isinstance(record, AddedLaunches):
        return f"round {record.added} of added launches is"
    return f"launch {record.launch_id}{f', attempt {record.attempt},' if record.attempt > 1 else ''} is"
