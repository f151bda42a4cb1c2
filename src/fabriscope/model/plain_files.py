"""Files that somebody names, or that stand in a folder of somebody's: plain ones, read at once and to a limit.

Opening a named pipe waits until somebody writes to it, and /dev/zero has no end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fabriscope.model.errors import FabriscopeError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OURS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""What was opened for us before: a pipe there has somebody who writes to it."""


_UNKNOWN_BYTES = 1 << 20
"""Of files without a size, as in /proc."""


class NotPlain(OSError):
    """What a name stands for is no plain file; the text says what it is."""


def read(path: Path, most_bytes: int) -> bytes:
    """Return a plain file, cut behind one byte more than `most_bytes`; raises OSError for anything else, at once."""
    if "\0" in str(path):
        raise NotPlain("its name has a NUL character")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        kind = stat.S_IFMT(about.st_mode)
        most = min(
            most_bytes, about.st_size or _UNKNOWN_BYTES
        )  # a buffer of this size is taken before anything is read
        if kind == stat.S_IFIFO and str(path).startswith(_OURS):
            os.set_blocking(descriptor, True)
            most = most_bytes
        elif kind != stat.S_IFREG:
            raise NotPlain(f"it is {_KINDS.get(kind, 'no file')}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most + 1)
    finally:
        os.close(descriptor)


def own(path: Path, most_bytes: int) -> bytes:
    """Return a plain file that only we can write, a record of ours; raises OSError for anything else, at once."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise NotPlain(f"{path.name} is not a file that only we can write")
        if about.st_size > most_bytes:
            raise NotPlain(f"{path.name} has {about.st_size} bytes")
        return file.read(most_bytes)


def why(error: OSError) -> str:
    """Return what is wrong, as a part of a sentence."""
    return error.strerror or str(error)


def text(path: Path, most_bytes: int, *, error: type[FabriscopeError], what: str) -> str:
    """Return the text of a plain file, odd bytes replaced; raises `error` where it cannot be read or is too long."""
    try:
        content = read(path, most_bytes)
    except OSError as problem:
        raise error(f"{what} cannot be read: {why(problem)}", where=str(path)) from problem
    if len(content) > most_bytes:
        raise error(f"{what} has more than {most_bytes >> 10} KiB", where=str(path))
    return content.decode("utf-8", "replace").replace("\r\n", "\n")
