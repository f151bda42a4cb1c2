"""The user's home folder, below which caches, records and logs lie."""

from __future__ import annotations

import os
from pathlib import Path

from fabriscope.model.errors import FabriscopeError, shown


def home_folder() -> Path:
    """Return it; raises FabriscopeError where neither HOME nor the system's list of users names one."""
    try:
        return Path.home()
    except RuntimeError as error:
        what = "you have no home folder: HOME is not set, and the system does not know your user"
        raise FabriscopeError(what, fix="set HOME to a folder of yours") from error


def state_folder() -> Path:
    """Return the folder for what must be known after a reboot; raises FabriscopeError where there is no home.

    Root's is the machine's, whoever became root, unless XDG_STATE_HOME names a folder of root's.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if os.geteuid() != 0:
        return (Path(named) if named.startswith("/") else home_folder() / ".local" / "state") / "fabriscope"
    is_own = named.startswith("/") and Path(named).is_dir() and Path(named).stat().st_uid == 0
    return (Path(named) if is_own else Path("/var/lib")) / "fabriscope"


def expanded(path: str) -> Path:
    """Return a path whose `~` or `~user` is replaced; raises FabriscopeError for a user that there is not."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise FabriscopeError(f"{shown(path)} leads nowhere: {error}", fix="write the whole path") from error
