"""Where programs and modules are looked for: never in the current folder, in which anybody may have put a file.

In PATH, PYTHONPATH and LD_LIBRARY_PATH an empty name means the current folder, and a relative one leads through it.
Python has that folder first on its path for `-c` and `-m`, unless it is told `-P`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_SYSTEM = ("/usr/sbin", "/sbin")
"""Where the system's programs are, which an ordinary user's PATH may lack."""
_SETTINGS = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "CLUSTERSHELL_CFGDIR")
"""Folders of settings and caches: the XDG standard wants a relative one ignored, too."""
_given: dict[str, str] = {}


def python_argv(*words: str) -> list[str]:
    """Return the words that start our own Python with our packages, but nothing of the current folder."""
    return [sys.executable, "-P", *words]


def joined(*parts: str | None) -> str:
    """Return a search path made of others, without what leads into the current folder."""
    folders = [folder for part in parts for folder in (part or "").split(os.pathsep)]
    return os.pathsep.join(folder for folder in folders if folder.startswith("/"))


def programs() -> str:
    """Return PATH, followed by where the system's programs are."""
    return joined(os.environ.get("PATH", os.defpath), *_SYSTEM)


def given() -> Mapping[str, str]:
    """Return the variables as they were before `leave_current_folder`: they are right for a user's own program."""
    return _given


def leave_current_folder() -> None:
    """Take the current folder off the search paths of this process, and of all that it starts."""
    named = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    try:
        here = {"", str(Path.cwd())} - set(named)
        named = [str(Path(folder).absolute()) for folder in named]
    except OSError:  # it was removed: nothing can be in it, and nothing leads through it
        here = {""}
    sys.path[:] = [folder for folder in sys.path if folder not in here]
    cleaned = {
        "PATH": joined(os.environ.get("PATH", os.defpath)) or os.defpath,
        "LD_LIBRARY_PATH": joined(os.environ.get("LD_LIBRARY_PATH")),
        "PYTHONPATH": joined(*(folder for folder in named if folder not in here)),
    }
    for name, value in cleaned.items():
        if name in os.environ and os.environ[name] != value:
            _given.setdefault(name, os.environ[name])
            os.environ[name] = value
    for name in _SETTINGS:
        if not os.environ.get(name, "/").startswith("/"):
            _given.setdefault(name, os.environ.pop(name))
