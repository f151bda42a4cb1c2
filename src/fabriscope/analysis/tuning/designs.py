"""Two-level designs: full factorials, and regular fractions of them in which no two main effects are told as one.

A fraction has `base` settings at all combinations of two levels; the column of each further one is the product of the
columns that a word names (Box and Hunter 1961, "The 2^(k-p) fractional factorial designs"). Resolution V tells main
effects and interactions of two apart from each other; IV tells main effects from both, but not all interactions from
each other. Those of resolution IV here are fold-over designs: every word has an odd number of letters, so that each
relation among columns has an even one, and no three of them are related.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

FULL, FIVE, FOUR = "full", "V", "IV"
LEAST_FREEDOM = 6
"""Degrees of freedom of the noise with which intervals are of some use (Student's quantile is 2.4, not 4.3 or 12.7)."""
_MOST_FULL = 4
_LETTERS = "ABCDEFGH"
_WORDS_OF_FIVE = {5: ("ABCD",), 6: ("ABCDE",), 7: ("ABCDEF",), 8: ("ABCD", "ABEF")}
"""Settings to generators, of 16, 32, 64 and 64 runs (Box, Hunter, Hunter: Statistics for Experimenters, table 6.22)."""


@dataclass(frozen=True)
class Design:
    """Which settings have which of their two levels in each run."""

    resolution: str
    runs: tuple[tuple[int, ...], ...]
    """Of each run -1 or 1 for each setting."""


def designs(count: int) -> list[Design]:
    """Return the designs for a number of settings, the one that tells most first."""
    found = []
    if count <= _MOST_FULL:
        found.append(Design(FULL, _runs(count, ())))
    if count in _WORDS_OF_FIVE:
        words = _WORDS_OF_FIVE[count]
        found.append(Design(FIVE, _runs(count - len(words), words)))
    base = 1 + math.ceil(math.log2(count)) if count > 1 else 1
    if base < count:
        found.append(Design(FOUR, _runs(base, _odd_words(base)[: count - base])))
    return found


def _odd_words(base: int) -> list[str]:
    """Return every product of three letters or more, of an odd number of them, the longest first."""
    sizes = [size for size in range(base, 2, -1) if size % 2]
    return ["".join(word) for size in sizes for word in itertools.combinations(_LETTERS[:base], size)]


def _runs(base: int, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    places = [[_LETTERS.index(letter) for letter in word] for word in words]
    return tuple(
        (*levels, *(math.prod(levels[place] for place in word) for word in places))
        for levels in itertools.product((-1, 1), repeat=base)
    )
