"""The lock of a run's folder: one process writes to it, and what would lead its writing elsewhere is refused first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.store import checks
from fabriscope.store.files import COUNTERS_NAME, LOCK_NAME, RAW_NAME, SAMPLES_NAME


@contextlib.contextmanager
def closed_to_others() -> Iterator[None]:
    """See to it that not everybody may write to what is made in the block: no run goes on in such a folder."""
    umask = os.umask(0o077)
    os.umask(umask | 0o002)
    try:
        yield
    finally:
        os.umask(umask)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for writing; raises StoreError at once if another process holds it, or links stand in it.

    The folder itself is locked, which nobody can remove under a run that goes on, and `.lock` for older versions and
    for file systems that lock no folders (NFS). The system lets go of both with the process.
    """
    _refuse_links(folder)
    with contextlib.ExitStack() as held, closed_to_others():
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            for path, how in ((folder / LOCK_NAME, flags), (folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)):
                descriptor = os.open(path, how, 0o644)
                held.callback(_close, descriptor)
                if path != folder and not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise _no_plain_file(path)
                _take(descriptor, is_optional=path == folder)
        except BlockingIOError:
            what, fix = "another process is writing to this run", "wait until it has ended"
            raise StoreError(what, where=str(folder), fix=fix) from None
        except IsADirectoryError:
            raise _no_plain_file(folder / LOCK_NAME) from None
        except OSError as error:
            raise cannot_write(folder, error) from error
        yield


def _no_plain_file(path: Path) -> StoreError:
    return StoreError("the lock of a run must be a plain file", where=str(path), fix="remove it")


def _take(descriptor: int, *, is_optional: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        if not is_optional:
            raise


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # nothing is written to it; the lock goes in any case
        os.close(descriptor)


def _refuse_links(folder: Path) -> None:
    """Raise StoreError for a link where we write: what it leads to is not ours to change."""
    paths = [folder / name for name in (LOCK_NAME, SAMPLES_NAME, RAW_NAME, COUNTERS_NAME)]
    with contextlib.suppress(OSError):
        paths += sorted((folder / RAW_NAME).iterdir())
    for path in paths:
        if path.is_symlink():
            raise StoreError(
                "it is a symbolic link, and a run cannot be written through one", where=str(path), fix="remove it"
            )


def cannot_write(folder: Path, error: OSError) -> StoreError:
    """Return what to say when nothing more can be written: that the rest is whole only where that was found so."""
    stored = "`fabriscope verify` says what is left"
    with contextlib.suppress(StoreError, OSError):
        account = checks.check_folder(folder)
        if account.findings:
            stored = f"nor is what was stored before whole: {account.findings[0].sentence()}"
        elif not account.notes:
            stored = "what was stored before is whole; make room or mend the permissions, then resume"
    return StoreError(f"cannot be written: {error.strerror or error}", where=str(folder), fix=stored)
