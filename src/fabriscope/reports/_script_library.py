"""The scripts that draw a page's figures (Vega, Vega-Lite, vega-embed), as a page holds them: gzip, in base64.

Building them takes two seconds of a processor, so they are kept in the user's cache, and built again where the cache
has none, has others than were written, or could have been written by somebody else.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fabriscope.model import caches, folders
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.search_paths import python_argv
from fabriscope.reports.base import write_file

BUILD_TIMEOUT_S = 120


class ScriptLibrary:
    """The scripts, which are being built while others work unless they are kept."""

    def __init__(self) -> None:
        self._path = kept_path()
        self._kept = _read(self._path)
        self._building = None if self._kept is not None else _start()

    def text(self) -> str:
        """Return the scripts once they are there; raises FabriscopeError where they cannot be built."""
        if self._building is None or self._kept is not None:
            return self._kept or ""
        self._kept = _built(self._building)
        _keep(self._path, self._kept)
        return self._kept


def kept_path() -> Path | None:
    """Return where the scripts of this version of their builder are kept, None where there is no home or no builder."""
    with contextlib.suppress(FabriscopeError, PackageNotFoundError):  # the builder itself says better what it lacks
        return caches.folder("pages") / f"scripts-{version('vl-convert-python')}"
    return None


def _read(path: Path | None) -> str | None:
    """Return what is kept, None where that cannot be used."""
    try:
        if path is None or folders.problem(str(path)) is not None:
            return None
        digest, _, text = path.read_text(encoding="ascii").partition("\n")
    except (OSError, ValueError):
        return None
    return text if hashlib.sha256(text.encode()).hexdigest() == digest else None


def _keep(path: Path | None, text: str) -> None:
    """Keep the scripts for the next page; a page is made whether or not that can be."""
    if path is None:
        return
    with contextlib.suppress(OSError):
        if folders.private_folder(str(path.parent)) is None:
            write_file(path, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}".encode())


def _start() -> subprocess.Popen[str]:
    """Start building, in a process of its own: the builder keeps more memory than the rest of a report together."""
    code = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle())"
    pipe = subprocess.PIPE
    return subprocess.Popen(python_argv("-c", code), stdout=pipe, stderr=pipe, text=True, encoding="utf-8")


def _built(process: subprocess.Popen[str]) -> str:
    try:
        text, complaint = process.communicate(timeout=BUILD_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()  # ends: it was killed, and starts no others that could keep its output open
        raise FabriscopeError("building the figures' script library took too long", fix="try again") from None
    if process.returncode < 0:
        what = f"the program that builds the figures' script library was ended by signal {-process.returncode}"
        raise FabriscopeError(what, fix="give it more memory, or use another format (markdown, csv)")
    if process.returncode != 0:
        last = complaint.strip().splitlines()[-1] if complaint.strip() else "no message"
        raise FabriscopeError(f"the figures' script library cannot be built: {last}", fix="reinstall vl-convert-python")
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
