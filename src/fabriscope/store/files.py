"""Writing files so that they are there whole or not at all, and JSON that every reader accepts."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path

from fabriscope.model.foreign import Json, JsonObject

PLAN_NAME = "plan.yaml"
SAMPLES_NAME = "samples"
RAW_NAME = "raw"
COUNTERS_NAME = "counters"
LOCK_NAME = ".lock"
ERRORS_NAME = "errors"
_PACKING_LEVEL = 6
"""Of gzip: 9, its own choice, took ten times as long over an engine's output, and left 95 % of the bytes."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, wait until it is on the disk, then give it its name.

    Raises OSError and leaves nothing behind when the disk is full; a file of that name is replaced in one step.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.unlink(missing_ok=True)  # left by a process that was killed
        # Made anew: a link that somebody planted under this name is not followed.
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the folder's list of names is on the disk: without it a rename may be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pack(content: bytes) -> bytes:
    """Return gzip's bytes without a time stamp: the same content gives the same bytes."""
    return gzip.compress(content, _PACKING_LEVEL, mtime=0)


def to_json(value: object, *, indent: int | None = None) -> bytes:
    """Return JSON text: dataclasses as objects, NaN and infinity (which JSON lacks) as null."""
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(plain(value), indent=indent, separators=separators, allow_nan=False).encode()


def plain_object(value: Mapping[str, object]) -> JsonObject:
    """Return the members as JSON has them; see `plain`."""
    return {str(name): plain(item) for name, item in value.items()}


def plain(value: object) -> Json:
    """Return the value as dicts, lists, text, numbers and None; what JSON does not know becomes its text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return plain_object(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if hasattr(value, "item"):  # a numpy scalar
        return plain(value.item())
    return str(value)
