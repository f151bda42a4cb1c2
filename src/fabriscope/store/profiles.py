"""The file that `fabriscope profile --output` writes: its jobs as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.foreign import Foreign
from fabriscope.model.profile import Profile
from fabriscope.store import shapes
from fabriscope.store.files import to_json

FORMAT = "fabriscope-profile"
VERSION = 1
_MOST_BYTES = 1 << 30


def read(path: Path) -> tuple[Profile, ...]:
    """Return the jobs of a file; raises StoreError where it is none of ours, or a damaged or newer one."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as error:
        raise StoreError(f"it cannot be read: {error.strerror}", where=str(path)) from error
    about = Foreign.json(content, str(path), error=StoreError)
    if about.at("format").value != FORMAT:
        raise StoreError("it is no profile", where=str(path), fix="`fabriscope profile --output` writes one")
    if about.at("version").whole() != VERSION:
        raise StoreError("a newer fabriscope wrote it", where=str(path), fix="use that one")
    try:
        return shapes.decode(about.at("jobs").value, tuple[Profile, ...])
    except ValueError as error:
        raise StoreError(f"it is damaged: {error}", where=str(path)) from error


def text_of(jobs: Sequence[Profile]) -> str:
    """Return the file's text: bytes and ns, by rank, call, size class and peer."""
    return to_json({"format": FORMAT, "version": VERSION, "jobs": list(jobs)}).decode() + "\n"
