"""A log as it is found, compressed, from Windows, of several programs: its text, and what each of them says in it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from fabriscope.model import plain_files
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers import _prefixed, _quoted
from fabriscope.readers.base import Document, Problem, Reader
from fabriscope.readers.work import Work

MOST_BYTES = 16 << 20
"""Of a log, and of what a compressed one holds; larger ones are refused."""
_COMPRESSIONS: dict[bytes, tuple[str, Callable[[BinaryIO], io.BufferedIOBase]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ": ("xz", lzma.LZMAFile),
}
_OTHER_COMPRESSIONS = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_TAR, _TAR_AT = b"ustar", 257
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_NUL = 0.01
"""Share of a text's bytes: a machine that went down leaves some in its logs, and a binary file has more."""


def read_text(path: Path, name: str) -> str:
    """Return a log's text, whatever its encoding or compression, `-` for standard input; raises ParseError."""
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if str(path) == "-" else plain_files.read(path, MOST_BYTES)
    except OSError as error:
        raise ParseError(f"it cannot be read: {plain_files.why(error)}", where=name) from error
    return decoded(data, name)


def decoded(data: bytes, name: str) -> str:
    """Return the text of a log's bytes; raises ParseError for too many, for a damaged compression, for no text."""
    if len(data) <= MOST_BYTES:
        data = _decompressed(data, name)
    if len(data) > MOST_BYTES:
        raise ParseError(f"it is longer than {MOST_BYTES >> 20} MiB", where=name, fix="cut out what is to be read")
    if data[:2] in _UTF_16:
        return data.decode("utf-16", "replace")
    if data[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        raise ParseError("it is a tar archive", where=name, fix="unpack it and name the folder")
    if data.count(0) > _MOST_NUL * len(data):
        raise ParseError("it is a binary file, not a log", where=name)
    return data.decode("utf-8-sig", "replace")


def _decompressed(data: bytes, name: str) -> bytes:
    other = next((kind for magic, kind in _OTHER_COMPRESSIONS.items() if data.startswith(magic)), None)
    if other is not None:
        raise ParseError(f"it is compressed by {other}", where=name, fix="decompress it first")
    for magic, (kind, opened) in _COMPRESSIONS.items():
        if data.startswith(magic):
            try:
                return opened(io.BytesIO(data)).read(MOST_BYTES + 1)
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                raise ParseError(f"its compression ({kind}) is cut or damaged: {error}", where=name) from error
    return data


def documents(text: str, readers: Mapping[str, Reader], name: str, program: str | None = None) -> list[Document]:
    """Return what each program that wrote a part of a log says in it, or one that is named.

    Raises ParseError where nobody knows the log, or nothing stands in it that is a result or a failure.
    """
    if not text.strip():
        raise ParseError("it is empty", where=name)
    names = [program] if program else [one for one in sorted(readers) if readers[one].recognises(text)]
    quoted = {} if program else {one: at for one, at in _quoted.programs(text, readers).items() if one not in names}
    if quoted and not names:
        what = f"what {' and '.join(quoted)} printed stands in strings of JSON here"
        raise ParseError(what, where=f"{name}, line {min(quoted.values())}", fix=_quoted.FIX)
    if not names:
        for prefix, rest in _prefixed.of_every_line(text):
            if behind := [one for one in sorted(readers) if readers[one].recognises(rest)]:
                what = f"every line begins with something like {shown(prefix)}, behind which {behind[0]} wrote"
                raise ParseError(what, where=f"{name}, line 1", fix="take that away from every line")
        known = ", ".join(f"{one} ({readers[one].reads})" for one in sorted(readers))
        raise ParseError("no known program wrote this", where=name, fix=f"known: {known}")
    work = Work()
    read = [readers[one].read(text, work) for one in names]
    telling = [document for document in read if document.rows() or document.problems]
    if not telling:
        raise ParseError(f"no result of {' or '.join(names)} stands in this", where=name)
    return [*telling, *(_unread(one, line) for one, line in quoted.items())]


def _unread(program: str, line: int) -> Document:
    """Return that nothing was read of what a program printed."""
    what = f"what {program} printed stands in a string of JSON, and is not read: {_quoted.FIX}"
    return Document(program, None, (), (), (Problem(line, what, "cut"),))
