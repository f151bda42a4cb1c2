"""A log as a program wrote it: without colours, without what a launcher puts before each line, one text for each rank.

    [1,0]<stdout>:# OSU MPI Latency Test v5.8        Open MPI, --tag-output
    [rank 1] bytes   #sent   #ack                    torchrun and others
    [0] 65536   4.21                                 Hydra and Intel MPI, -prepend-rank
    0: 65536   4.21                                  srun --label
    2026-11-24T10:00:00.123Z 65536   4.21            kubectl logs --timestamps

Lines of other ranks are left out; the numbers of a rank's own lines are kept, since they are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fabriscope.readers.work import MOST_LINES, line_count

_ESCAPE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9])")
_JUMP = re.compile("(?<=[0-9.])\x1b\\[[0-?]*[ -/]*[@-JL-ln-~](?=[0-9.])")
"""What moves or clears, between digits: they are of two numbers."""
_MOST_ESCAPES = 1_000_000
"""A text that has more, eight in each line that is read, is read as it stands."""
_ASCII = bytes(range(128))
_TIME_STAMP = re.compile(
    r"^[ \t]*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t](?=.*\S)", re.MULTILINE
)
_TAGS = (
    re.compile(r"\[(?:[\w.-]{0,80}@)?\d{1,9},(\d{1,9})\]<(?:stdout|stderr|stddiag)>:[ ]?"),
    re.compile(r"\[rank[ ]?(\d{1,9})\]:?[ ]?"),
    re.compile(r"\[(\d{1,9})\](?: |$)", re.MULTILINE),
    re.compile(r"[ ]{0,6}(\d{1,9}):(?: |$)", re.MULTILINE),
)
_LEAST_SHARE = (0.0, 0.0, 0.8, 0.8)
"""Of the lines with text that have a tag: a bare number in brackets is a tag only where nearly all lines have one."""
MOST_STREAMS = 64
"""Of ranks that are told apart; the lines of more are read as they stand."""
_MOST_SHARED = 1 << 20
"""Characters of lines without a tag, times the ranks to which they go; those of more are read as they stand."""
_NETPIPE_ROW = re.compile(r" {0,9}\d{1,9}: {1,20}\d{1,15} {1,9}(?:bytes|[KMG]?B) ")


@dataclass(frozen=True)
class Stream:
    """What one rank wrote, or all that cannot be told apart."""

    rank: str
    """Its number; empty where none are told apart."""
    text: str
    numbers: Sequence[int] = ()
    """Of the text's lines in the file, counted from 1; empty where they are those of the text."""


@lru_cache(maxsize=2)
def streams(text: str) -> tuple[Stream, ...]:
    """Return what each rank wrote; of a log that tells none apart, or of more lines than are read, the whole."""
    text = _ESCAPE.sub("", _JUMP.sub(" ", text)) if 0 < text.count("\x1b") < _MOST_ESCAPES else text
    text = text if text.isascii() else _without_foreign_digits(text)
    if line_count(text) > MOST_LINES:  # a JSON report, or too long
        return (Stream("", text),)
    if text.count("\n") and sum(1 for _ in _TIME_STAMP.finditer(text)) * 2 > text.count("\n"):
        text = _TIME_STAMP.sub("", text)
    lines = text.splitlines(keepends=True)
    for tag, least in zip(_TAGS, _LEAST_SHARE, strict=True):
        parts = _by_rank(lines, tag, least)
        if parts:
            return parts
    return (Stream("", text),)


def _without_foreign_digits(text: str) -> str:
    """Return a text without digits of other scripts, which no program prints: a reader would take them for digits."""
    signs = set(text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8", "replace"))
    digits = {ord(sign): "\ufffd" for sign in signs if sign.isdecimal()}
    return text.translate(digits) if digits else text


def _by_rank(lines: list[str], tag: re.Pattern[str], least_share: float) -> tuple[Stream, ...]:
    """Return the texts of ranks by a kind of tag; nothing where lines have none."""
    hits = [tag.match(line) for line in lines]
    count = sum(hit is not None for hit in hits)
    if not count or count < least_share * sum(bool(line.strip()) for line in lines):
        return ()
    if tag is _TAGS[-1] and any(map(_NETPIPE_ROW.match, lines)):
        return ()
    bare = [line[hit.end() :] if hit else line for line, hit in zip(lines, hits, strict=True)]
    ranks = sorted({hit[1] for hit in hits if hit}, key=int)
    shared = sum(len(line) for line, hit in zip(lines, hits, strict=True) if not hit)
    if len(ranks) == 1 or len(ranks) > MOST_STREAMS or shared * len(ranks) > _MOST_SHARED + sum(map(len, lines)):
        return (Stream("", "".join(bare)),)
    parts: dict[str, tuple[list[str], list[int]]] = {rank: ([], []) for rank in ranks}
    for number, (line, hit) in enumerate(zip(bare, hits, strict=True), 1):
        for own, numbers in (parts[hit[1]],) if hit else parts.values():
            own.append(line)
            numbers.append(number)
    return tuple(Stream(rank, "".join(own), numbers) for rank, (own, numbers) in parts.items())
