"""Is a run's folder as it was written? Every file against the digests in its seal and its journal.

Folders of versions that wrote no seal are checked for what they must have, and what cannot be told is said.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.finding import Account, Finding
from fabriscope.model.foreign import JsonObject
from fabriscope.model.record import FileDigests, LaunchRecord, Seal
from fabriscope.model.record import Line as Record
from fabriscope.store import age, inside, journal, marks, samples, seal
from fabriscope.store.files import COUNTERS_NAME, RAW_NAME, SAMPLES_NAME, to_json
from fabriscope.store.journal import JOURNAL_NAME
from fabriscope.store.manifest import MANIFEST_NAME
from fabriscope.store.stated import UNREADABLE, Stated, stated_in

CHANGED = "it was changed after it was written"
GONE = "the file is missing"
DAMAGED = (OSError, StoreError, ValueError, KeyError, TypeError, AttributeError)
MOST_RAW_BYTES = 2**27
"""Of what the processes of a launch said, unpacked: what is larger is compared with its digest alone."""


class Folder:
    """One folder while it is checked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._findings: list[Finding] = []
        self._notes: list[str] = []
        self._file_count = 0
        self._torn = b""
        self._lines: list[journal.Line] = []
        self._contents: Mapping[str, object] = {}
        """Of the manifest; nothing where none can be read."""
        with contextlib.suppress(*DAMAGED):
            self._contents = inside.parse_object(inside.read_bytes(path, MANIFEST_NAME))
        self._newer_part = age.newer_part(self._contents) if self._contents else ""

    def check(self, *, with_launches: bool = True) -> Account:
        """Return what was found; without the files of launches what the rest says of itself."""
        self._read_journal()
        stated = self._seal()
        self._check_torn(stated)
        is_sealed = stated is not None or self._has_chain()
        if is_sealed:
            self._check_chain(stated)
        for line in self._lines if with_launches else ():
            if line.record is not None:
                self._check_files_of(line.number, line.record)
        if with_launches:
            self._check_strays(stated)
        if not is_sealed:
            self._check_age()
            if not any(one.file == seal.SEAL_NAME for one in self._findings):
                self._notes.append(
                    "the run was written by a version that kept no digests: what was changed since cannot be told, "
                    "only what contradicts something else"
                )
        checked = (f"{self._file_count} files against their digests", f"{len(self._lines)} lines of the journal")
        return Account(tuple(self._findings), tuple(self._notes), checked if is_sealed else checked[1:])

    def _has_chain(self) -> bool:
        return any(line.record is not None and line.record.chain for line in self._lines)

    def _find(self, file: str, place: str, what: str) -> None:
        self._findings.append(Finding(file, place, what))

    def _read_journal(self) -> None:
        """Read the journal's lines, a torn last one left out; `None` for a line that is no record."""
        content = b""
        try:
            content = inside.read_bytes(self._path, JOURNAL_NAME)
        except inside.MissingFile:
            pass
        except StoreError as error:
            self._find(JOURNAL_NAME, "", error.what)
        *whole, self._torn = content.split(b"\n")
        damaged_count = 0
        for number, raw in enumerate(whole, start=1):
            line = journal.line_of(number, raw)
            damaged_count += line.document is None
            if line.document is None and damaged_count <= journal.MOST_NAMED:
                self._find(JOURNAL_NAME, f"line {number}", f"it is damaged: {line.problem}")
            self._lines.append(line)
        if damaged_count > journal.MOST_NAMED:
            self._find(JOURNAL_NAME, "", f"{damaged_count} lines are damaged, of which the first are named")

    def _check_torn(self, stated: Stated | None) -> None:
        """A torn last line is what a killed process leaves; a run that has ended has none."""
        if not self._torn:
            return
        if stated is not None and stated.ended:
            self._find(JOURNAL_NAME, f"line {len(self._lines) + 1}", "it was added after the run had ended")
        else:
            self._notes.append("the journal's last line is torn: the process ended while it was written")

    def _check_age(self) -> None:
        """Find what only versions that always seal have written, in a folder without any seal."""
        documents = [line.document for line in self._lines if line.document is not None]
        newer = age.must_be_sealed(self._contents, documents) if self._contents else ""
        if newer:
            self._find(seal.SEAL_NAME, "", f"{GONE}, and only versions that write one write what stands in {newer}")

    # The seal, and what was written before the first launch.

    def _seal(self) -> Stated | None:
        try:
            content = inside.read_bytes(self._path, seal.SEAL_NAME)
        except inside.MissingFile:
            if self._contents.get("sealed") or self._has_chain():
                self._find(seal.SEAL_NAME, "", f"{GONE}, and the run was written with one")
            return None
        except StoreError as error:
            self._find(seal.SEAL_NAME, "", error.what)
            return UNREADABLE
        try:
            stated = stated_in(content)
            found = [self._check_sealed_file(name, digests) for name, digests in stated.files.items()]
        except DAMAGED:
            self._find(seal.SEAL_NAME, "", "it is damaged: no seal can be read from it")
            return UNREADABLE
        if not stated.is_whole:
            wrong = [place for place in found if place]
            self._find(seal.SEAL_NAME, ", ".join([*wrong, *self._wrong_count(stated)]), CHANGED)
        elif stated.format != seal.FORMAT or stated.version != seal.VERSION:
            self._find(seal.SEAL_NAME, "version", "it is of a version that we do not know")
        elif MANIFEST_NAME not in stated.files:
            self._find(seal.SEAL_NAME, "files", f"it has no digest of {MANIFEST_NAME}")
        return stated

    def _wrong_count(self, stated: Stated) -> Iterator[str]:
        """Yield which field of a changed seal the journal contradicts, or what is left when none does."""
        record = self._lines[-1].record if self._lines else None
        last = record.chain if record is not None else None
        if stated.launch_count != len(self._lines):
            yield "launch_count"
        elif last is not None and stated.chain != last:
            yield "chain"

    def _check_sealed_file(self, name: str, digests: FileDigests) -> str:
        """Check a file of the seal; return the field of the seal that must be wrong, where it is not the file."""
        try:
            content = inside.read_bytes(self._path, name)
        except StoreError as error:
            self._find(name, "", error.what)
            return ""
        self._file_count += 1
        is_manifest = name == MANIFEST_NAME
        try:
            now = seal.json_digests(content) if is_manifest else seal.text_digests(content)
        except ValueError:
            self._find(name, "", f"{CHANGED}: no JSON can be read from it")
            return ""
        if now == digests:
            return ""
        if now.sha256 == digests.sha256 or now.marks == digests.marks:
            field = "marks" if now.sha256 == digests.sha256 else "sha256"
            if field == "sha256" and (not is_manifest or content != to_json(inside.parse(content), indent=1) + b"\n"):
                self._find(name, "", f"{CHANGED}, in its spaces or its spelling")
                return ""
            return f"files.{name}.{field}"
        place = ""
        with contextlib.suppress(ValueError):
            locate = marks.locate_field(digests.marks, inside.parse(content)) if is_manifest else None
            place = (locate if is_manifest else marks.locate_line(digests.marks, content)) or ""
        self._find(name, place, CHANGED)
        return ""

    # The journal.

    def _check_chain(self, stated: Stated | None) -> None:
        """Check that every line is what was written, and follows on the line before it."""
        before = self._origins()
        begun = False
        for line in self._lines:
            if line.document is None:
                before = set()  # already found; what follows it cannot be told apart
                continue
            if seal.FIELD not in line.document and not begun and self._is_older(line.document):
                continue  # covered by the origin
            begun = True
            before = self._check_line(line, line.document, before)
        if stated is None or not stated.is_whole or not isinstance(stated.launch_count, int):
            return
        missing = stated.launch_count - len(self._lines)
        if missing > 0 or (missing < 0 and stated.ended) or missing < -1:
            place = f"line {len(self._lines)}" if self._lines else ""
            what = "it is not there" if not (self._path / JOURNAL_NAME).exists() else "it is empty"
            empty = "" if self._lines else f"{what}, and "
            self._find(JOURNAL_NAME, place, f"{empty}the seal counts {stated.launch_count} lines")
        elif missing == 0 and before and stated.chain not in before:
            self._find(JOURNAL_NAME, f"line {len(self._lines)}", "it is not the line that the seal was made over")

    def _origins(self) -> set[str]:
        """Return where the chain may begin: after the lines of older versions."""
        try:
            manifest = inside.read_bytes(self._path, MANIFEST_NAME)
        except StoreError:
            return set()
        older = b""
        for line in self._lines:
            if line.document is None or seal.FIELD in line.document or not self._is_older(line.document):
                break
            older += line.raw + b"\n"
        return {seal.origin(manifest, older)}

    def _is_older(self, line: JsonObject) -> bool:
        """Return whether a line without digests may be of a version that wrote none."""
        return not self._newer_part and not age.newer_field(line)

    def _check_line(self, line: journal.Line, document: JsonObject, before: set[str]) -> set[str]:
        """Check one line; return the chains on which the next one may follow: both where this one's is in doubt."""
        place, about = f"line {line.number}", line.record.seal if line.record is not None else None
        content = {name: value for name, value in document.items() if name != seal.FIELD}
        try:
            where = marks.locate_field(about.marks, content) if about is not None else seal.FIELD
        except DAMAGED:
            about = None
        if about is None:
            fields = self._wrong_digests(line)
            self._find(JOURNAL_NAME, f"{place}, {', '.join(fields) or seal.FIELD}", CHANGED)
            return set()
        computed = {seal.chain(document, one) for one in before}
        if where is not None:
            self._find(JOURNAL_NAME, f"{place}, {where}", CHANGED)
        elif before and about.chain not in computed:
            fields = self._wrong_digests(line)
            if fields:
                self._find(JOURNAL_NAME, f"{place}, {', '.join(fields)}", CHANGED)
            elif self._is_followed(line.number, computed):
                self._find(JOURNAL_NAME, f"{place}, {seal.FIELD}.chain", CHANGED)
            else:
                what = (
                    "it does not follow on the line before it: a line was removed, added, moved or changed in its seal"
                )
                self._find(JOURNAL_NAME, place, what)
        elif line.raw != to_json(document):
            self._find(JOURNAL_NAME, place, f"{CHANGED}, in its spaces or its spelling")
        return {about.chain, *computed}

    def _is_followed(self, number: int, chains: set[str]) -> bool:
        """Return whether the next line, or the seal, follows on one of these chains."""
        following = self._lines[number].document if number < len(self._lines) else None
        if following is not None:
            with contextlib.suppress(*DAMAGED):
                return seal.chain_of(following) in {seal.chain(following, one) for one in chains}
            return False
        with contextlib.suppress(*DAMAGED):
            return stated_in(inside.read_bytes(self._path, seal.SEAL_NAME)).chain in chains
        return False

    def _wrong_digests(self, line: journal.Line) -> list[str]:
        """Return the digests in a line's seal that its files do not have."""
        wrong = []
        about: Seal | None = line.record.seal if line.record is not None else None
        with contextlib.suppress(*DAMAGED):
            for name, digests in about.files.items() if about is not None else ():
                content = inside.read_bytes(self._path, name)
                place = f"{seal.FIELD}.files.{name}"
                wrong += [f"{place}.sha256"] if seal.sha256(content) != digests.sha256 else []
                wrong += [f"{place}.marks"] if _marks_of(name, content) != digests.marks else []
        return wrong

    # What each launch left.

    def _check_files_of(self, number: int, record: Record) -> None:
        files = record.seal.files if record.seal is not None else {}
        for name, digests in files.items():
            self._check_file(number, name, digests)
        if not isinstance(record, LaunchRecord):
            return
        named = {"samples": record.samples, "counters": record.counters, "idle_counters": record.idle_counters}
        for field, name in ((field, name) for field, name in named.items() if name and name not in files):
            if record.seal is not None:
                self._find(JOURNAL_NAME, f"line {number}, {field}", f"it has no digest of {name}")
            self._read(number, str(name))

    def _check_file(self, number: int, name: str, digests: FileDigests) -> None:
        content = self._read(number, name)
        if content is None:
            return
        self._file_count += 1
        if seal.sha256(content) == digests.sha256:
            return
        place = ""
        with contextlib.suppress(*DAMAGED):
            place = _place_in(name, content, digests.marks)
        if not any(one.file == JOURNAL_NAME and name in one.place for one in self._findings):
            self._find(name, place, CHANGED)

    def _read(self, number: int, name: str) -> bytes | None:
        """Return a file that a line names; None, and a finding, where it cannot be read."""
        try:
            return inside.read_bytes(self._path, name)
        except inside.MissingFile:
            self._find(name, "", f"{GONE}, and line {number} of the journal names it")
        except StoreError as error:
            self._find(name, "", f"{error.what}, and line {number} of the journal names it")
        return None

    def _check_strays(self, stated: Stated | None) -> None:
        """Find files of launches that no line names; one launch may have been under way when the process ended."""
        records = [line.record for line in self._lines if isinstance(line.record, LaunchRecord)]
        launches = {record.name for record in records}
        older = {record.name for record in records if record.seal is None}
        has_ended = stated is not None and bool(stated.ended)
        known = {name for line in self._lines if line.record is not None for name in _files_of(line.record)}
        for folder in (SAMPLES_NAME, RAW_NAME, COUNTERS_NAME):
            if (self._path / folder).is_symlink():  # it may lead anywhere, and be of any size
                self._find(folder, "", "it is a symbolic link, and no folder of the run's")
                continue
            for path in sorted((self._path / folder).rglob("*")):
                name = path.relative_to(self._path).as_posix()
                if path.is_dir() or name in known or path.name.endswith(".part"):
                    continue
                launch = (
                    path.relative_to(self._path / folder).parts[0].removesuffix(".parquet").removesuffix(".json.gz")
                )
                if launch in older or (launch not in launches and not has_ended):
                    continue
                self._find(name, "", "no line of the journal names this file")


def check_folder(path: Path, *, with_launches: bool = True) -> Account:
    """Return what differs in a run's folder from what was written; reads everything, changes nothing.

    Without the files of launches the manifest, the plan, the journal and the seal are compared.
    """
    try:
        inside.read_bytes(path, MANIFEST_NAME)
    except StoreError as error:
        return Account((Finding(MANIFEST_NAME, "", error.what),))
    return Folder(path).check(with_launches=with_launches)


def _files_of(record: Record) -> Iterator[str]:
    if record.seal is not None:
        yield from record.seal.files
    elif isinstance(record, LaunchRecord) and record.samples:
        yield record.samples


def _marks_of(name: str, content: bytes) -> str:
    if name.endswith(".parquet"):
        return marks.mark_rows(samples.decode(content))
    return marks.mark_lines(inside.unpack(content, MOST_RAW_BYTES))


def _place_in(name: str, content: bytes, stated: str) -> str:
    """Return in words where a file was changed; raises one of DAMAGED where it cannot be read, or nothing was."""
    if name.endswith(".parquet"):
        samples.check(content)
        return marks.locate_row(stated, samples.decode(content)) or "its packing, not its content"
    return marks.locate_line(stated, inside.unpack(content, MOST_RAW_BYTES)) or "its packing, not its content"
