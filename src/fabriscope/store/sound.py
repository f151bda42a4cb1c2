"""What of a run may be believed: its manifest, each line of its journal, and each file that a line names.

Everything is compared with its digest before it is read. What is not as it was written is left out by name, and the
rest is told; of folders of older versions, which kept no digests, what cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope.model.errors import StoreError
from fabriscope.model.run_data import ADDED, IDLE_COUNTERS
from fabriscope.store import counters, inside, journal, marks, samples, seal
from fabriscope.store.files import PLAN_NAME
from fabriscope.store.manifest import MANIFEST_NAME

CHANGED = "it was changed after it was written"
VERIFY = "`fabriscope verify` lists all that was changed; restore the folder from a copy"


@dataclass(frozen=True)
class Sound:
    """What is left of a journal when all that is damaged is left out."""

    lines: tuple[dict[str, Any], ...]
    counting: tuple[dict[str, Any], ...]
    """The record of each launch that counts, in order."""
    notes: tuple[str, ...]
    """What was left out, and why: a sentence each."""


class Reader:
    """Checks one folder, and remembers which of its files were as they should be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: dict[tuple[str, str], tuple[int, int, int]] = {}

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
        for name, digests in stated["files"].items():
            what = self._wrong_bytes(name, digests["sha256"])
            if what and name == MANIFEST_NAME:
                raise StoreError(what + self._place(digests), where=str(self._path / name), fix=VERIFY)
            if what:
                kept = "; the manifest has the plan that was measured" if name == PLAN_NAME else ""
                notes.append(f"{name}: {what}{kept}")
        return notes, stated["launch_count"]

    def sound(self, lines: Sequence[journal.Line], contents: Mapping[str, Any]) -> Sound:
        """Return what is as it was written of these lines and the files that they name."""
        records: list[dict[str, Any]] = []
        notes: list[str] = []
        unread: list[str] = []
        cases = set(contents["cases"])
        for line, problem in zip(lines, self._problems(lines), strict=True):
            record = line.record and inside.whole_characters(line.raw, line.record)
            what = problem or _stranger(record or {}, contents["entries"], cases)
            if what or record is None:
                (unread if record is None else notes).append(
                    f"{_called(record, line.number)} left out: {journal.JOURNAL_NAME}, line {line.number}: {what}"
                )
                continue
            records.append(record)
            cases.update(record.get("cases", ()) if ADDED in record else ())
        notes += unread[: journal.MOST_NAMED]
        if len(unread) > journal.MOST_NAMED:
            notes.append(
                f"{len(unread)} lines of {journal.JOURNAL_NAME} are damaged, of which the first are named here"
            )
        while True:
            counting = journal.that_count(records)
            damaged = {id(record): found for record in counting if (found := next(self.damage(record), None))}
            if not damaged:
                return Sound(tuple(records), counting, tuple(notes))
            notes += [
                f"{_called(record, 0)} left out: {damaged[id(record)]}" for record in counting if id(record) in damaged
            ]
            records = [record for record in records if id(record) not in damaged]

    def damage(self, record: Mapping[str, Any], *, with_raw: bool = False) -> Iterator[str]:
        """Yield what is wrong with each file that a launch's record names, as `samples/launch-0003.parquet: ...`."""
        digests = (record.get(seal.FIELD) or {}).get("files")
        names = [name for name in (record.get("samples"), record.get("counters")) if name]
        names += [name for name in digests or () if with_raw and name not in names]
        for name in names:
            if digests is None:
                what = self._unreadable(name)
            elif name not in digests:
                what = "the journal has no digest of it"
            else:
                what = self._wrong_bytes(name, digests[name]["sha256"]) or self._wrong_columns(name)
            if what:
                yield f"{name}: {what}"

    def idle_note(self, records: Sequence[Mapping[str, Any]]) -> str:
        """Return what is wrong with the file of what idle hosts counted; nothing where it is whole."""
        for record in records:
            digests = (record.get(seal.FIELD) or {}).get("files") or {}
            if record.get("idle_counters") == IDLE_COUNTERS and IDLE_COUNTERS in digests:
                what = self._wrong_bytes(IDLE_COUNTERS, digests[IDLE_COUNTERS]["sha256"])
                return f"{IDLE_COUNTERS} is left out: {what}" if what else ""
        return ""

    def _problems(self, lines: Sequence[journal.Line]) -> Iterator[str]:
        """Yield for each line why it may not be believed; nothing for one that is as it was written."""
        older = b"".join(line.raw + b"\n" for line in _older(lines))
        before = {seal.origin(inside.read_bytes(self._path, MANIFEST_NAME), older)}
        is_begun = False
        for line in lines:
            stated = seal.chain_of(line.record or {})
            if line.record is None:
                before = set()
                yield f"it is damaged: {line.problem}"
            elif stated is None:
                yield "it has no digests, and a line before it has" if is_begun else ""
            else:
                computed = {seal.chain(line.record, one) for one in before}
                is_right = not before or stated in computed
                before, is_begun = {stated, *computed}, True
                yield "" if is_right else _what_changed(line.record)

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

    def _place(self, digests: Mapping[str, str]) -> str:
        """Return where the manifest was changed, as far as its marks tell."""
        try:
            where = marks.locate_field(digests["marks"], inside.parse(inside.read_bytes(self._path, MANIFEST_NAME)))
        except ValueError:
            return ""
        return f" ({where})" if where else ""


def _older(lines: Sequence[journal.Line]) -> Iterator[journal.Line]:
    """Yield the lines of a version that wrote no digests, which stand before all others."""
    for line in lines:
        if line.record is None or seal.FIELD in line.record:
            return
        yield line


def _what_changed(record: Mapping[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != seal.FIELD}
    try:
        where = marks.locate_field(record[seal.FIELD]["marks"], content)
    except ValueError:
        where = seal.FIELD
    return f"{where}: {CHANGED}" if where else "it does not follow on the line before it"


def _stranger(record: Mapping[str, Any], known_entries: Mapping[str, Any], known_cases: AbstractSet[str]) -> str:
    """Return which name in a record stands for nothing that the manifest, or a line before it, has."""
    own = record["cases"] if ADDED in record else {}
    if ADDED in record:
        entries = [launch["entry_id"] for launch in record["schedule"]]
        names = [case_id for launch in record["schedule"] for case_id in launch["case_ids"]]
    else:
        entries = [record["entry_id"]] if record.get("entry_id") else []
        names = list(record.get("results") or ())
    for entry_id in entries:
        if entry_id not in known_entries:
            return f"there is no entry {entry_id!r}"
    missing = next((name for name in names if name not in known_cases and name not in own), None)
    return f"there is no case {missing!r}" if missing is not None else ""


def _called(record: Mapping[str, Any] | None, number: int) -> str:
    if record is None or ADDED in record:
        return f"line {number} is" if record is None else f"round {record[ADDED]} of added launches is"
    attempt = record.get("attempt") or 1
    return f"launch {record['launch_id']}{f', attempt {attempt},' if attempt > 1 else ''} is"
