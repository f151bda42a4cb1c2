"""Places at which no run folder can be, whatever stands there."""

from __future__ import annotations

from pathlib import Path

from fabriscope.model.errors import StoreError, shown


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
