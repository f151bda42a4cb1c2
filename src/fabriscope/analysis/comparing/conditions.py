"""What a comparison must not say: `slower:5%`, `faster`, `different`, `undecided`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import UNDECIDED, Compared
from fabriscope.analysis.comparing.comparisons import Family
from fabriscope.analysis.numbers.evidence import Evidence
from fabriscope.analysis.numbers.intervals import false_discovery
from fabriscope.analysis.values.stopping import Rules
from fabriscope.model.units import parse_share

MET, RULED_OUT, OPEN = "met", "ruled out", "open"
WORDS = ("slower", "faster", "different", "undecided")


@dataclass(frozen=True)
class Condition:
    """Something that makes a comparison fail."""

    word: str
    share: float = 0.0
    """By more than this share; 0.05 of `slower` means a ratio below 1 / 1.05."""

    def text(self) -> str:
        """Return it as it is written on the command line."""
        return f"{self.word}:{self.share * 100:g}%" if self.share else self.word


def parse(text: str) -> Condition:
    """Return the condition; raises ValueError, in words, for anything else."""
    word, colon, share = text.partition(":")
    if word not in WORDS or (colon and word == "undecided"):
        raise ValueError(f"{text!r} is no condition such as slower:5%, faster:5%, different:5% or undecided")
    return Condition(word, parse_share(share) if colon else 0.0)


def answers(condition: Condition, family: Family, rows: Sequence[Compared], rules: Rules) -> list[str]:
    """Return for each size of a pair of curves whether the condition is met, ruled out, or open.

    `rows` are the comparisons of the same sizes. Met means shown: of what is met over the sizes of
    a pair at most 5 % is met by chance.
    """
    if condition.word == "undecided":
        return [MET if row.verdict == UNDECIDED else RULED_OUT for row in rows]
    edge = math.log1p(condition.share)
    tests = [_tests(condition.word, spot.evidence, edge) for spot in family.spots]
    met = false_discovery([one for one, _ in tests])
    out = false_discovery([other for _, other in tests])
    error = rules.error_rate
    return [MET if one < error else RULED_OUT if other < error else OPEN for one, other in zip(met, out, strict=True)]


def _tests(word: str, evidence: Evidence, edge: float) -> tuple[float, float]:
    """Return the p-values of the hypotheses that the condition does not hold, and that it holds."""
    if word == "slower":
        return evidence.p_below(-edge), evidence.p_above(-edge)
    if word == "faster":
        return evidence.p_above(edge), evidence.p_below(edge)
    if not edge:
        return evidence.p_not(0.0), math.nan
    outside = min(1.0, 2 * min(evidence.p_below(-edge), evidence.p_above(edge)))
    return outside, max(evidence.p_above(-edge), evidence.p_below(edge))
