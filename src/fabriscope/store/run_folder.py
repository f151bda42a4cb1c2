"""One run's folder on the disk.

Whatever ends the process, at most the launch that was being written is lost: its samples and raw output are written
and synced first, and only the journal's line makes the launch count.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabriscope.model.command import Outcome
from fabriscope.model.counters import Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.run_data import IDLE_COUNTERS, RunData, launch_name
from fabriscope.store import additions, counters, journal, manifest, marks, samples, seal
from fabriscope.store.files import sync_folder, to_json, write_whole

if TYPE_CHECKING:
    import polars as pl

PLAN_NAME = "plan.yaml"
JOURNAL_NAME = "journal.jsonl"
SAMPLES_NAME = "samples"
RAW_NAME = "raw"
COUNTERS_NAME = "counters"
LOCK_NAME = ".lock"


def create(
    path: str | Path, contents: Mapping[str, Any], plan_text: str, companions: Mapping[str, str] | None = None
) -> RunFolder:
    """Create the folder with its manifest, its plan, and the files that the plan names beside it; return it.

    The format, the version, a run id and the time are filled in. Raises StoreError if the folder exists and is not
    empty, or cannot be written.
    """
    folder = Path(path)
    try:
        _refuse_used(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SAMPLES_NAME).mkdir()
        (folder / RAW_NAME).mkdir()
        for name, text in {**(companions or {}), PLAN_NAME: plan_text}.items():
            write_whole(folder / Path(name).name, text.encode())
        filled = manifest.complete(contents)
        content = to_json(filled, indent=1) + b"\n"
        texts = [Path(name).name for name in (*(companions or {}), PLAN_NAME)]
        files = {manifest.MANIFEST_NAME: seal.json_digests(content), **seal.digests_of(folder, [], texts)}
        seal.write(folder, files, 0, seal.origin(content, b""), ended=False)
        write_whole(folder / manifest.MANIFEST_NAME, content)  # the last: what has a manifest can be resumed
        sync_folder(folder.absolute().parent)
    except OSError as error:
        raise _not_made(folder, error.strerror or str(error)) from error
    return open_run(folder)


def refuse_impossible(path: str | Path) -> None:
    """Raise StoreError if it can be foreseen that no run folder can be created at this path."""
    folder = Path(path).absolute()
    try:
        _refuse_used(folder)
        standing = next(one for one in (folder, *folder.parents) if one.exists())
    except OSError as error:
        raise _not_made(folder, error.strerror or str(error)) from error
    if not standing.is_dir():
        raise _not_made(folder, f"{standing} is no folder")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise _not_made(folder, f"{standing} is not ours to write to")


def _refuse_used(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise StoreError("the folder exists and is not empty", where=str(folder), fix="choose another, or resume")


def _not_made(folder: Path, reason: str) -> StoreError:
    return StoreError(f"the run folder cannot be made: {reason}", where=str(folder), fix="choose another place")


def open_run(path: str | Path) -> RunFolder:
    """Return an existing run; raises StoreError if it is missing, foreign, damaged or of a newer version."""
    folder = Path(path)
    if not folder.is_dir():
        raise StoreError("there is no such run folder", where=str(folder))
    return RunFolder(folder, manifest.load(folder))


class RunFolder:
    """A run on the disk: appended to by one process at a time, read by any number."""

    def __init__(self, path: Path, contents: dict[str, Any]) -> None:
        self.path = path
        self._contents = contents
        self._is_locked = False
        self._idle: Mapping[str, Watch] = {}

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the manifest, with the cases and launches that were added later as if they had been planned."""
        if self._contents["version"] < additions.SINCE_VERSION:
            return self._contents
        return additions.merged(self._contents, self._records())

    @property
    def has_ended(self) -> bool:
        """Return whether the seal says that no launch will follow."""
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            return json.loads((self.path / seal.SEAL_NAME).read_bytes()).get("ended") is True
        return False

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for writing; raises StoreError at once if another process holds it.

        The system lets go of the lock with the process, so a killed run never leaves the folder locked.
        """
        if self._is_locked:
            yield
            return
        try:
            descriptor = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    "another process is writing to this run", where=str(self.path), fix="wait until it has ended"
                ) from None
            except OSError as error:
                raise _cannot_write(self.path, error) from error
            self._is_locked = True
            yield
        finally:
            self._is_locked = False
            with contextlib.suppress(OSError):  # nothing is written to it; the lock goes in any case
                os.close(descriptor)

    def append(
        self,
        record: Mapping[str, Any],
        blocks: Sequence[SampleBlock] | pl.DataFrame = (),
        raw: Sequence[Outcome] = (),
        *,
        again: bool = False,
        watches: Mapping[str, Watch] | None = None,
    ) -> None:
        """Store one launch: what every process said, its samples, its hosts' counters, then its line of the journal.

        `record` holds at least `launch_id` and `block`; `samples` is set here, and `commands` from `raw` where it is
        missing. Very many samples may come as a frame with the columns of the store. A launch that is made `again` has
        its line, its samples and its output beside those of the attempts before. Raises StoreError if the launch is
        recorded already and not made again, or if the disk is full; what was there stays.
        """
        launch_id, block = int(record["launch_id"]), int(record["block"])
        with self.lock():
            records = self._records()
            attempt = 1 + sum(known.get("launch_id") == launch_id for known in records)
            if attempt > 1 and not again:
                raise StoreError(f"launch {launch_id} is recorded already", where=str(self.path))
            line = {"commands": [_command(outcome) for outcome in raw], **record, "attempt": attempt, "samples": None}
            name = launch_name(line)
            try:
                files = self._write_raw(name, raw)
                frame = samples.frame_of(launch_id, block, blocks)
                if frame.height:
                    line["samples"] = f"{SAMPLES_NAME}/{name}.parquet"
                    content = samples.encode(frame)
                    write_whole(self.path / line["samples"], content)
                    files[line["samples"]] = {"sha256": seal.sha256(content), "marks": marks.mark_rows(frame)}
                line |= self._write_counters(name, watches or {}, files)
                sealed = seal.sealed(line, files, self._chain(records))
                journal.append(self.path / JOURNAL_NAME, sealed)
                sync_folder(self.path)
                self._write_seal(len(records) + 1, sealed[seal.FIELD]["chain"])
            except OSError as error:
                raise _cannot_write(self.path, error) from error

    def add(self, number: int, launches: Sequence[Launch], near: Sequence[Mapping[str, Any]]) -> None:
        """Add launches to those that were planned, in one line of the journal; `near` says where they look, and why.

        Cases that the folder does not know come with them. Raises StoreError if the disk is full, and for a folder
        that was begun as one that adds none.
        """
        if self._contents["version"] < additions.SINCE_VERSION:
            raise StoreError("the run was begun as one to which no launches are added", where=str(self.path))
        with self.lock():
            records = self._records()
            line = additions.line(number, launches, near, self.manifest["cases"])
            try:
                sealed = seal.sealed(line, {}, self._chain(records))
                journal.append(self.path / JOURNAL_NAME, sealed)
                sync_folder(self.path)
                self._write_seal(len(records) + 1, sealed[seal.FIELD]["chain"])
            except OSError as error:
                raise _cannot_write(self.path, error) from error

    def note_idle(self, watches: Mapping[str, Watch]) -> None:
        """Keep what the hosts counted while nothing of ours ran; it is stored with the next launch."""
        self._idle = watches

    def has_idle(self) -> bool:
        """Return whether that is stored already."""
        return any(record.get("idle_counters") for record in self._records())

    def _write_counters(
        self, name: str, watches: Mapping[str, Watch], files: dict[str, dict[str, str]]
    ) -> dict[str, str | None]:
        """Write what the hosts counted, and before that while they were idle; return the names for the journal."""
        names: dict[str, str | None] = {"counters": None}
        of_launch = ("counters", f"{COUNTERS_NAME}/{name}.json.gz", watches)
        for field, path, those in (of_launch, ("idle_counters", IDLE_COUNTERS, self._idle)):
            if those:
                text = counters.encode(those)
                packed = counters.pack(text)
                (self.path / COUNTERS_NAME).mkdir(exist_ok=True)
                write_whole(self.path / path, packed)
                files[path] = {"sha256": seal.sha256(packed), "marks": marks.mark_lines(text)}
                names[field] = path
        self._idle = {}
        return names

    def end(self) -> None:
        """Seal the run as ended: no launch will follow. Raises StoreError if the disk is full."""
        with self.lock():
            records = self._records()
            try:
                self._write_seal(len(records), self._chain(records), ended=True)
            except OSError as error:
                raise _cannot_write(self.path, error) from error

    def done(self) -> dict[int, dict[str, Any]]:
        """Return launch id to the journal's record that counts, of every launch that was stored whole."""
        return {record["launch_id"]: record for record in journal.that_count(self._records())}

    def read(self, line_count: int | None = None) -> RunData:
        """Return the run as it is now, or was after so many lines; samples are read when they are asked for.

        Raises StoreError if the journal is damaged or names samples that are not there.
        """
        lines = self._records()[:line_count]
        records = journal.that_count(lines)
        paths = [self.path / record["samples"] for record in records if record.get("samples")]
        for path in paths:
            if not path.is_file():
                raise StoreError("the journal names these samples, but the file is missing", where=str(path))
        contents = additions.merged(self._contents, lines)
        return RunData(str(self.path), contents, records, samples.scan(paths), lines, self._watches)

    def _watches(self, name: str) -> dict[str, Watch]:
        path = self.path / name
        return counters.load(path) if path.exists() else {}

    def _records(self) -> tuple[dict[str, Any], ...]:
        return journal.read(self.path / JOURNAL_NAME)[0]

    def _chain(self, records: Sequence[Mapping[str, Any]]) -> str:
        """Return what the next line of the journal follows on: the last line, or how the run began."""
        stated = seal.chain_of(records[-1]) if records else None
        if stated is not None:
            return stated
        content = (self.path / manifest.MANIFEST_NAME).read_bytes()
        return seal.origin(content, journal.sound(self.path / JOURNAL_NAME))

    def _write_seal(self, launch_count: int, chain: str, *, ended: bool = False) -> None:
        """Replace seal.json; the digests of what was there before the first launch stay as they were written."""
        try:
            files = json.loads((self.path / seal.SEAL_NAME).read_bytes())["files"]
        except FileNotFoundError:  # the run was begun by an older version
            texts = [PLAN_NAME] if (self.path / PLAN_NAME).exists() else []
            files = seal.digests_of(self.path, [manifest.MANIFEST_NAME], texts)
        except (ValueError, KeyError, TypeError) as error:
            fix = "`fabriscope verify` says what else was changed"
            raise StoreError("the seal is damaged", where=str(self.path / seal.SEAL_NAME), fix=fix) from error
        seal.write(self.path, files, launch_count, chain, ended)

    def _write_raw(self, launch_name: str, raw: Sequence[Outcome]) -> dict[str, dict[str, str]]:
        """Write what every process said; return the digests of the files."""
        folder = self.path / RAW_NAME / launch_name
        if folder.exists():  # left by an attempt that ended before its journal line
            shutil.rmtree(folder)
        digests: dict[str, dict[str, str]] = {}
        if not raw:
            return digests
        folder.mkdir(parents=True, exist_ok=True)
        for number, outcome in enumerate(raw):
            host = re.sub(r"[^A-Za-z0-9._-]", "_", outcome.command.host) or "host"
            for stream, content in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
                name = f"{number}-{host}.{stream}.gz"
                packed = gzip.compress(content, mtime=0)  # without a time stamp the same output gives the same file
                write_whole(folder / name, packed)
                about = {"sha256": seal.sha256(packed), "marks": marks.mark_lines(content)}
                digests[f"{RAW_NAME}/{folder.name}/{name}"] = about
        return digests


def _command(outcome: Outcome) -> dict[str, Any]:
    return {
        "host": outcome.command.host,
        "argv": list(outcome.command.argv),
        "exit_status": outcome.exit_status,
        "elapsed_ns": outcome.elapsed_ns,
    }


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot be written: {error.strerror or error}",
        where=str(folder),
        fix="what was stored before is whole; make room or mend the permissions, then resume",
    )
