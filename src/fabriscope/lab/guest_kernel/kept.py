"""The kernels that were built, and which of them is used."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from fabriscope.lab.guest_kernel.changes import CHANGES
from fabriscope.model import caches
from fabriscope.model.errors import LabError, ToolMissing
from fabriscope.model.foreign import Foreign

KERNEL_VARIABLE = "FABRISCOPE_GUEST_KERNEL"
CONFIG = Path(__file__).with_name("guest.config")
RECORD = "kernel.json"
PROGRAM = "linux"


@dataclass(frozen=True)
class Kernel:
    """One kernel in the cache."""

    path: Path
    version: str
    """Of its source, as 6.1.192."""
    recipe: str
    """By which it was built (`recipe()` then)."""
    source: str
    """Where the source came from, in words."""
    built_unix_s: float


def cache_folder() -> Path:
    """Return the folder that keeps the kernels."""
    return caches.folder("kernels")


def recipe() -> str:
    """Return a name for what this version of fabriscope makes of a source: configuration and changes."""
    digest = hashlib.sha256(CONFIG.read_bytes())
    for change in CHANGES:
        digest.update(f"\0{change.file}\0{change.old}\0{change.new}".encode())
    return digest.hexdigest()[:16]


def recorded(record: Path) -> Kernel:
    """Return the kernel that a record in the cache is of; raises OSError, or LabError for what is no record."""
    said = Foreign.json(record.read_bytes(), str(record), error=LabError)
    version, recipe_then, source = (said.at(name).text() for name in ("version", "recipe", "source"))
    return Kernel(record.with_name(PROGRAM), version, recipe_then, source, said.at("built_unix_s").number())


def kept_kernels() -> list[Kernel]:
    """Return the kernels in the cache, the last that was built first. Raises LabError where others can write there."""
    found = []
    for record in cache_folder().glob(f"*/{RECORD}"):
        for path in (record, record.with_name(PROGRAM)):
            caches.check(path, LabError)
        try:
            one = recorded(record)
        except (OSError, LabError):
            continue  # it is being written or removed right now
        if os.access(one.path, os.X_OK):
            found.append(one)
    return sorted(found, key=lambda one: one.built_unix_s, reverse=True)


def find() -> Path:
    """Return the kernel that guests boot: the one that the environment names, or the last by today's recipe.

    Raises ToolMissing, or LabError where others can write in the cache.
    """
    given = os.environ.get(KERNEL_VARIABLE)
    if given:
        if os.access(given, os.X_OK):
            return Path(given).absolute()
        raise ToolMissing(f"{given} is no program", where=KERNEL_VARIABLE, fix="name a kernel built with ARCH=um")
    usable = [one.path for one in kept_kernels() if one.recipe == recipe()]
    if usable:
        return usable[0]
    raise ToolMissing(
        "no kernel for guests has been built on this machine",
        fix="`fabriscope lab kernel build` builds one, in some minutes, and keeps it",
    )
