"""Places at which no run folder can be, whatever stands there."""

from __future__ import annotations

from pathlib import Path

from fabriscope.model.errors import StoreError, shown
from fabriscope.store.files import COUNTERS_NAME, ERRORS_NAME, LOCK_NAME, PLAN_NAME, RAW_NAME, SAMPLES_NAME
from fabriscope.store.journal import JOURNAL_NAME
from fabriscope.store.manifest import MANIFEST_NAME
from fabriscope.store.seal import SEAL_NAME

_OF_RUNS = (
    MANIFEST_NAME, PLAN_NAME, JOURNAL_NAME, SEAL_NAME, LOCK_NAME, SAMPLES_NAME, RAW_NAME, COUNTERS_NAME, ERRORS_NAME,
)  # fmt: skip
"""What a run writes into its folder: nobody else writes there."""


def refuse_odd_path(folder: Path) -> None:
    """Raise StoreError for a path that is no UTF-8: no reader of samples takes one, nor do manifests and pages."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError:
        what = "its path holds bytes that are no UTF-8"
        raise StoreError(what, where=str(folder), fix="name another, or rename it") from None


def refuse_odd_name(folder: Path) -> None:
    """Raise StoreError for a new folder whose name cannot be told on one line."""
    if not folder.name.isprintable():
        what = "its name has a line end, or another character that no terminal shows"
        raise StoreError(what, where=shown(str(folder)), fix="name another")


def link_to_nowhere(folder: Path) -> str:
    """Return what is wrong with a place that is a link to nothing; empty for any other."""
    if not folder.is_symlink() or folder.exists():
        return ""
    return f"it is a link to {folder.readlink()}, which is not there"


def refuse_part_of_run(path: Path) -> None:
    """Raise StoreError for a file or a folder to write that is what a run consists of, or lies in it."""
    try:
        real = path.resolve()
        for part, folder in zip((real, *real.parents), real.parents, strict=False):
            if part.name in _OF_RUNS and (folder / MANIFEST_NAME).exists() and (folder / JOURNAL_NAME).exists():
                what = f"it is not written, {part.name} there is part of the run {folder.name}"
                raise StoreError(what, where=str(path), fix="name another place")
    except (OSError, RuntimeError):
        return  # what cannot be reached is told by who writes there
