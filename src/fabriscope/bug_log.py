"""What becomes of an error that nobody foresaw: one sentence for the user, and a log that has its traceback.

There are two borders: the command line, and a launch of a run. Beyond them no traceback is ever printed.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fabriscope import __version__
from fabriscope.model import folders

_PACKAGE = Path(__file__).parent
_MAX_WORDS = 200
"""Characters of an error's own words that a sentence holds; the log has all."""
PASSED_BY = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""What is no error, though it is raised."""


def state_folder() -> Path:
    """Return the folder of the logs of commands: `$XDG_STATE_HOME/fabriscope`, or its default below the home."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "fabriscope" / "errors"


def sentence(error: BaseException) -> str:
    """Return what happened, and where in the code: `TypeError: ... (adapters/iperf3.py:44)`."""
    words = " ".join(str(error).split())
    if len(words) > _MAX_WORDS:
        words = words[:_MAX_WORDS] + "..."
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return f"{type(error).__name__}: {words}"
    last = next((frame for frame in reversed(frames) if not _is_of_library(Path(frame.filename))), frames[-1])
    place = Path(last.filename)
    name = place.relative_to(_PACKAGE) if place.is_relative_to(_PACKAGE) else place.name
    return f"{type(error).__name__}: {words} ({name}:{last.lineno})"


def _is_of_library(path: Path) -> bool:
    """Return whether a file belongs to Python or to a package, neither to us nor to a plug-in."""
    homes = (sys.prefix, sys.base_prefix)
    return not path.is_relative_to(_PACKAGE) and (not path.is_absolute() or any(map(path.is_relative_to, homes)))


def keep(error: BaseException, about: str, folder: Path | None = None) -> Path | None:
    """Write the traceback, with what has to be known beside it, into a new file; return None where that is impossible.

    `about` says what was going on; `folder` is by default that of commands.
    """
    try:
        place = state_folder() if folder is None else folder
        folders.make(str(place))
        prefix = f"{time.strftime('%Y%m%d-%H%M%S')}-"
        descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=".log", dir=place)  # ours alone: mode 0600
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(text(error, about))
        return Path(name)
    except (OSError, RuntimeError):  # no room, no home: the sentence alone is left
        return None


def text(error: BaseException, about: str) -> str:
    """Return what a log says."""
    lines = [
        f"fabriscope {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {shlex.join(sys.argv)}",
        f"while: {about}",
        "",
    ]
    return "\n".join(lines) + "".join(traceback.format_exception(error))


def report(error: BaseException, about: str, folder: Path | None = None) -> str:
    """Keep the traceback, and return the sentence for the user: what happened, where the log is, what to send."""
    path = keep(error, about, folder)
    kept = f"please report it with {path}" if path else "please report it; no log of it could be written"
    with contextlib.suppress(ValueError):
        if path is not None and folder is not None:
            kept = f"please report it with {path.relative_to(folder.parent)} of the run folder"
    return f"an error in fabriscope itself: {sentence(error)} -- {kept}"
