"""Files of the journals: on the disk before anything is done, and locked by whoever does it.

The kernel takes the lock back whatever ends its holder: what nobody holds was left by a crash, or is meant to stay.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from fabriscope.model.errors import FabriscopeError, HostError, printable

_MOST_SHOWN = 200
_Entry = TypeVar("_Entry")
_Look = Callable[[str], str | None]


def brief(value: str) -> str:
    """Return a value as a line for people shows it: no line break in it, and nothing that a terminal would obey."""
    text = " ".join(printable(value).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def trust(folder: Path, look: _Look) -> None:
    """Raise HostError where a look at a folder finds that others could write there; FileNotFoundError without one."""
    try:
        why = look(str(folder))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise HostError(f"the journal of changes cannot be used: {error.strerror}", where=str(folder)) from error
    if why is not None:
        fix = "mend that, or set XDG_STATE_HOME to a folder that only you can write"
        raise HostError(f"the journal of changes is not trusted: {why}", where=str(folder), fix=fix)


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a file for the block, and yield whether it is ours now; not if somebody holds it, or it is gone."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        is_ours = False
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.fstat(descriptor).st_nlink > 0
        yield is_ours
    finally:
        os.close(descriptor)


def write(path: Path, text: str, what: str) -> int:
    """Put a file on the disk, and return the descriptor by which it is locked.

    Raises HostError, which says `what` is not done.
    """
    scratch = path.with_name(f".{path.stem}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
            scratch.replace(path)
            _sync(path.parent)
        except BaseException:
            os.close(descriptor)
            scratch.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise HostError(
            f"{what}: that cannot be written into the journal ({error.strerror})", where=str(path)
        ) from error
    return descriptor


def drop(path: Path) -> None:
    """Take a file out of the journal."""
    path.unlink(missing_ok=True)
    _sync(path.parent)


def read_all(
    folder: Path,
    look: Callable[[str], str | None],
    read: Callable[[Path], _Entry],
    damaged: Callable[[str, Path], None],
) -> list[_Entry]:
    """Return what is in a folder, none where it is not there; `damaged` is told why a file cannot be read."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        trust(folder, look)
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(read(path))
        except FileNotFoundError:
            continue  # it is being put back right now
        except (OSError, FabriscopeError) as error:
            why = error.what if isinstance(error, FabriscopeError) else error.strerror or str(error)
            damaged(why, path)
    return found


def _sync(path: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
