# ruff: noqa: PTH102, PTH118, PTH123, PTH208
# Temporary folders of launches: each is locked while its owner lives, so that what a kill has left can be told from
# what somebody uses. Plain Python 3.6: imported by `_guard`, and sent to hosts as text.
import fcntl
import os
import re
import shutil
import stat

NAMES = re.compile(r"fabriscope-(?:[0-9a-f]{12}|[0-9a-f]{16}|ssh-[0-9a-f]{8})")
"""Of a launch's folder where fabriscope runs, of one on another host, and of one for shared connections of ssh."""
MOST_TRIES = 20


def make_held(path: str) -> int:
    """Make a folder for us alone, and return the descriptor by which it is ours as long as we live. Raises OSError."""
    for left in range(MOST_TRIES, 0, -1):
        os.mkdir(path, 0o700)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # somebody who clears away was faster than our lock
            if left == 1:
                raise
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # ends: who clears away has it for a moment
        except OSError:
            return handle  # a file system without locks: nobody takes a folder away there
        if _is_still(path, handle):
            return handle
        os.close(handle)
    raise FileNotFoundError(2, os.strerror(2), path)


def _is_still(path: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def clear_abandoned(place: str, is_dry: bool = False) -> "list[str]":
    """Remove our folders there that nobody holds and no process was told of; return their paths.

    Only ours alone (our user, mode 0700), by names that launches give. With `is_dry` they stay.
    """
    try:
        names = sorted(name for name in os.listdir(place) if NAMES.fullmatch(name))
    except OSError:
        return []
    return [path for path in (os.path.join(place, name) for name in names) if _is_cleared(path, is_dry)]


def _is_cleared(path: str, is_dry: bool) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # no folder, not ours, or gone
        return False
    try:
        info = os.fstat(handle)
        if info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) != 0o700:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_told_of(path.encode()):
            return False
        if not is_dry:
            shutil.rmtree(path)
        return True
    except OSError:  # somebody holds it, or something in it does not go
        return False
    finally:
        os.close(handle)


def _is_told_of(path: bytes) -> bool:
    """Return whether a process has the path in its words or in its environment: what removes it, or writes there."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            try:
                with open("/proc/" + pid + "/" + name, "rb") as file:
                    if path in file.read():
                        return True
            except OSError:  # it has ended, or is another user's
                continue
    return False
