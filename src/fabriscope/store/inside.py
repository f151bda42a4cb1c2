"""The one place where files of a run's folder are opened: its names stay inside it, its files are plain files.

A folder may have been written, or changed, by anybody: a name in its journal may point anywhere, a file may be a named
pipe or a device, a packed file may unpack to more than there is memory, and JSON may be nested without end.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from pathlib import Path, PurePosixPath

from fabriscope.model import foreign
from fabriscope.model.errors import StoreError
from fabriscope.model.foreign import Json, JsonObject

MOST_BYTES = 2**30
"""Of one file."""
MOST_UNPACKED_BYTES = 2**28
UNSUSPECTED_BYTES = 2**24
MOST_RATIO = 100
"""Of one packed file: counters pack to a tenth or so, what is made to fill memory to a thousandth."""
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_IN_HALVES = re.compile("[\ud800-\udfff]")


class MissingFile(StoreError):
    """A file that should be in a run's folder is not there."""


class TooLarge(ValueError):
    """A packed file holds more than is unpacked."""


def path_of(folder: Path, name: object) -> Path:
    """Return the path of a file by its name in the folder; raises StoreError for a name that leads out of it."""
    if isinstance(name, str) and name and "\0" not in name:
        parts = PurePosixPath(name).parts
        if parts and not name.startswith("/") and ".." not in parts:
            return folder / name
    raise StoreError(f"{_short(name)} is not the name of a file in the folder", where=str(folder))


def read_bytes(folder: Path, name: object, most: int = MOST_BYTES) -> bytes:
    """Return a file of the folder.

    Raises MissingFile, or StoreError for a name or a link that leads out of the folder, for what is no regular file,
    and for a file that is too large or cannot be read.
    """
    path = path_of(folder, name)
    try:
        if not path.resolve(strict=True).is_relative_to(folder.resolve()):
            raise StoreError("it is a symbolic link that leads out of the folder", where=str(path))
        _check_kind(path, path.stat(), most)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            about = os.fstat(stream.fileno())
            _check_kind(path, about, most)
            return stream.read(about.st_size)  # a buffer of this size is taken before anything is read
    except FileNotFoundError as error:
        if path.is_symlink():
            raise StoreError("it is a link to nothing", where=str(path)) from error
        raise MissingFile("the file is missing", where=str(path)) from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StoreError(f"it cannot be read: {reason}", where=str(path)) from error


def unpack(content: bytes, most: int | None = None) -> bytes:
    """Return gzipped content; raises ValueError for what is damaged, torn, or unpacks to more than `most` bytes."""
    if most is None:
        most = min(MOST_UNPACKED_BYTES, max(UNSUSPECTED_BYTES, MOST_RATIO * len(content)))
    unpacked: list[bytes] = []
    room = most
    try:
        while content:
            stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            unpacked.append(stream.decompress(content, room + 1))
            room -= len(unpacked[-1])
            if room < 0:
                raise TooLarge(f"it unpacks to more than {most} bytes")
            if not stream.eof:
                raise ValueError("its end is missing")
            content = stream.unused_data
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    return unpacked[0] if len(unpacked) == 1 else b"".join(unpacked)


def parse(content: bytes) -> Json:
    """Return the value of JSON text; raises ValueError for what our writer would not have written."""
    try:
        value: Json = foreign.decode_json(content, "", error=StoreError)
    except StoreError as error:
        raise ValueError(error.what) from error
    return value


def parse_object(content: bytes) -> JsonObject:
    """Return JSON text that is an object; raises ValueError for any other."""
    value = parse(content)
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value


def whole_characters(content: bytes, value: Json) -> Json:
    """Return a parsed value with halves of characters (lone surrogates, which no file can hold) replaced."""
    return _replaced(value) if _HALF_CHARACTER.search(content) else value


def _check_kind(path: Path, about: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise StoreError("it is not a regular file", where=str(path))
    if about.st_size > most:
        raise StoreError(f"it has {about.st_size} bytes, and {most} are the most that we read", where=str(path))


def _replaced(value: Json) -> Json:
    if isinstance(value, dict):
        return {_whole(name): _replaced(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    return _whole(value) if isinstance(value, str) else value


def _whole(text: str) -> str:
    return _IN_HALVES.sub("\ufffd", text)


def _short(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 80 else f"{text[:80]}..."
