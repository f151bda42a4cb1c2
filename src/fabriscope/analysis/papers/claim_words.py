"""The evidence of claims in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from fabriscope.analysis.papers.selections import SIZE, Blocks, Curve, geometric_mean
from fabriscope.analysis.papers.statements import FAILS, HOLDS, Point, Statement
from fabriscope.analysis.words import NumberText, interval_text, percent, ratio_text, significant, size_text, value_text
from fabriscope.model.paper import Claim

MOST_PLACES = 3


def place_text(along: str, place: float) -> str:
    """Return where on the axis: `4 KiB`, `2 pairs`."""
    if along == SIZE:
        return size_text(int(place))
    name = along.removesuffix("_bytes").removesuffix("_count").replace("_", " ")
    if along.endswith("_bytes"):
        return f"{name} {size_text(int(place))}"
    return f"{place:g} {name}{'' if place == 1 else 's'}" if along.endswith("_count") else f"{name} {place:g}"


def places_text(along: str, places: Sequence[float]) -> str:
    """Return the places, or how many there are between the first and the last."""
    if len(places) > MOST_PLACES:
        first, last = place_text(along, places[0]), place_text(along, places[-1])
        return f"{len(places)} points from {first} to {last}"
    return ", ".join(place_text(along, place) for place in places)


def evidence(claim: Claim, points: Sequence[Point], verdict: str, problems: Sequence[str]) -> str:
    """Return what decided: the one number, or how many points say so, and the one that matters most."""
    said = "; ".join(problems)
    if not points:
        return said
    along = claim.along or SIZE
    if len(points) == 1:
        text = points[0].text
    elif is_about_any(claim):
        text = _any(along, points, verdict)
    else:
        text = _many(along, points, verdict)
    return f"{text}; {said}" if said else text


def is_about_any(claim: Claim) -> bool:
    """Return whether one point is enough for the claim."""
    return claim.expect.kind == "dip" and claim.expect.at is None


def _any(along: str, points: Sequence[Point], verdict: str) -> str:
    """Return the point that comes nearest, and what is known of the others."""
    key = min(points, key=lambda point: _known(point.statement.p_holds, 1))
    if verdict == HOLDS:
        return _at(along, key)
    return f"at none of {len(points)} points{'' if verdict == FAILS else ' for sure'}; nearest to it {_at(along, key)}"


def _many(along: str, points: Sequence[Point], verdict: str) -> str:
    """Return how many points agree with the verdict, and the one that is nearest to contradicting it."""
    open_points = [point for point in points if point.statement.verdict not in (HOLDS, FAILS)]
    failed = [point for point in points if point.statement.verdict == FAILS]
    if verdict == HOLDS:
        key = max(points, key=lambda point: _known(point.statement.p_holds, 0))
        return f"at all {len(points)} points; nearest to the edge {_at(along, key)}"
    if verdict == FAILS:
        key = min(points, key=lambda point: _known(point.statement.p_fails, 1))
        count = f"not at {len(failed)} of {len(points)} points" if failed else f"not at {len(points)} points together"
        return f"{count}; plainest {_at(along, key)}"
    key = max(points, key=lambda point: _known(point.statement.p_holds, 2))
    said = f"open at {len(open_points)} of {len(points)} points"
    if failed:
        by_themselves = "1 says no by itself" if len(failed) == 1 else f"{len(failed)} say no by themselves"
        said += f", and {by_themselves}, but not all {len(points)} together (Simes' test)"
    return f"{said}; least sure {_at(along, key)}"


def _at(along: str, point: Point) -> str:
    return f"{point.text}" if point.place is None else f"at {place_text(along, point.place)}: {point.text}"


def _known(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else value


def _interval(low: float, high: float, text: NumberText) -> str:
    if math.isnan(low):
        return "from one block, so without interval"
    return interval_text(low, high, text) or "without interval"


def ratio_evidence(metric_id: str, pair: tuple[float, float], statement: Statement) -> str:
    """Return both absolutes, and the ratio of the first to the second."""
    ratio, low, high = (math.exp(value) for value in (statement.centre, statement.low, statement.high))
    return (
        f"{value_text(pair[0], metric_id)} against {value_text(pair[1], metric_id)}, "
        f"ratio {ratio_text(ratio)} ({_interval(low, high, ratio_text)})"
    )


def difference_evidence(metric_id: str, pair: tuple[float, float], statement: Statement) -> str:
    """Return both absolutes, and by how much the first lies above (or below) the second."""
    text = f"{value_text(pair[0], metric_id)} against {value_text(pair[1], metric_id)}, "
    text += f"difference {_signed(statement.centre, metric_id)}"
    if math.isnan(statement.low):
        return f"{text} (from one block, so without interval)"
    return f"{text} ({_signed(statement.low, metric_id)} to {_signed(statement.high, metric_id)})"


def _signed(value: float, metric_id: str) -> str:
    return f"{'−' if value < 0 else '+'}{value_text(abs(value), metric_id)}"


def value_evidence(metric_id: str, statement: Statement) -> str:
    """Return the value with its interval; the statement is about its logarithm."""
    value, low, high = (math.exp(one) for one in (statement.centre, statement.low, statement.high))
    return f"{value_text(value, metric_id)} ({_interval(low, high, partial(value_text, metric_id=metric_id))})"


def share_evidence(line_rate_bits_per_s: float, statement: Statement) -> str:
    """Return the rate and its share of the line rate; the statement is about the share's logarithm."""
    share, low, high = (math.exp(one) for one in (statement.centre, statement.low, statement.high))
    rate = value_text(share * line_rate_bits_per_s / 8, "bytes_per_s")
    line = value_text(line_rate_bits_per_s / 8, "bytes_per_s")
    return f"{rate}, {share:.0%} of {line} ({_interval(low, high, '{:.0%}'.format)})"


def step_evidence(claim: Claim, curve: Curve, before: float, after: float) -> str:
    """Return how the value changes from one place to another."""
    along, metric_id = claim.along or SIZE, claim.metric
    first, second = (geometric_mean(curve.points[place].values()) for place in (before, after))
    return (
        f"{value_text(first, metric_id)} at {place_text(along, before)}, "
        f"{value_text(second, metric_id)} at {place_text(along, after)} ({change_text(second / first)})"
    )


def change_text(ratio: float) -> str:
    """Return `+12 %` or `−3.1 %`."""
    return f"+{percent(ratio)} %" if ratio >= 1 else f"−{significant((1 - ratio) * 100, 2)} %"


def dip_evidence(claim: Claim, curve: Curve, places: Sequence[float]) -> str:
    """Return the values at a place and its neighbours."""
    along, metric_id = claim.along or SIZE, claim.metric
    values = [value_text(geometric_mean(curve.points[place].values()), metric_id) for place in places]
    return ", ".join(f"{value} at {place_text(along, place)}" for value, place in zip(values, places, strict=True))


def gap_evidence(claim: Claim, places: Sequence[float], gaps: Sequence[Blocks], sign: int) -> str:
    """Return the distance between two curves at the first and the last place."""
    along, metric_id = claim.along or SIZE, claim.metric
    texts = []
    for place, gap in zip((places[0], places[-1]), gaps, strict=True):
        mean = sign * math.fsum(gap.values()) / len(gap)
        texts.append(f"{_signed(mean, metric_id)} at {place_text(along, place)}")
    return f"apart by {' and by '.join(texts)}"
