"""The folder of a proof: what ran, and what the counters of its hosts said, so that it can be judged again.

observed.json        the command, when, how it ended
counters.json.gz     the watches of every host, a reading as what has changed since the one before it
idle.json.gz         likewise, what the hosts did without the program
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.proof import Observed
from fabriscope.store import counters
from fabriscope.store.files import to_json, write_whole

FORMAT = "fabriscope-proof"
VERSION = 2
_ABOUT = "observed.json"
_HELD_APART = {"idle": "idle.json.gz", "watches": "counters.json.gz"}


def check_new(folder: Path) -> None:
    """Make a folder for a proof; raises StoreError where it cannot be, or be written, or has something in it."""
    try:
        if (folder.exists() or folder.is_symlink()) and (not folder.is_dir() or any(folder.iterdir())):
            raise StoreError("there is something already", where=str(folder), fix="name a folder that is new or empty")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"it cannot be made: {error.strerror}", where=str(folder)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError("it cannot be written", where=str(folder), fix="name a folder of your own")


def check_file(path: Path) -> None:
    """Raise StoreError where a file cannot be written; one that is there may be, and is left as it is."""
    folder = path.absolute().parent
    try:
        is_there = path.exists() or path.is_symlink()
        if path.is_dir() or not folder.is_dir():
            raise StoreError("it cannot be a file: it is a folder, or its folder is not there", where=str(path))
    except OSError as error:
        raise StoreError(f"it cannot be written: {error.strerror}", where=str(path)) from error
    if not (os.access(path, os.W_OK) if is_there else os.access(folder, os.W_OK | os.X_OK)):
        raise StoreError("it cannot be written", where=str(path), fix="name a file in a folder of your own")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise StoreError for what goes wrong while something is written, as on a full disk."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"it cannot be written: {error.strerror}", where=str(path)) from error


def write(folder: Path, observed: Observed) -> None:
    """Write what was observed into a folder, which is made; raises StoreError."""
    content = {name: value for name, value in vars(observed).items() if name not in _HELD_APART}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in _HELD_APART.items():
            write_whole(folder / file, counters.pack(counters.encode(getattr(observed, name))))
        write_whole(folder / _ABOUT, to_json({"format": FORMAT, "version": VERSION, **content}, indent=1))
    except OSError as error:
        raise StoreError(f"it cannot be written: {error.strerror}", where=str(folder)) from error


def read(folder: Path) -> Observed:
    """Return what was observed; raises StoreError where there is no proof, or a damaged or newer one."""
    try:
        about = json.loads((folder / _ABOUT).read_bytes())
        if about.pop("format") != FORMAT:
            raise ValueError("it is something else")
        version = about.pop("version")
        if version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            raise StoreError(f"{age} fabriscope wrote it", where=str(folder), fix="use that one")
        lists = {name: tuple(about[name]) for name in ("argv", "hosts")}
        watches = {name: counters.load(folder / file) for name, file in _HELD_APART.items()}
        return Observed(**{**about, **lists, **watches})
    except FileNotFoundError as error:
        raise StoreError("there is no proof", where=str(folder), fix="`fabriscope prove --output` keeps one") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"it is damaged: {error}", where=str(folder)) from error
