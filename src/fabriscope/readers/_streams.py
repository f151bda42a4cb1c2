"""A log as a program wrote it: without colours, without what a launcher puts before each line, one text for each rank.

    [1,0]<stdout>:# OSU MPI Latency Test v5.8        Open MPI, --tag-output
    [rank 1] bytes   #sent   #ack                    torchrun and others
    [0] 65536   4.21                                 Hydra and Intel MPI, -prepend-rank
    0: 65536   4.21                                  srun --label
    node1: 65536   4.21                              pdsh, clush
    mpi-1  | 65536   4.21                            docker compose logs
    2026-11-24T10:00:00.123Z 65536   4.21            kubectl logs --timestamps
    Nov 24 10:00:00 65536   4.21                     ts; journald, with host and program

Lines of other ranks are left out; the numbers of a rank's own lines are kept, since they are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from fabriscope.readers.work import MOST_LINES, line_count

_ESCAPE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9])")
_JUMP = re.compile("(?<=[0-9.])\x1b\\[[0-?]*[ -/]*[@-JL-ln-~](?=[0-9.])")
"""What moves or clears, between digits: they are of two numbers."""
_MOST_ESCAPES = 1_000_000
"""A text that has more, eight in each line that is read, is read as it stands."""
_SIGNS = dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ") | {0x2212: "-", 0xFEFF: ""}
"""Blanks of web pages and of other scripts, and minus signs, which stand in logs that were copied from there; the marks
with which files begin that were written one behind the other."""
_ASCII = bytes(range(128))
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_YEAR = r"20(?:[0-3]\d|4[0-7])"
"""Behind a clock that has the day of the week before it: behind another one a size may stand, such as 2048."""
_TIME_STAMP = re.compile(
    rf"^[ \t]{{0,40}}(?:\[?\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?\]?(?: stdout F)?"
    rf"|[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_CLOCK} {_YEAR}"
    rf"|[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}(?: \S{{1,64}} [\w./@-]{{1,64}}\[\d{{1,9}}\]:)?"
    rf"|\[?{_CLOCK}\]?|\d{{10}}\.\d{{1,9}}|\d\d[./]\d\d[./]\d{{4}} {_CLOCK}(?: [AP]M)?)(?:[ \t]|$)",
    re.MULTILINE,
)
_TAGS = (
    re.compile(r"\[(?:[\w.-]{0,80}@)?\d{1,9},(\d{1,9})\]<(?:stdout|stderr|stddiag)>:[ ]?"),
    re.compile(r"\[rank[ ]?(\d{1,9})\]:?[ ]?"),
    re.compile(r"\[(\d{1,9})\](?: |$)", re.MULTILINE),
    re.compile(r"[ ]{0,6}(\d{1,9}):(?: |$)", re.MULTILINE),
    re.compile(r"(?!sockperf:)(?=[A-Z._-]{0,62}[a-z0-9])([A-Za-z][\w.-]{0,62})(?:: | {0,20}\| |:$)", re.MULTILINE),
)
_OF_ROW_NUMBERS, _OF_HOSTS = _TAGS[3:]
_LEAST_SHARE = (0.0, 0.0, 0.8, 0.8, 0.95)
"""Of the lines with text that have a tag: a bare number in brackets is a tag only where nearly all lines have one."""
_LISTED = re.compile(r'^[ ]{0,80}"((?:[^"\\\n]|\\.){0,1000})",?[ ]*$', re.MULTILINE), r"\1", 0.5
_WRAPPERS = {">": (re.compile(r"^[ ]{0,40}(?:>[ ]?){1,9}", re.MULTILINE), "", 0.95), **dict.fromkeys('[{"', _LISTED)}
"""How a text begins to what stands around its lines, what is kept of them, and on which share of them it stands."""
_LEAST_LINES = 5
"""Of each host: a name and a colon on fewer lines is a label."""
MOST_STREAMS = 64
"""Of ranks that are told apart; the lines of more are read as they stand."""
_MOST_SHARED = 1 << 20
"""Characters of lines without a tag, times the ranks to which they go; those of more are read as they stand."""
_NETPIPE_ROW = re.compile(r" {0,9}\d{1,9}: {1,20}\d{1,15} {1,9}(?:bytes|[KMG]?B) ")


@dataclass(frozen=True)
class Stream:
    """What one rank wrote, or all that cannot be told apart."""

    rank: str
    """Its number, or the name of its host; empty where none are told apart."""
    text: str
    numbers: Sequence[int] = ()
    """Of the text's lines in the file, counted from 1; empty where they are those of the text."""
    odd: Sequence[tuple[int, str]] = ()
    """Lines of the file, with their numbers, in which digits of another script stood."""

    @property
    def told(self) -> tuple[str, int | str]:
        """Return which rank it is, or which host, as a parameter of its tables says it."""
        return ("rank", int(self.rank)) if self.rank.isdigit() else ("printed_by", self.rank)


@lru_cache(maxsize=2)
def streams(text: str) -> tuple[Stream, ...]:
    """Return what each rank wrote; of a log that tells none apart, or of more lines than are read, the whole."""
    text = _ESCAPE.sub("", _JUMP.sub(" ", text)) if 0 < text.count("\x1b") < _MOST_ESCAPES else text
    text = text if text.isascii() else text.translate(_SIGNS)
    text = text.replace("\t", " ")  # an editor, or a copy, has put them there
    text = _unwrapped(_without_returns(text) if "\r" in text else text)
    digits = set[str]() if text.isascii() else _foreign_digits(text)
    if not digits:
        return _streams(text)
    odd = [(number, line) for number, line in enumerate(text.splitlines(), 1) if not digits.isdisjoint(line)]
    parts = _streams(text.translate(dict.fromkeys(map(ord, digits), "\ufffd")))
    own = (set(part.numbers) for part in parts)
    return tuple(
        replace(part, odd=[one for one in odd if not its or one[0] in its])
        for part, its in zip(parts, own, strict=True)
    )


def _unwrapped(text: str) -> str:
    """Return a text without the signs of a mail that was answered, or the quotes of a list's strings, around its lines.

    They stand around nearly every line, or around most of a list in JSON; else they are what somebody wrote.
    """
    begin = next((sign for sign in _WRAPPERS if text.lstrip().startswith(sign)), "")
    if not begin or line_count(text) > MOST_LINES:
        return text
    pattern, kept, least = _WRAPPERS[begin]
    count = sum(bool(line.strip()) for line in text.splitlines())
    is_wrapped = sum(1 for _ in pattern.finditer(text)) >= least * count
    return pattern.sub(kept, text).replace("\\t", " ") if is_wrapped else text


def _without_returns(text: str) -> str:
    """Return a text whose lines end alike, in which a line that was written over by the same one stands once.

    As many lines as before: what ends a line alone may be a terminal's return, or the end of lines of an old system.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > 1 and line_count(text) <= MOST_LINES:
        for place, line in enumerate(lines):
            parts = line.split("\r")
            if len(parts) > 1:
                kept = [part if part != after else "" for part, after in pairwise(parts)]
                lines[place] = "\r".join([*kept, parts[-1]])
    return "\n".join(lines).replace("\r", "\n")


def _streams(text: str) -> tuple[Stream, ...]:
    if line_count(text) > MOST_LINES:  # a JSON report, or too long
        return (Stream("", text),)
    text = _without_stamps(text)
    lines = text.splitlines(keepends=True)
    for tag, least in zip(_TAGS, _LEAST_SHARE, strict=True):
        parts = _by_rank(lines, tag, least)
        if parts:
            return parts
    return (Stream("", text),)


def _without_stamps(text: str) -> str:
    """Return a text without the time before each line, where more than half of its lines have one."""
    if text.count("\n") and sum(1 for _ in _TIME_STAMP.finditer(text)) * 2 > text.count("\n"):
        return _TIME_STAMP.sub("", text)
    return text


def _foreign_digits(text: str) -> set[str]:
    """Return the digits of other scripts in a text, which no program prints: a reader would take them for digits."""
    signs = set(text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8", "replace"))
    return {sign for sign in signs if sign.isdecimal()}


def _by_rank(lines: list[str], tag: re.Pattern[str], least_share: float) -> tuple[Stream, ...]:
    """Return the texts of ranks by a kind of tag; nothing where lines have none."""
    hits = [tag.match(line) for line in lines]
    count = sum(hit is not None for hit in hits)
    if not count or count < least_share * sum(bool(line.strip()) for line in lines):
        return ()
    ranks = sorted({hit[1] for hit in hits if hit}, key=lambda rank: (int(rank) if rank.isdigit() else 0, rank))
    if tag is _OF_ROW_NUMBERS and any(map(_NETPIPE_ROW.match, lines)):
        return ()
    if tag is _OF_HOSTS and len(ranks) * _LEAST_LINES > count:
        return ()
    bare = [line[hit.end() :] if hit else line for line, hit in zip(lines, hits, strict=True)]
    shared = sum(len(line) for line, hit in zip(lines, hits, strict=True) if not hit)
    if len(ranks) == 1 or len(ranks) > MOST_STREAMS or shared * len(ranks) > _MOST_SHARED + sum(map(len, lines)):
        return (Stream("", _without_stamps("".join(bare))),)
    parts: dict[str, tuple[list[str], list[int]]] = {rank: ([], []) for rank in ranks}
    for number, (line, hit) in enumerate(zip(bare, hits, strict=True), 1):
        for own, numbers in (parts[hit[1]],) if hit else parts.values():
            own.append(line)
            numbers.append(number)
    return tuple(Stream(rank, _without_stamps("".join(own)), numbers) for rank, (own, numbers) in parts.items())
