"""What is kept for later: where, trusted before it is executed, and worked on by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from fabriscope.model import folders
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.home import home_folder

_POLL_S = 0.1


def folder(name: str) -> Path:
    """Return the folder of one of our caches, there or not; raises FabriscopeError where there is no home."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(home_folder() / ".cache")
    return Path(cache) / "fabriscope" / name


def check(path: Path, error: type[FabriscopeError]) -> None:
    """Raise `error` where somebody else could have put there what we would execute; nothing there is well."""
    with contextlib.suppress(FileNotFoundError):
        try:
            why = folders.problem(str(path))
        except PermissionError as denied:
            why = f"{path} cannot be looked at: {denied.strerror}"
        if why is not None:
            raise error(
                f"what is kept there is not executed: {why}",
                where=str(path),
                fix="remove it, `chmod go-w` it, or set XDG_CACHE_HOME to a folder that only you can write",
            )


@contextlib.contextmanager
def locked(
    path: Path, timeout_s: float, error: type[FabriscopeError], cancel: threading.Event | None = None
) -> Iterator[None]:
    """Hold a lock file for the block.

    Raises `error` where somebody else holds it for longer than the time limit, or until `cancel` is set.
    """
    deadline = time.monotonic() + timeout_s
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise error(
                        f"another process has held this lock for {timeout_s:.0f} s",
                        where=str(path),
                        fix=f"`fuser {path}` tells which; end it if it is stuck",
                    ) from None
                if cancel is not None and cancel.is_set():
                    raise error("it was interrupted while another process held this lock", where=str(path)) from None
            time.sleep(_POLL_S)
        yield
