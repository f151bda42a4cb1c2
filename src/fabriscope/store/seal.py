"""The seal of a run: digests by which any later change to its folder is noticed, and found.

Every line of the journal holds the digests of its launch's files and a chain: SHA-256 over the chain of the line before
and the line itself, so that no line can be changed, removed, added or moved unnoticed. `seal.json` is replaced after
every launch; it holds the digests of the files that were written before the first one, and how far the chain goes.
A digest is no signature: who writes all of them anew can write anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.errors import StoreError
from fabriscope.model.foreign import JsonObject
from fabriscope.model.record import FileDigests
from fabriscope.store import inside, marks, shapes
from fabriscope.store.files import plain, plain_object, to_json, write_whole

SEAL_NAME = "seal.json"
FORMAT = "fabriscope-seal"
VERSION = 1
_VERIFY = "`fabriscope verify` says what else was changed"
FIELD = "seal"
"""The field of a journal line, and in seal.json the digest of all else."""


@dataclass(frozen=True)
class SealFile:
    """What seal.json says."""

    files: Mapping[str, FileDigests]
    launch_count: int
    chain: str
    ended: bool
    seal: str
    format: str = ""
    version: int = 1


def sha256(content: bytes) -> str:
    """Return the digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def text_digests(content: bytes) -> FileDigests:
    """Return what a text file is known by again."""
    return FileDigests(sha256(content), marks.mark_lines(content))


def json_digests(content: bytes) -> FileDigests:
    """Return what a JSON file is known by again."""
    return FileDigests(sha256(content), marks.mark_fields(inside.parse(content)))


def origin(manifest: bytes, journal: bytes) -> str:
    """Return where a chain begins: the manifest, and the lines of an older version that stood there before."""
    return sha256(f"{sha256(manifest)}{sha256(journal)}".encode())


@dataclass(frozen=True)
class Sealed:
    """A line of the journal with its seal."""

    document: JsonObject
    chain: str


def sealed(record: Mapping[str, object], files: Mapping[str, FileDigests], before: str) -> Sealed:
    """Return a journal line with its seal; `before` is the chain of the line before it, or the origin."""
    line = plain_object(record)
    about: JsonObject = {"files": plain(files), "marks": marks.mark_fields(line)}
    stated = chain({**line, FIELD: about}, before)
    return Sealed({**line, FIELD: {**about, "chain": stated}}, stated)


def chain(line: Mapping[str, object], before: str) -> str:
    """Return the chain of a journal line; what it says itself of its chain does not count.

    Raises TypeError for a line that has no seal.
    """
    stated = line.get(FIELD)
    if not isinstance(stated, dict):
        raise TypeError("a line without a seal has no chain")
    about = {name: value for name, value in stated.items() if name != "chain"}
    return sha256(before.encode() + to_json({**line, FIELD: about}))


def chain_of(line: Mapping[str, object]) -> str | None:
    """Return the chain that a line states; None for one of an older version, or a damaged one."""
    about = line.get(FIELD)
    stated = about.get("chain") if isinstance(about, dict) else None
    return stated if isinstance(stated, str) else None


def write(folder: Path, files: Mapping[str, object], launch_count: int, stated: str, ended: bool) -> None:
    """Write seal.json, in one step."""
    about: JsonObject = {"format": FORMAT, "version": VERSION, "files": plain(files)}
    about |= {"launch_count": launch_count, "chain": stated, "ended": ended}
    contents = {**about, FIELD: sha256(to_json(about))}
    write_whole(folder / SEAL_NAME, to_json(contents, indent=1) + b"\n")


def load(folder: Path) -> SealFile:
    """Return what seal.json says; raises MissingFile, or StoreError where it is damaged or was changed."""
    content = inside.read_bytes(folder, SEAL_NAME)
    try:
        contents = inside.parse_object(content)
        stated = shapes.decode(contents, SealFile)
        is_whole = stated.seal == sha256(to_json({name: value for name, value in contents.items() if name != FIELD}))
    except ValueError as error:
        raise StoreError(f"the seal is damaged: {error}", where=str(folder / SEAL_NAME), fix=_VERIFY) from error
    if not is_whole:
        raise StoreError("the seal was changed after it was written", where=str(folder / SEAL_NAME), fix=_VERIFY)
    if (stated.format, stated.version) != (FORMAT, VERSION):
        what = f"the seal is {stated.format[:40]!r} of version {stated.version}, and we know {FORMAT} {VERSION}"
        raise StoreError(what, where=str(folder / SEAL_NAME), fix="read it with a newer fabriscope")
    return stated


def wrong_end(stated: SealFile, documents: Sequence[Mapping[str, object] | None], *, is_torn: bool) -> tuple[str, str]:
    """Return where a journal ends otherwise than its seal says, and how; two empty texts where it does not.

    A process may end between a line and its seal: the last line may be one that the seal does not count yet.
    """
    count, more = len(documents), len(documents) - stated.launch_count
    last = f"line {count}" if documents else "line 1"
    if more < 0 or more > 1:
        return last, f"{'' if documents else 'it is empty, and '}the seal counts {stated.launch_count} lines"
    if stated.ended and (more or is_torn):
        return f"line {stated.launch_count + 1}", "it was added after the run had ended"
    if documents and not more and documents[-1] is not None and chain_of(documents[-1]) != stated.chain:
        return last, "it is not the line that the seal was made over"
    return "", ""


def digests_of(folder: Path, json_names: Sequence[str], text_names: Sequence[str]) -> dict[str, FileDigests]:
    """Return the digests of the files that are written before the first launch."""
    found = {name: json_digests(inside.read_bytes(folder, name)) for name in json_names}
    return found | {name: text_digests(inside.read_bytes(folder, name)) for name in text_names}
