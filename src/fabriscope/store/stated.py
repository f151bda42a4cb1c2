"""What seal.json says of itself, whoever wrote it: read to be checked, not to be relied on (that is `seal.load`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabriscope.model.record import FileDigests
from fabriscope.store import inside, seal, shapes
from fabriscope.store.files import to_json


@dataclass(frozen=True)
class Stated:
    """What seal.json says: anybody may have changed it, so that each of its fields may be anything."""

    files: Mapping[str, FileDigests]
    launch_count: object = None
    chain: object = None
    ended: object = None
    seal: object = None
    format: object = None
    version: object = None
    is_whole: bool = False
    """Whether it is as it was written."""


UNREADABLE = Stated({})


def stated_in(content: bytes) -> Stated:
    """Return what seal.json says; raises ValueError where nothing can be read from it."""
    parsed = inside.parse_object(content)
    stated = shapes.decode(parsed, Stated)
    about = {name: value for name, value in parsed.items() if name != seal.FIELD}
    is_spelled = content == to_json(parsed, indent=1) + b"\n"
    return replace(stated, is_whole=is_spelled and stated.seal == seal.sha256(to_json(about)))
