"""One run's folder on the disk.

Whatever ends the process, at most the launch that was being written is lost: its samples and raw output are written
and synced first, and only the journal's line makes the launch count.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fabriscope.model.command import Outcome
from fabriscope.model.counters import Watch
from fabriscope.model.errors import StoreError, shown
from fabriscope.model.fabric import Fabric
from fabriscope.model.manifest import BlockChoice, Manifest, Near
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.record import FileDigests, LaunchRecord, Line, Numbered, launch_name
from fabriscope.model.run_data import IDLE_COUNTERS, RunData
from fabriscope.model.switch_series import Counted
from fabriscope.model.tuning import Trials
from fabriscope.store import additions, age, counters, inside, journal, manifest, marks, places, samples, seal, shapes
from fabriscope.store.files import (
    COUNTERS_NAME,
    ERRORS_NAME,
    PLAN_NAME,
    RAW_NAME,
    SAMPLES_NAME,
    pack,
    sync_folder,
    to_json,
    write_whole,
)
from fabriscope.store.journal import JOURNAL_NAME, Journal
from fabriscope.store.locking import cannot_write, closed_to_others, locked
from fabriscope.store.raw_output import write as write_raw
from fabriscope.store.sound import Reader

if TYPE_CHECKING:
    import polars as pl


@closed_to_others()
def create(
    path: str | Path, contents: Mapping[str, object], plan_text: str, companions: Mapping[str, str] | None = None
) -> RunFolder:
    """Create the folder with its manifest, its plan, and the files that the plan names beside it; return it.

    A folder that is made here is for its owner alone, since it holds facts of the hosts; an empty one that is there
    keeps its mode. The format, the version, a run id and the time are filled in. Raises StoreError if the folder exists
    and is not empty, or cannot be written.
    """
    folder = Path(path)
    _refuse_used(folder, "choose another")
    was_there = folder.is_dir()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # who made it before has chosen its mode
            folder.mkdir(mode=0o700)
        (folder / SAMPLES_NAME).mkdir()
        (folder / RAW_NAME).mkdir()
        for name, text in {**(companions or {}), PLAN_NAME: plan_text}.items():
            write_whole(folder / Path(name).name, text.encode())
        content = to_json(manifest.complete(contents), indent=1) + b"\n"
        texts = [Path(name).name for name in (*(companions or {}), PLAN_NAME)]
        files = {manifest.MANIFEST_NAME: seal.json_digests(content), **seal.digests_of(folder, [], texts)}
        seal.write(folder, files, 0, seal.origin(content, b""), ended=False)
        write_whole(folder / manifest.MANIFEST_NAME, content)  # the last: what has a manifest can be resumed
        sync_folder(folder.absolute().parent)
    except OSError as error:
        _remove_begun(folder, [*(companions or {}), PLAN_NAME], was_there=was_there)
        raise _not_made(folder, error.strerror or str(error)) from error
    return open_run(folder)


def _remove_begun(folder: Path, texts: Iterable[str], *, was_there: bool) -> None:
    """Remove what was written into a folder that was empty, so that the same command can be given again."""
    names = [manifest.MANIFEST_NAME, seal.SEAL_NAME, *(Path(name).name for name in texts)]
    with contextlib.suppress(OSError):
        for name in names:
            (folder / name).unlink(missing_ok=True)
        for name in (SAMPLES_NAME, RAW_NAME):
            (folder / name).rmdir()
        if not was_there:
            folder.rmdir()


def refuse_impossible(path: str | Path, *, fix: str = "choose another, or resume") -> None:
    """Raise StoreError if it can be foreseen that no run folder can be created at this path.

    `fix` says what to do about a folder that is not empty.
    """
    folder = Path(path).absolute()
    try:
        _refuse_used(folder, fix)
        standing = next(one for one in (folder, *folder.parents) if one.exists())
        outer = next((one for one in folder.parents if (one / manifest.MANIFEST_NAME).exists()), None)
    except OSError as error:
        raise _not_made(folder, error.strerror or str(error)) from error
    if nowhere := places.link_to_nowhere(folder):
        raise _not_made(folder, nowhere)
    if not standing.is_dir():
        raise _not_made(folder, f"{standing} is no folder")
    if outer is not None and (outer / PLAN_NAME).exists():
        raise _not_made(folder, f"it would lie inside the run {outer}")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise _not_made(folder, f"{standing} is not ours to write to")


def _refuse_used(folder: Path, fix: str) -> None:
    places.refuse_odd_path(folder)
    places.refuse_odd_name(folder)
    try:
        about = folder.stat()
        if not stat.S_ISDIR(about.st_mode):
            return  # what cannot be made says so
        if about.st_uid != os.geteuid():
            what = "the folder belongs to another user, who could exchange what is written into it"
            raise StoreError(what, where=str(folder), fix="choose another")
        if any(folder.iterdir()):
            raise StoreError("the folder exists and is not empty", where=str(folder), fix=fix)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _not_made(folder, error.strerror or str(error)) from error


def _not_made(folder: Path, reason: str) -> StoreError:
    return StoreError(f"the run folder cannot be made: {reason}", where=str(folder), fix="choose another place")


def open_run(path: str | Path) -> RunFolder:
    """Return an existing run; raises StoreError if it is missing, foreign, damaged or of a newer version."""
    folder = Path(path)
    try:
        is_there = folder.is_dir()
    except OSError as error:
        raise StoreError(f"there is no such run folder: {error.strerror}", where=shown(str(folder))) from error
    if not is_there:
        fix = f"a log becomes one by `fabriscope import {folder} -o RUN`" if folder.is_file() else None
        other = "it is no run folder, but a pipe or a device" if folder.exists() else "there is no such run folder"
        what = "it is a file and no run folder" if fix else other
        raise StoreError(what, where=str(folder), fix=fix)
    places.refuse_odd_path(folder)
    return RunFolder(folder, manifest.load(folder))


class RunFolder:
    """A run on the disk: appended to by one process at a time, read by any number."""

    def __init__(self, path: Path, planned: Manifest) -> None:
        self.path = path
        self._planned = planned
        self._merged = planned
        self._is_locked = False
        self._idle: Mapping[str, Watch] = {}
        self._reader = Reader(path)
        self._journal = Journal(path)

    @property
    def manifest(self) -> Manifest:
        """Return the manifest, with the cases and launches that were added later as if they had been planned."""
        if self._planned.version < additions.SINCE_VERSION:
            return self._planned
        records = self._journal.records
        if self._merged.addition_count != len(additions.of(records)):
            try:
                self._merged = additions.merged(self._planned, records)
            except ValueError as error:
                what = f"what was added to the run cannot be: {error}"
                raise StoreError(what, where=str(self.path / JOURNAL_NAME)) from error
        return self._merged

    @property
    def has_ended(self) -> bool:
        """Return whether the seal says that no launch will follow."""
        with contextlib.suppress(StoreError):
            return seal.load(self.path).ended
        return False

    @property
    def errors(self) -> Path:
        """Return the folder for the tracebacks of errors that nobody foresaw; it need not exist."""
        return self.path / ERRORS_NAME

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for writing; raises StoreError at once if another process holds it.

        The system lets go of the lock with the process, so a killed run never leaves the folder locked.
        """
        if self._is_locked:
            yield
            return
        with locked(self.path):
            self._journal.lock()
            self._is_locked = True
            try:
                yield
            finally:
                self._is_locked = False
                self._journal.unlock()

    def append(
        self,
        record: Mapping[str, object],
        blocks: Sequence[SampleBlock] | pl.DataFrame = (),
        raw: Sequence[Outcome] = (),
        *,
        again: bool = False,
        counted: Counted | None = None,
    ) -> LaunchRecord:
        """Store one launch: what every process said, its samples, its hosts' counters, then its line of the journal.

        Returns its record as it will be read.

        `record` holds at least `launch_id` and `block`; `samples` is set here, and `commands` from `raw` where it is
        missing. Very many samples may come as a frame with the columns of the store. A launch that is made `again` has
        its line, its samples and its output beside those of the attempts before. Raises StoreError if the launch is
        recorded already and not made again, or if the disk is full; what was there stays.
        """
        about = shapes.decode(dict(record), Numbered)
        launch_id, block = about.launch_id, about.block
        with self.lock():
            self._journal.refuse_damaged()
            sealed_files = self._sealed_files()
            attempt = 1 + self._journal.attempts_at(launch_id)
            if attempt > 1 and not again:
                raise StoreError(f"launch {launch_id} is recorded already", where=str(self.path))
            line = {"commands": [_command(outcome) for outcome in raw], **record, "attempt": attempt, "samples": None}
            name = launch_name(launch_id, attempt)
            try:
                files = write_raw(self.path, name, raw)
                line |= self._write_samples(name, samples.frame_of(launch_id, block, blocks), files)
                line |= self._write_counters(name, counted or Counted({}), files)
                stored = self._append_line(line, files, sealed_files)
            except OSError as error:
                raise cannot_write(self.path, error) from error
        return cast(LaunchRecord, stored)

    def add(
        self,
        number: int,
        launches: Sequence[Launch],
        near: Sequence[Near] = (),
        fabrics: Iterable[Fabric] = (),
        trials: Trials | None = None,
        choice: BlockChoice | None = None,
    ) -> None:
        """Add launches to those that were planned, in one line of the journal; `near` says where they look, and why.

        Of a tuning `trials` says what is tried, over which `fabrics` of its own; a `choice` how many blocks, and why.
        Cases that the folder does not know come with them. Raises StoreError if the disk is full, and for a folder that
        was begun as one that adds none.
        """
        if self._planned.version < additions.SINCE_VERSION:
            raise StoreError("the run was begun as one to which no launches are added", where=str(self.path))
        with self.lock():
            sealed_files = self._sealed_files()
            line = additions.line(number, launches, near, self.manifest, fabrics, trials, choice)
            try:
                self._append_line(line, {}, sealed_files)
            except OSError as error:
                raise cannot_write(self.path, error) from error

    def note_idle(self, watches: Mapping[str, Watch]) -> None:
        """Keep what the hosts counted while nothing of ours ran; it is stored with the next launch."""
        self._idle = watches

    def has_idle(self) -> bool:
        """Return whether that is stored already."""
        return bool(self._journal.records) and self._journal.has_idle

    def _write_samples(self, name: str, frame: pl.DataFrame, files: dict[str, FileDigests]) -> dict[str, str | None]:
        """Write the samples of a launch, if there are any; return their name for the journal."""
        if not frame.height:
            return {"samples": None}
        path, content = f"{SAMPLES_NAME}/{name}.parquet", samples.encode(frame)
        write_whole(self.path / path, content)
        files[path] = FileDigests(seal.sha256(content), marks.mark_rows(frame))
        return {"samples": path}

    def _write_counters(self, name: str, counted: Counted, files: dict[str, FileDigests]) -> dict[str, str | None]:
        """Write what the hosts counted, and before that while they were idle; return the names for the journal."""
        names: dict[str, str | None] = {"counters": None}
        of_launch = ("counters", f"{COUNTERS_NAME}/{name}.json.gz", counted)
        for field, path, those in (of_launch, ("idle_counters", IDLE_COUNTERS, Counted(self._idle))):
            if those.watches or those.switch is not None:
                text = counters.encode(those.watches, those.switch)
                packed = pack(text)
                (self.path / COUNTERS_NAME).mkdir(exist_ok=True)
                write_whole(self.path / path, packed)
                files[path] = FileDigests(seal.sha256(packed), marks.mark_lines(text))
                names[field] = path
        self._idle = {}
        return names

    def end(self) -> None:
        """Seal the run as ended: no launch will follow. Raises StoreError if the disk is full."""
        with self.lock():
            records = self._journal.records
            try:
                seal.write(self.path, self._sealed_files(), len(records), self._chain(), ended=True)
            except OSError as error:
                raise cannot_write(self.path, error) from error

    def end_if_open(self) -> None:
        """Seal a run as ended whose seal says that launches will follow; one of a version that wrote no seal stays."""
        if (self.path / seal.SEAL_NAME).exists() and not self.has_ended:
            self.end()

    def doubts(self) -> list[str]:
        """Return what of the manifest and the journal, of whatever attempt, is not as it was written: a sentence each.

        Files of launches are not looked at (`damage`). Raises StoreError as `read` does.
        """
        lines, is_torn = self._journal.lines, self._journal.is_torn
        notes = self._reader.seal_notes(self._planned, lines, is_torn=is_torn)
        return notes + self._reader.believed(lines, self._planned)[1]

    def done(self) -> dict[int, LaunchRecord]:
        """Return launch id to the journal's record that counts, of every launch that was stored whole."""
        return {record.launch_id: record for record in journal.that_count(self._journal.records)}

    def damage(self, record: LaunchRecord) -> list[str]:
        """Return what is wrong with the files of a launch, its raw output too, by the record that counts."""
        return list(self._reader.damage(record, with_raw=True))

    def read(self, line_count: int | None = None) -> RunData:
        """Return the run as it is now, or was after a number of lines; samples are read when they are asked for.

        Lines and files that are not as they were written are left out, and `notes` says so. Raises StoreError if the
        manifest was changed, or the journal cannot be read.
        """
        lines, is_torn = self._journal.lines, self._journal.is_torn
        notes = self._reader.seal_notes(self._planned, lines, is_torn=is_torn)
        sound = self._reader.sound(lines[:line_count], self._planned)
        idle_note = self._reader.idle_note(sound.lines)
        notes += [*sound.notes, *([idle_note] if idle_note else [])]
        frame = samples.scan([self.path / record.samples for record in sound.counting if record.samples])
        whole = additions.merged(self._planned, sound.lines)
        counted = functools.partial(self._counted, has_idle=not idle_note)
        return RunData(str(self.path), whole, sound.counting, frame, sound.lines, counted, tuple(notes))

    def _counted(self, name: str, *, has_idle: bool) -> Counted:
        path = inside.path_of(self.path, name)
        is_left_out = name == IDLE_COUNTERS and not has_idle
        return counters.load(path) if path.exists() and not is_left_out else Counted({})

    def _append_line(
        self, line: Mapping[str, object], files: Mapping[str, FileDigests], sealed_files: Mapping[str, object]
    ) -> Line:
        sealed = seal.sealed(line, files, self._chain())
        self._journal.append(sealed.document)
        sync_folder(self.path)
        line_count = len(self._journal.records)
        seal.write(self.path, sealed_files, line_count, sealed.chain, ended=False)
        return self._journal.records[-1]

    def _chain(self) -> str:
        """Return what the next line of the journal follows on: the last line, or how the run began."""
        records = self._journal.records
        if records and records[-1].chain is not None:
            return records[-1].chain
        return seal.origin(inside.read_bytes(self.path, manifest.MANIFEST_NAME), self._journal.content)

    def _sealed_files(self) -> Mapping[str, object]:
        """Return the digests of what was there before the first launch; they stay as they were written.

        Raises StoreError where the seal is damaged, or gone from a run that was begun with one.
        """
        try:
            return seal.load(self.path).files
        except inside.MissingFile:
            documents = [line.document for line in self._journal.lines if line.document is not None]
            if age.must_be_sealed(self._planned.document, documents):
                raise
            texts = [PLAN_NAME] if (self.path / PLAN_NAME).exists() else []
            return seal.digests_of(self.path, [manifest.MANIFEST_NAME], texts)


def _command(outcome: Outcome) -> dict[str, object]:
    told = {name: getattr(outcome, name) for name in ("exit_status", "started_unix_ns", "elapsed_ns")}
    late = {"timed_out": True} if outcome.timed_out else {}
    return {"host": outcome.command.host, "argv": list(outcome.command.argv), **told, **late}
