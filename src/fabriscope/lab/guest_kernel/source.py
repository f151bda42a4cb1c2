"""Where the kernel's source is, what it is, and how it becomes a tree that may be changed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import LabError, ToolMissing

PACKAGE = "linux-source-6.1"
"""The series that the configuration and the changes were made for, and tried with."""
_TARBALLS = (Path(f"/usr/src/{PACKAGE}.tar.xz"), Path(f"/usr/src/{PACKAGE}.tar.bz2"))
_FETCH_TIMEOUT_S = 600.0
_UNPACK_TIMEOUT_S = 900.0

PROGRAMS = {"gcc": "gcc", "ld": "binutils", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "tar": "tar",
            "xz": "xz-utils"}  # fmt: skip
"""Program to Debian's package of it."""


@dataclass(frozen=True)
class Source:
    """A source of Linux: a tarball or a tree."""

    path: Path
    words: str
    """What it is, for people."""

    @property
    def identity(self) -> str:
        """Return a name for its content: of a tarball's bytes; of every file's name, size and time in a tree."""
        digest = hashlib.sha256()
        if self.path.is_file():
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        for path in _files(self.path):
            told = path.lstat()
            digest.update(f"{path.relative_to(self.path)}\0{told.st_size}\0{told.st_mtime_ns}\0".encode())
        return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (Path(root) / name for name in sorted(names))


def missing_programs() -> list[str]:
    """Return a sentence for each program that a build needs and that is not here."""
    return [
        f"{program} is not on this machine -- install the package {package}"
        for program, package in PROGRAMS.items()
        if shutil.which(program) is None
    ]


def find(given: Path | None, scratch: Path, notice: Callable[[str], None]) -> Source:
    """Return the source: the given one, the installed package's, or the package's, fetched into `scratch`.

    Raises LabError or ToolMissing.
    """
    if given is not None:
        if given.is_dir() and not (given / "Kconfig").is_file():
            raise LabError("there is no source of Linux in this folder", where=str(given), fix="name its top folder")
        if not given.exists():
            raise LabError("there is no such source", where=str(given), fix="name a source tree or a tarball of one")
        return Source(given, str(given.absolute()))
    for tarball in _TARBALLS:
        if tarball.is_file():
            return Source(tarball, f"Debian's {PACKAGE} {_installed_version()}".strip())
    return _fetched(scratch, notice)


def _installed_version() -> str:
    told = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", PACKAGE], capture_output=True, text=True, timeout=30, check=False
    )
    return told.stdout.strip()


def _fetched(scratch: Path, notice: Callable[[str], None]) -> Source:
    """Return the package's tarball without installing it: that needs no root."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise ToolMissing(f"{PACKAGE} is not on this machine, nor apt", fix="name a source of Linux 6.1 by --source")
    notice(f"fetching {PACKAGE}")
    for argv in (["apt-get", "-qq", "download", PACKAGE], ["sh", "-c", "dpkg-deb -x linux-source-*.deb unpacked"]):
        done = subprocess.run(argv, cwd=scratch, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, check=False)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise ToolMissing(f"{PACKAGE} cannot be fetched: {said}", fix=f"install the package {PACKAGE}")
    (package,) = scratch.glob("linux-source-*.deb")
    version = package.name.split("_")[1]
    return Source(next(scratch.glob("unpacked/usr/src/*.tar.*")), f"Debian's {PACKAGE} {version}")


def unpack(source: Source, folder: Path) -> None:
    """Make a tree of our own of the source; raises LabError."""
    if source.path.is_dir():
        shutil.copytree(source.path, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return
    folder.mkdir()
    argv = ["tar", "-xf", str(source.path.absolute()), "-C", str(folder), "--strip-components=1"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_UNPACK_TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise LabError(f"it cannot be unpacked: {done.stderr.strip()[-200:]}", where=str(source.path))


def version(tree: Path) -> str:
    """Return the version that a tree's Makefile tells, as 6.1.192; raises LabError."""
    text = (tree / "Makefile").read_text()
    parts = [re.search(rf"^{name} = (\d+)$", text, re.MULTILINE) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    if not all(parts):
        raise LabError("its Makefile tells no version of Linux", where=str(tree))
    return ".".join(part[1] for part in parts if part)
