"""The user's home folder, below which caches, records and logs lie."""

from __future__ import annotations

from pathlib import Path

from fabriscope.model.errors import FabriscopeError, shown


def home_folder() -> Path:
    """Return it; raises FabriscopeError where neither HOME nor the system's list of users names one."""
    try:
        return Path.home()
    except RuntimeError as error:
        what = "you have no home folder: HOME is not set, and the system does not know your user"
        raise FabriscopeError(what, fix="set HOME to a folder of yours") from error


def expanded(path: str) -> Path:
    """Return a path whose `~` or `~user` is replaced; raises FabriscopeError for a user that there is not."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise FabriscopeError(f"{shown(path)} leads nowhere: {error}", fix="write the whole path") from error
