"""A paper's claims, stated as data, judged by a run's launch values: `holds`, `does not hold` or `not decided`.

docs/papers.md lists the kinds of expectation; each is one function here that makes
statements (statements.py) out of curves (selections.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from fabriscope.analysis.numbers.intervals import MARGIN
from fabriscope.analysis.papers import claim_words as words
from fabriscope.analysis.papers.selections import SIZE, Blocks, Curve, Pool
from fabriscope.analysis.papers.statements import (
    FAILS,
    FALSE,
    NOTHING,
    OPEN,
    TRUE,
    Point,
    Statement,
    above,
    all_of,
    any_of,
    below,
    inside,
)
from fabriscope.model.metrics import metric_of
from fabriscope.model.paper import Claim, Expectation, Meant

HOLDING = ("holds", "paused", "dropped")
"""States of many to one in which the aggregate stays."""
SAME = "both are one and the same measurement here"


@dataclass(frozen=True)
class Finding:
    """What came of one claim."""

    claim: Claim
    verdict: str
    evidence: str
    """The numbers behind the verdict, as a sentence's end."""
    points: tuple[Point, ...] = ()


@dataclass
class _Part:
    """One curve, or one pair of them, under judgement."""

    points: list[Point] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, place: float | None, text: str, statement: Statement) -> None:
        self.points.append(Point(place, text, statement))


def judge(claim: Claim, pool: Pool) -> Finding:
    """Return the verdict on one claim, with its evidence; a claim over several pairs holds when all of them do."""
    parts = [(of, than, _part(claim, pool, of, than)) for of, than in _pairs(claim)]
    join: Callable[[Sequence[Statement]], Statement] = any_of if words.is_about_any(claim) else all_of
    judged = []
    for _, _, part in parts:
        statements = [point.statement for point in part.points]
        # What should have been there and is not keeps a claim from holding, not from failing.
        judged.append(join(statements) if not part.problems else all_of([join(statements), NOTHING]))
    whole = all_of(judged)
    texts = []
    for (of, than, part), statement in zip(parts, judged, strict=True):
        pair = f"{of.label} against {than.label}: " if len(parts) > 1 and than else ""
        pair = pair or (f"{of.label}: " if len(parts) > 1 else "")
        text = words.evidence(claim, part.points, statement.verdict, part.problems)
        if whole.verdict != FAILS or statement.verdict == FAILS:
            texts.append(f"{pair}{text}")
    evidence = "; ".join(texts)
    if whole.verdict == OPEN and whole.needed:
        evidence += f"; {whole.needed} blocks would decide"
    return Finding(claim, whole.verdict, evidence, tuple(point for _, _, part in parts for point in part.points))


def _pairs(claim: Claim) -> Iterator[tuple[Meant, Meant | None]]:
    for of in claim.of:
        for than in claim.than or [None]:
            yield of, than


def _part(claim: Claim, pool: Pool, of: Meant, than: Meant | None) -> _Part:
    part = _Part()
    curve = pool.pick(of, claim)
    other = pool.pick(than, claim) if than is not None else None
    for one, found in ((of, curve), (than, other)):
        if one is not None and found is not None and found.problem:
            part.problems.append(found.problem if one.select is None else f"{one.label}: {found.problem}")
    if not part.problems and other is not None and curve.case_ids == other.case_ids:
        part.problems.append(SAME)
    if part.problems:
        return part
    part.problems += _gaps(claim, [found for found in (curve, other) if found is not None])
    KINDS[claim.expect.kind](part, claim, pool, curve, other)
    if not part.points and not part.problems:
        part.problems.append("too few points were measured here")
    return part


def _gaps(claim: Claim, curves: Sequence[Curve]) -> list[str]:
    """Return which ends of the stated range were not measured, and which points of it have no result."""
    along = claim.along or SIZE
    asked = claim.at if along != SIZE else None if claim.take else claim.sizes
    places = set.intersection(*(set(curve.points) for curve in curves))
    ends = [end for end in asked or () if end is not None and end not in places]
    lost = set.union(*(set(curve.missing) for curve in curves)) - set(ends)
    texts = [f"not measured at {words.places_text(along, sorted(set(ends)))}"] if ends else []
    return texts + ([f"no result at {words.places_text(along, sorted(lost))}"] if lost else [])


def _sign(claim: Claim) -> int:
    """Return 1 where more is expected, -1 where less is."""
    if claim.expect.sign is None:
        raise ValueError("this kind of claim says whether more or less is expected")
    return claim.expect.sign


def _margin(claim: Claim) -> float:
    margin = claim.margin
    return MARGIN if margin is None else float(margin)


def _logs(first: Blocks, second: Blocks) -> list[float]:
    return [math.log(first[block] / second[block]) for block in sorted(first.keys() & second.keys())]


def _bounds(expect: Expectation, change: Callable[[float], float]) -> tuple[float, float]:
    low, high = expect.low, expect.high
    return (-math.inf if not low else change(low)), (math.inf if high is None else change(high))


def _centres(first: Blocks, second: Blocks) -> tuple[float, float]:
    """Return the medians over the blocks that both have, as comparisons do."""
    shared = sorted(first.keys() & second.keys())
    logs = [[math.log(one[block]) for block in shared] for one in (first, second)]
    return math.exp(median(logs[0])), math.exp(median(logs[1]))


Kind = Callable[[_Part, Claim, Pool, Curve, Curve | None], None]


def _pairwise(part: _Part, claim: Claim, curve: Curve, other: Curve | None, test: Callable[..., Statement]) -> None:
    if other is None:
        raise ValueError("this kind of claim sets one thing against another")
    for place in sorted(curve.points.keys() & other.points.keys()):
        first, second = curve.points[place], other.points[place]
        logs = _logs(first, second)
        if logs:
            statement = test(logs)
            text = words.ratio_evidence(claim.metric, _centres(first, second), statement)
            part.add(place, text, statement)


def _direction(part: _Part, claim: Claim, pool: Pool, curve: Curve, other: Curve | None) -> None:
    test = below if _sign(claim) < 0 else above
    _pairwise(part, claim, curve, other, lambda logs: test(logs, _margin(claim), method=pool.method))


def _ratio(part: _Part, claim: Claim, pool: Pool, curve: Curve, other: Curve | None) -> None:
    low, high = _bounds(claim.expect, math.log)
    _pairwise(part, claim, curve, other, lambda logs: inside(logs, low, high, method=pool.method))


def _equal(part: _Part, claim: Claim, pool: Pool, curve: Curve, other: Curve | None) -> None:
    edge = math.log1p(_margin(claim))
    _pairwise(part, claim, curve, other, lambda logs: inside(logs, -edge, edge, method=pool.method))


def _difference(part: _Part, claim: Claim, pool: Pool, curve: Curve, other: Curve | None) -> None:
    if other is None:
        raise ValueError("a difference is one of two")
    expect = claim.expect
    low = -math.inf if expect.low is None else expect.low
    high = math.inf if expect.high is None else expect.high
    for place in sorted(curve.points.keys() & other.points.keys()):
        first, second = curve.points[place], other.points[place]
        shared = sorted(first.keys() & second.keys())
        if shared:
            statement = inside([first[block] - second[block] for block in shared], low, high, method=pool.method)
            means = [math.fsum(one[block] for block in shared) / len(shared) for one in (first, second)]
            text = words.difference_evidence(claim.metric, (means[0], means[1]), statement)
            part.add(place, text, statement)


def _value(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    low, high = _bounds(claim.expect, math.log)
    for place, blocks in curve.points.items():
        statement = inside([math.log(value) for value in blocks.values()], low, high, method=pool.method)
        part.add(place, words.value_evidence(claim.metric, statement), statement)


def _share(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    rate = pool.line_rate_of(curve)
    if not rate:
        part.problems.append("the line rate is not known")
        return
    low, high = _bounds(claim.expect, math.log)
    for place, blocks in curve.points.items():
        statement = inside([math.log(value * 8 / rate) for value in blocks.values()], low, high, method=pool.method)
        part.add(place, words.share_evidence(rate, statement), statement)


def _monotonic(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    """Grows (or falls): no step goes the other way by more than the margin, and the whole way does go."""
    sign = _sign(claim)
    edge = math.log1p(_margin(claim))
    places = sorted(curve.points)
    for before, after in pairwise(places):
        steps = [sign * log for log in _logs(curve.points[after], curve.points[before])]
        statement = inside(steps, -edge, method=pool.method)
        part.add(after, words.step_evidence(claim, curve, before, after), statement)
    if len(places) > 1:
        first, last = places[0], places[-1]
        rises = [sign * log for log in _logs(curve.points[last], curve.points[first])]
        statement = above(rises, _margin(claim), method=pool.method)
        part.add(None, words.step_evidence(claim, curve, first, last), statement)


def _steady(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    """Stays the same: every point lies within the margin of the first."""
    edge = math.log1p(_margin(claim))
    places = sorted(curve.points)
    for place in places[1:]:
        statement = inside(_logs(curve.points[place], curve.points[places[0]]), -edge, edge, method=pool.method)
        part.add(place, words.step_evidence(claim, curve, places[0], place), statement)


def _dip(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    """Lies below both neighbours: at one place, or (`any`) at some place."""
    places = sorted(curve.points)
    at = claim.expect.at
    for before, place, after in zip(places, places[1:], places[2:], strict=False):
        if at is not None and place != at:
            continue
        here = curve.points[place]
        sides = [below(_logs(here, curve.points[side]), _margin(claim), method=pool.method) for side in (before, after)]
        part.add(place, words.dip_evidence(claim, curve, (before, place, after)), all_of(sides))


def _best(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    """Nowhere else is it better by more than the margin."""
    at, sign = claim.expect.at, metric_of(claim.metric).sign
    edge = math.log1p(_margin(claim))
    if at is None:
        raise ValueError("this kind of claim says where it is best")
    if at not in curve.points:
        part.problems.append(f"not measured at {words.places_text(claim.along or SIZE, [at])}")
        return
    for place in sorted(curve.points):
        if place != at:
            leads = [sign * log for log in _logs(curve.points[at], curve.points[place])]
            statement = inside(leads, -edge, method=pool.method)
            part.add(place, words.step_evidence(claim, curve, place, at), statement)


def _widens(part: _Part, claim: Claim, pool: Pool, curve: Curve, other: Curve | None) -> None:
    """The distance between the two is larger at the last point than at the first."""
    if other is None:
        raise ValueError("a gap is between two")
    places = sorted(curve.points.keys() & other.points.keys())
    if len(places) < 2:
        return
    gaps = [
        {block: other.points[place][block] - curve.points[place][block]
         for block in sorted(curve.points[place].keys() & other.points[place].keys())}
        for place in (places[0], places[-1])
    ]  # fmt: skip
    if not gaps[0] or not gaps[1]:
        return
    sign = 1 if math.fsum(gaps[1].values()) >= 0 else -1
    steps = [sign * (gaps[1][block] - gaps[0][block]) for block in sorted(gaps[0].keys() & gaps[1].keys())]
    statement = inside(steps, 0.0, method=pool.method)
    part.add(None, words.gap_evidence(claim, places, gaps, sign), statement)


def _state(part: _Part, claim: Claim, pool: Pool, curve: Curve, _other: Curve | None) -> None:
    """The fabric does so under many to one, as its curve over the number of streams tells."""
    states = pool.states_of(curve)
    if len(states) != 1:
        problem = "no state of many to one is told of it" if not states else "it is several curves of many to one"
        part.problems.append(problem)
        return
    (state,) = states
    wanted = HOLDING if claim.expect.state == "holds" else (claim.expect.state,)
    is_open = state.name == "undecided" or (state.may_collapse and claim.expect.state == "collapses")
    part.add(None, state.sentence, NOTHING if is_open else TRUE if state.name in wanted else FALSE)


KINDS: dict[str, Kind] = {
    "state": _state,
    "direction": _direction,
    "equal": _equal,
    "ratio": _ratio,
    "difference": _difference,
    "value": _value,
    "share": _share,
    "monotonic": _monotonic,
    "steady": _steady,
    "dip": _dip,
    "best": _best,
    "widens": _widens,
}
"""Kind of expectation to its function; plan/paper.py turns what a claim says into one of these."""
