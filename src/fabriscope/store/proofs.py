"""The folder of a proof: what ran, and what the counters of its hosts said, so that it can be judged again.

observed.json        the command, when, how it ended
counters.json.gz     the watches of every host, a reading as what has changed since the one before it
idle.json.gz         likewise, what the hosts did without the program
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.foreign import MOST_INT, Foreign
from fabriscope.model.proof import Observed
from fabriscope.store import counters, inside, places
from fabriscope.store.files import pack, to_json, write_whole

FORMAT = "fabriscope-proof"
VERSION = 2
_ABOUT = "observed.json"
_HELD_APART = {"idle": "idle.json.gz", "watches": "counters.json.gz"}


def check_new(folder: Path) -> None:
    """Make a folder for a proof; raises StoreError where it cannot be, or be written, or has something in it."""
    places.refuse_part_of_run(folder)
    try:
        if (folder.exists() or folder.is_symlink()) and (not folder.is_dir() or any(folder.iterdir())):
            raise StoreError("there is something already", where=str(folder), fix="name a folder that is new or empty")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # an empty one keeps its mode
            folder.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"it cannot be made: {error.strerror}", where=str(folder)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError("it cannot be written", where=str(folder), fix="name a folder of your own")


def check_file(path: Path) -> None:
    """Raise StoreError where a file cannot be written; one that is there may be, and is left as it is."""
    folder = path.absolute().parent
    try:
        is_there = path.exists() or path.is_symlink()
        is_open = path.parent in (Path("/dev/fd"), Path("/proc/self/fd"))  # as a shell's `>(jq .)`
        if is_there and not (is_open or path.is_file() or path.is_dir() or path.is_char_device()):
            raise StoreError("it is no file that can be written whole: a pipe, or a link to nothing", where=str(path))
        if path.is_dir() or not folder.is_dir():
            raise StoreError("it cannot be a file: it is a folder, or its folder is not there", where=str(path))
    except OSError as error:
        raise StoreError(f"it cannot be written: {error.strerror}", where=str(path)) from error
    if not (os.access(path, os.W_OK) if is_there else os.access(folder, os.W_OK | os.X_OK)):
        raise StoreError("it cannot be written", where=str(path), fix="name a file in a folder of your own")
    places.refuse_part_of_run(path)


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
            write_whole(folder / file, pack(counters.encode(getattr(observed, name))))
        write_whole(folder / _ABOUT, to_json({"format": FORMAT, "version": VERSION, **content}, indent=1))
    except OSError as error:
        raise StoreError(f"it cannot be written: {error.strerror}", where=str(folder)) from error


def read(folder: Path) -> Observed:
    """Return what was observed; raises StoreError where there is no proof, or a damaged or newer one."""
    try:
        text = inside.read_bytes(folder, _ABOUT)
    except inside.MissingFile as error:
        raise StoreError("there is no proof", where=str(folder), fix="`fabriscope prove --output` keeps one") from error
    about = Foreign.json(text, str(folder / _ABOUT), error=StoreError)
    if about.at("format").value != FORMAT:
        raise StoreError("it is something else", where=about.where)
    version = about.at("version").whole()
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise StoreError(f"{age} fabriscope wrote it", where=str(folder), fix="use that one")
    fabrics, was_asked, said = (about.get(name) for name in ("fabrics", "was_asked", "said"))
    watches = {name: counters.load(folder / file).watches for name, file in _HELD_APART.items()}
    return Observed(
        argv=about.at("argv").texts(),
        expected=about.at("expected").text(),
        hosts=about.at("hosts").texts(),
        started_unix_ns=about.at("started_unix_ns").whole(),
        elapsed_ns=about.at("elapsed_ns").whole(),
        exit_status=about.at("exit_status").whole(least=-MOST_INT),
        was_signalled=about.at("was_signalled").flag(),
        idle=watches["idle"],
        watches=watches["watches"],
        fabrics={name: one.text() for name, one in fabrics.members()} if fabrics else {},
        was_asked=was_asked.flag() if was_asked else False,
        said=said.text() if said else "",
    )
