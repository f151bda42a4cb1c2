"""What the tables of several programs share: which line is a row, that it has every column, and that it stands once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column, Value

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FIRST = re.compile(r"\d[\d.,]*(?:[kKmMgGtT](?:i?B)?)?")
_LEAST_SHARE = 0.5


def is_number(word: str) -> bool:
    """Return whether a word is a number in plain digits."""
    return _NUMBER.fullmatch(word) is not None


def is_row(words: Sequence[str]) -> bool:
    """Return whether words may be a row: the first is a number, and so are half of all; prose has fewer."""
    if not words or not _FIRST.fullmatch(words[0]):
        return False
    return sum(word[:1].isdigit() or word[:1] in "-.=" for word in words) >= _LEAST_SHARE * len(words)


def printed(columns: Sequence[Column], words: Sequence[str], *, least: float = 0.0) -> dict[str, Value]:
    """Return a row's words by head in printed units; raises ParseError for another count and for what is no number."""
    if len(words) != len(columns):
        row = shown(" ".join(words))
        raise ParseError(f"a row has {len(words)} columns, and its table {len(columns)}: {row}")
    return {column.head: column.printed(word, least=least) for column, word in zip(columns, words, strict=True)}


class Rows:
    """The rows of one table so far, by what makes each one of its kind."""

    def __init__(self) -> None:
        self._lines: dict[Hashable, int] = {}

    def take(self, key: Hashable, line: int, what: str) -> None:
        """Note a row; raises ParseError where it stood before."""
        before = self._lines.setdefault(key, line)
        if before != line:
            raise ParseError(f"{what} stands twice, in line {before} too")


def finer(time: float, rate: float, product: float) -> tuple[float, float, bool]:
    """Return time and rate, whose product is known, from the one that has more digits, and whether that is the rate.

    Both are printed with equally many decimals, so the larger number says more: 0.03 Mbytes/sec is 17 % uncertain.
    """
    if rate > time:
        return product / rate, rate, True
    return time, product / time if time > 0 else 0.0, False
