"""From what the blocks say of a ratio to verdicts: which tests are taken together, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, LEADS, SLOWER, UNDECIDED, Compared, CurvePair
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.numbers.evidence import Evidence
from fabriscope.analysis.numbers.forecasts import Forecast, blocks_to_decide
from fabriscope.analysis.numbers.intervals import (
    LEAST_BLOCKS,
    LogRatio,
    false_discovery,
    family_wise,
    judge,
    shown_below,
)
from fabriscope.analysis.numbers.selected import Stated, stated
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules

LEAD_STEP = 1.5
"""What every further size of a pair costs a lead (`family_wise`). At a step of 1, curves that are equal in part had a
wrong lead in more than 3 % of runs, 5 % being promised (`campaigns.statistics.promises`, leads)."""


@dataclass(frozen=True)
class Spot:
    """One size of a pair of curves: what is known of the log ratio, and the two absolutes behind it."""

    size_bytes: int
    evidence: Evidence
    """Of the logarithm of how many times as fast the left one is."""
    left_value: float
    right_value: float
    round: int = 0
    """The round in which the size was added, 0 for one that was planned."""


@dataclass(frozen=True)
class Family:
    """A pair of curves: the sizes that were planned are tested together, and those of each round of sharpening.

    What was added later, where the earlier data said so, thus changes no verdict that was there before.
    """

    pair: CurvePair
    spots: tuple[Spot, ...]

    def rows(self, rules: Rules) -> list[Compared]:
        """Return what came of each size."""
        return judged([self], rules)


def judged(found: Sequence[Family], rules: Rules) -> list[Compared]:
    """Return what came of each size of each pair.

    Of a pair and round, in at most 5 % of runs any lead is false, and in at most 5 % any "equivalent". Pairs of the A/A
    control are judged together: where nothing differs, in at most 5 % of runs any of them is told apart.
    """
    spots = [(place, one.pair, spot) for place, one in enumerate(found) for spot in one.spots]
    results = [judge(spot.evidence, rules.margin) for _, _, spot in spots]
    groups = [CONTROL if pair.kind == CONTROL else (place, spot.round) for place, pair, spot in spots]
    p_different = _adjusted(groups, [_tested(one, one.p_different) for one in results], LEAD_STEP)
    p_equivalent = _adjusted(groups, [_tested(one, one.p_equivalent) for one in results], 1.0)
    tests = zip((one.centre for one in results), p_different, p_equivalent, strict=True)
    answers = [verdict(*test, rules.error_rate) for test in tests]
    needs = _needs(groups, results, answers, rules)
    told = _stated(groups, [spot.evidence for _, _, spot in spots], results, answers, rules)
    return [
        Compared(
            pair,
            spot.size_bytes,
            spot.left_value,
            spot.right_value,
            math.exp(result.centre),
            _known(math.exp(result.low)),
            _known(math.exp(result.high)),
            result.block_count,
            _known(p_different[index]),
            _known(p_equivalent[index]),
            answers[index],
            needs[index],
            result.method,
            math.exp(told[index].value),
            _known(math.exp(told[index].low)),
            _known(math.exp(told[index].high)),
        )
        for index, ((_, pair, spot), result) in enumerate(zip(spots, results, strict=True))
    ]


def _tested(result: LogRatio, p_value: float) -> float:
    return p_value if result.block_count >= LEAST_BLOCKS else math.nan


def _adjusted(groups: Sequence[Hashable], p_values: Sequence[float], step: float) -> list[float]:
    """Return the p-values, each adjusted among those of its group; `step` is that of `family_wise`."""
    adjusted = [math.nan] * len(p_values)
    for places in parts(range(len(groups)), lambda place: groups[place]):
        given = [p_values[place] for place in places]
        every = false_discovery(given) if groups[places[0]] == CONTROL else family_wise(given, step)
        for place, p_value in zip(places, every, strict=True):
            adjusted[place] = float(p_value)
    return adjusted


def _stated(
    groups: Sequence[Hashable],
    evidence: Sequence[Evidence],
    results: Sequence[LogRatio],
    answers: Sequence[str],
    rules: Rules,
) -> list[Stated]:
    """Return how large each ratio is said to be: a lead as what it is, given that it was shown."""
    found = [Stated(one.centre, one.low, one.high) for one in results]
    for places in parts(range(len(groups)), lambda place: groups[place]):
        leads = [place for place in places if answers[place] in LEADS]
        tested = [results[place] for place in places] if leads else []
        different = shown_below([_tested(one, one.p_different) for one in tested], rules.error_rate, LEAD_STEP)
        equivalent = shown_below([_tested(one, one.p_equivalent) for one in tested], rules.error_rate)
        for place in leads:
            found[place] = stated(evidence[place], different, equivalent, math.log1p(rules.margin))
    return found


def _needs(
    groups: Sequence[Hashable], results: Sequence[LogRatio], answers: Sequence[str], rules: Rules
) -> list[Forecast | None]:
    """Return how many blocks would decide what is undecided.

    Leads and equivalences are families of their own, in each of which every size is tested: those that are, or will be,
    decided the other way have the largest p-values. Of the open ones the one that needs most comes next.
    """
    needs: list[Forecast | None] = [None] * len(groups)
    for places in parts(range(len(groups)), lambda place: groups[place]):
        for is_lead, step in ((True, LEAD_STEP), (False, 1.0)):
            this_way = [place for place in places if _leads(results[place], answers[place], rules.margin) == is_lead]
            plain = {
                place: blocks_to_decide(results[place], rules.margin, rules.error_rate)
                for place in this_way
                if answers[place] == UNDECIDED
            }
            slowest_first = sorted(plain, key=lambda place: -(one.most if (one := plain[place]) else math.inf))
            for larger, place in enumerate(slowest_first, start=len(places) - len(this_way)):
                share = 1 - larger / len(places) if groups[place] == CONTROL else 1 / (1 + step * larger)
                needs[place] = blocks_to_decide(results[place], rules.margin, rules.error_rate * share)
    return needs


def _leads(result: LogRatio, answer: str, margin: float) -> bool:
    """Return whether a size is decided as a lead, or will be, were its centre to stay as it is."""
    return answer in LEADS if answer != UNDECIDED else abs(result.centre) > math.log1p(margin) / 2


def verdict(centre: float, p_different: float, p_equivalent: float, error_rate: float = ERROR_RATE) -> str:
    """Return the verdict for the left one from adjusted p-values; `undecided` where they are NaN."""
    if p_equivalent < error_rate:
        return EQUIVALENT
    if p_different < error_rate:
        return FASTER if centre > 0 else SLOWER
    return UNDECIDED


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
