# ruff: noqa: PTH100, PTH102, PTH112, PTH115, PTH118, PTH120
"""Whether a folder or a file can be trusted: who owns it, and who else may change it or what leads to it.

As ssh judges keys (StrictModes): whatever a name leads through must belong to us or to root, and nobody else may write
there, except in a sticky folder such as /tmp, in which nobody can replace what belongs to us. Plain Python 3.6 without
our other files: also sent to hosts as text.
"""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Iterator

UNWRITABLE = "unwritable"
"""Nobody but us and root can change it: for programs and records that we believe."""
SHARED = "shared"
"""Others may write there, but not touch what is ours: for temporary folders with random names."""
_MAX_STEPS = 400
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def problem(path: str, kind: str = UNWRITABLE) -> "str | None":
    """Return why a path cannot be trusted, as `PATH ...`; None if it can. Raises FileNotFoundError, OSError."""
    last = None
    for entry, info, is_last in _steps(os.path.abspath(path)):
        if info.st_uid not in _trusted():
            return f"{entry} belongs to user {info.st_uid}, not to us"
        is_sticky = stat.S_ISDIR(info.st_mode) and bool(info.st_mode & stat.S_ISVTX)
        if stat.S_ISLNK(info.st_mode) or (is_sticky and (kind == SHARED or not is_last)):
            continue
        if _is_open(info):
            return f"{entry} can be written by other users (mode {stat.S_IMODE(info.st_mode):04o})"
        last = info
    if last is not None and not (stat.S_ISDIR(last.st_mode) or stat.S_ISREG(last.st_mode)):
        return f"{path} is neither a folder nor a file"
    return None


def private_folder(path: str) -> "str | None":
    """Make a folder that only we can enter, with what is missing above it; return why that cannot be, else None.

    Raises OSError.
    """
    make(path)
    why = problem(path)
    if why is not None:
        return why
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        info = os.fstat(handle)
        if info.st_uid != os.geteuid():
            return f"{path} belongs to user {info.st_uid}, not to us"
        if info.st_mode & 0o077:
            os.fchmod(handle, 0o700)
    finally:
        os.close(handle)
    return None


def make(path: str) -> None:
    """Make a folder, with what is missing above it, for us alone whatever the umask says; raises OSError."""
    missing = []
    above = os.path.abspath(path)
    while not os.path.isdir(above):
        missing.append(above)
        above = os.path.dirname(above)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:  # somebody was faster, or it is no folder
            if not os.path.isdir(folder):
                raise


def open_below(path: str) -> "str | None":
    """Return what in a tree others can change, as `PATH ...`; None for nothing. Raises OSError."""
    for folder, _, names in os.walk(path):
        for entry in [folder] + [os.path.join(folder, name) for name in names]:
            info = os.lstat(entry)
            if info.st_uid not in _trusted():
                return f"{entry} belongs to user {info.st_uid}, not to us"
            if not stat.S_ISLNK(info.st_mode) and _is_open(info):
                return f"{entry} can be written by other users (mode {stat.S_IMODE(info.st_mode):04o})"
    return None


def _steps(path: str) -> "Iterator[tuple[str, os.stat_result, bool]]":
    """Yield name, lstat and whether it is the last of everything that a path leads through, links included."""
    left = [name for name in reversed(path.split("/")) if name]
    current = "/"
    yield "/", os.lstat("/"), not left
    for _ in range(_MAX_STEPS):
        if not left:
            return
        name = left.pop()
        if name in ("", "."):
            continue
        if name == "..":
            current = os.path.dirname(current)
            continue
        entry = os.path.join(current, name)
        info = os.lstat(entry)
        yield entry, info, not left
        if stat.S_ISLNK(info.st_mode):
            target = os.readlink(entry)
            current = "/" if target.startswith("/") else current
            left.extend(reversed(target.split("/")))
        else:
            current = entry
    raise OSError(errno.ELOOP, "too many links lead there", path)


def _trusted() -> "set[int]":
    """Return us, root, and the owner of /, who can change everything: in a user namespace root has another number."""
    return {os.geteuid(), 0, os.lstat("/").st_uid}


def _is_open(info: os.stat_result) -> bool:
    """Return whether others may write; a group that has nobody but us in it is not others."""
    if not info.st_mode & _OTHERS:
        return False
    return bool(info.st_mode & stat.S_IWOTH) or not _is_own_group(info.st_gid)


def _is_own_group(number: int) -> bool:
    """Return whether this is the group that many systems make for each user, with the user's name."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and user.pw_gid == number and set(group.gr_mem) <= {user.pw_name}
