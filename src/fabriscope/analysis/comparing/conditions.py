"""What a comparison must not say: `slower:5%`, `faster`, `different`, `undecided`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import EQUIVALENT, UNDECIDED, Compared
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.comparing.levels import guarded
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, false_discovery
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


def distinct(wanted: Sequence[Condition]) -> list[Condition]:
    """Return the conditions without those that are written as an earlier one."""
    return list({one.text(): one for one in reversed(wanted)}.values())[::-1]


def answers(
    wanted: Sequence[Condition], found: Sequence[tuple[Family, Sequence[Compared]]], rules: Rules
) -> list[dict[str, list[str]]]:
    """Return for each pair of curves, condition and size whether the condition is met, ruled out, or open.

    With each family come the comparisons of its sizes. Where launches have few levels, and blocks are few, pairs are
    tested by at least the spread that most of them have (`levels.py`). Met means shown: where no condition truly holds
    anywhere, one is met at any size of any pair in at most 5 % of runs; else, of what is met at most 5 % is met by
    chance, on average.
    """
    wanted = distinct(wanted)
    tested = guarded([family for family, _ in found]).families
    places = [
        (pair, condition.text(), *_tests(condition, spot))
        for pair, family in enumerate(tested)
        for condition in wanted
        if condition.word != "undecided"
        for spot in family.spots
    ]
    met = false_discovery([one for _, _, one, _ in places])
    out = false_discovery([other for _, _, _, other in places])
    told: list[dict[str, list[str]]] = [
        {
            condition.text(): [MET if row.verdict == UNDECIDED else RULED_OUT for row in rows]
            if condition.word == "undecided"
            else []
            for condition in wanted
        }
        for _, rows in found
    ]
    error = rules.error_rate
    for (pair, name, _, _), one, other in zip(places, met, out, strict=True):
        told[pair][name].append(MET if one < error else RULED_OUT if other < error else OPEN)
    return told


def inside_margin(
    name: str, found: Sequence[tuple[Sequence[Compared], Mapping[str, Sequence[str]]]], rules: Rules
) -> str:
    """Return at how many sizes a condition is met by a difference within the margin, in words; nothing for none.

    Both are true there: that the two differ, and that it matters to nobody whose margin it is.
    """
    told = [zip(rows, answers.get(name, ()), strict=False) for rows, answers in found]
    count = sum(row.verdict == EQUIVALENT and answer == MET for pair in told for row, answer in pair)
    margin = f"{rules.margin * 100:g}%"
    return (
        f" At {count} of them the two are equivalent all the same: the difference is shown, and so is that it is less"
        f" than the margin. {name.partition(':')[0]}:{margin} asks for more than that."
        if count
        else ""
    )


def _tests(condition: Condition, spot: Spot) -> tuple[float, float]:
    """Return the p-values of the hypotheses that the condition does not hold, and that it holds; NaN for few blocks."""
    word, evidence, edge = condition.word, spot.evidence, math.log1p(condition.share)
    if evidence.count < LEAST_BLOCKS:
        return math.nan, math.nan
    if word == "slower":
        return evidence.p_below(-edge), evidence.p_above(-edge)
    if word == "faster":
        return evidence.p_above(edge), evidence.p_below(edge)
    if not edge:
        return evidence.p_not(0.0), math.nan
    outside = min(1.0, 2 * min(evidence.p_below(-edge), evidence.p_above(edge)))
    return outside, max(evidence.p_above(-edge), evidence.p_below(edge))
