"""What a reader passes by because something stands before it: `[app-7] `, `0: `, `# ` on a part of the lines.

Which of a line's first words are a prefix nobody knows: so a text is read again without those that several lines
share, and what the second reading has more than the first one is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Literal, Protocol, TypeVar

from fabriscope.model.counting import counted
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers import _rows

MOST_LINES = 20_000
"""Of a text that is read again."""
MOST_READINGS = 6
MOST_OF_ALL = 0.9
"""The share of lines that begin alike where all are said to."""
LONGEST_LINE = 1000
"""Before which a prefix is looked for."""
_ENDED_BY_SIGN = re.compile(r" {0,40}(?:\S{1,60} {1,4}){0,4}?\S{0,60}[\]>:|)}#=*$%;,]{1,4}(?: {1,2}|(?=[|\[A-Za-z]))")
_WORD = re.compile(r" {0,40}\S{1,40} {1,2}")
_DIGITS = re.compile(r"\d+")


class Table(_rows.Rows, Protocol):
    """A table that was read."""

    @property
    def parameters(self) -> Sequence[object]: ...


class Problem(Protocol):
    """Something that is told."""

    @property
    def line(self) -> int: ...


class Draft(Protocol):
    """What a reader has filled."""

    @property
    def version(self) -> str | None: ...
    @property
    def parameters(self) -> Collection[object]: ...
    @property
    def tables(self) -> Sequence[Table]: ...
    @property
    def problems(self) -> Sequence[Problem]: ...


D = TypeVar("D", bound=Draft)


def strays(
    part: _rows.Part,
    draft: D,
    before: int,
    among: _rows.Among | None,
    new: Callable[[str], D],
    fill: Callable[[D], None],
) -> Iterator[tuple[str, Literal["cut", "noted"], int]]:
    """Yield what stands among rows and is none, which rows are missing, and what a prefix hides: words, kind, line.

    `before`: tables of other ranks; `new` and `fill` read a text again.
    """
    told = [problem.line for problem in draft.problems]
    yield from _rows.check(part.text, part.numbers, draft.tables[before:], told, among)
    lines = part.text.splitlines()
    if len(lines) > MOST_LINES or part.text.lstrip()[:1] == "{":
        return
    tables = draft.tables[before:]
    taken = {line for table in tables for line in table.lines} | {problem.line for problem in draft.problems}
    values, others = _count(tables, () if before else (*draft.parameters, draft.version))
    for places in _groups(lines, part.numbers, taken)[:MOST_READINGS]:
        again = new("\n".join([*(line[places.get(place, 0) :] for place, line in enumerate(lines)), ""]))
        with suppress(ParseError):  # what was read before that counts
            fill(again)
        more_values, more_others = _count(again.tables, () if before else (*again.parameters, again.version))
        if more_values > values or (more_values == values and more_others > others):
            place, end = next(iter(places.items()))
            more = f" (and {counted(len(places) - 1, 'line')} more)" if len(places) > 1 else ""
            prefix, line = shown(lines[place][:end].strip()), shown(" ".join(lines[place].split()))
            what = f"what stands behind {prefix} is not read: {line}{more}"
            is_cut = more_values > values or [one.name for one in again.tables] != [one.name for one in tables]
            yield what, "cut" if is_cut else "noted", _number(part.numbers, place)
            return


def of_every_line(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before nearly every line, and the text without it, for each form that it may have."""
    lines = text.splitlines()[:MOST_LINES]
    full = [line for line in lines if line.strip()]
    ends = zip(min(full), max(full), strict=False) if len(full) > 2 else ()  # what these two share all share
    same = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    if same.strip():
        yield same.strip(), "\n".join([*(line.removeprefix(same) for line in lines), ""])
    for pattern in (_ENDED_BY_SIGN, _WORD):
        hits = [pattern.match(line) if len(line) <= LONGEST_LINE else None for line in lines]
        forms = Counter(_DIGITS.sub("0", hit[0].strip()) for hit in hits if hit)
        for form, count in forms.most_common(1):
            if count >= max(3, MOST_OF_ALL * len(full)):
                first = next(hit[0].strip() for hit in hits if hit and _DIGITS.sub("0", hit[0].strip()) == form)
                rest = (line[hit.end() :] if hit else line for line, hit in zip(lines, hits, strict=True))
                yield first, "\n".join([*rest, ""])


def _count(tables: Iterable[Table], others: Iterable[object]) -> tuple[int, int]:
    """Return how many numbers and words stand in rows, and how much is said beside them."""
    full = [table for table in tables if table.rows]
    values = sum(len(row) for table in full for _, row in table.rows)
    return values, sum(one is not None for one in others) + sum(1 + len(table.parameters) for table in full)


def _number(numbers: Sequence[int], place: int) -> int:
    return numbers[place] if numbers else place + 1


def _groups(lines: Sequence[str], numbers: Sequence[int], taken: Container[int]) -> list[dict[int, int]]:
    """Return lines that share a prefix of no row, as places and where it ends; first those of many, with digits."""
    groups: dict[str, dict[int, int]] = {}
    of_rows: set[str] = set()
    for place, line in enumerate(lines):
        hits = [pattern.match(line) for pattern in (_ENDED_BY_SIGN, _WORD)] if len(line) <= LONGEST_LINE else []
        for form, end in {_DIGITS.sub("0", hit[0].strip()): hit.end() for hit in hits if hit}.items():
            if _number(numbers, place) in taken:
                of_rows.add(form)
            groups.setdefault(form, {})[place] = end
    kept = [
        (any(_DIGITS.search(lines[at], end) for at, end in places.items()), len(places), places)
        for form, places in groups.items()
        if form not in of_rows and not form.replace(".", "").isdigit()
    ]
    return [places for _, _, places in sorted(kept, key=lambda one: one[:2], reverse=True)]
