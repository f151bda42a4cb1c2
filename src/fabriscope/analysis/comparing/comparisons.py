"""Paired comparisons: which of two is faster at each size, as log ratios inside blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.compared import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Compared,
    CurvePair,
    comparisons_frame,
)
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.curve import AGAIN, IDENTITY, Curve
from fabriscope.analysis.numbers.evidence import Evidence, Mean
from fabriscope.analysis.numbers.intervals import blocks_to_decide, false_discovery, judge
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import metric_of
from fabriscope.model.ranks import layout_from


def _rank_count(curve: Curve) -> int:
    return layout_from(curve.ranks).rank_count


@dataclass(frozen=True)
class Kind:
    """One question: two curves are compared when `varies` alone tells them apart and `is_pair` says so."""

    name: str
    title: str
    varies: tuple[str, ...]
    is_pair: Callable[[Curve, Curve], bool]
    """Left and right in the order in which a report names them."""


KINDS = {
    kind.name: kind
    for kind in (
        Kind("fabric", "Fabric against fabric", ("fabric",), lambda a, b: bool(a.fabric and b.fabric)),
        Kind("layer", "MPI against TCP", ("layer", "mpi"), lambda a, b: (a.layer, b.layer) == ("mpi", "tcp")),
        Kind(
            "transport", "Other layers against TCP", ("layer",),
            lambda a, b: a.layer not in ("mpi", "tcp") and b.layer == "tcp",
        ),
        Kind("mpi", "MPI library against MPI library", ("mpi",), lambda a, b: bool(a.mpi and b.mpi)),
        Kind(
            "placement", "Inside one host against between hosts", ("placement", "fabric", "ranks"),
            lambda a, b: (a.placement, b.placement) == ("intra", "inter")
            and a.fabric in (None, b.fabric) and _rank_count(a) == _rank_count(b),
        ),
        Kind(
            "ranks", "Arrangement against arrangement of the ranks", ("ranks",),
            lambda a, b: a.ranks != b.ranks and _rank_count(a) == _rank_count(b),
        ),
        Kind("series", "Setting against setting", ("series",), lambda a, b: a.series != b.series),
        Kind("instrument", "Instrument against instrument", ("instrument",), lambda a, b: True),  # noqa: ARG005
        Kind(CONTROL, "A/A control", ("twin",), lambda a, b: (a.twin, b.twin) == ("", AGAIN)),
    )
}  # fmt: skip


USUAL = Rules()


def compare_all(values: pl.DataFrame, rules: Rules = USUAL) -> pl.DataFrame:
    """Return the comparisons of every kind as a frame, COMPARISON_SCHEMA; see `compared`."""
    return comparisons_frame(compared_all(values, rules))


def compare(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL) -> pl.DataFrame:
    """Return the comparisons of one kind as a frame, COMPARISON_SCHEMA; see `compared`."""
    return comparisons_frame(compared(values, kind, rules))


def compared_all(values: pl.DataFrame, rules: Rules = USUAL) -> list[Compared]:
    """Return the comparisons of every kind."""
    return [row for kind in KINDS.values() for row in compared(values, kind, rules)]


def compared(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL) -> list[Compared]:
    """Return what came of each pair of curves at each size that both have.

    `values` are launch values; impossible ones do not count. `ratio` says how many times as fast the left one is
    (its rate over the right one's, or the right one's time over its own), the interval is over the log ratios of the
    blocks, by the method of the rules. Of the verdicts on the sizes of a pair at most 5 % are false (false discovery
    rate).
    """
    return [row for one in families(values, kind, rules) for row in one.rows(rules)]


def families(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL) -> list[Family]:
    """Return every pair of curves that a kind compares, with what each of their sizes says."""
    curves, rounds = curves_of(values), rounds_of(values)
    found = []
    for left, right in _pairs(list(curves), kind):
        spots = paired(left.metric_id, curves[left], curves[right], rules, rounds.get(left))
        if spots:
            labels = _label(kind, left.curve), _label(kind, right.curve)
            found.append(Family(CurvePair(kind.name, *labels, left.curve, right.curve, left.metric_id), tuple(spots)))
    return found


@dataclass(frozen=True)
class Key:
    """What is compared: a curve in one metric."""

    curve: Curve
    metric_id: str


Points = dict[int, dict[int, float]]
"""Message size to block to value."""
Curves = dict[Key, Points]
Rounds = Mapping[int, int]
"""Message size to the round in which it was added to what was planned."""


def curves_of(values: pl.DataFrame) -> Curves:
    """Return the points of each curve; one metric for each benchmark, the first it defines."""
    derived = {name for kind in BENCHMARKS.values() for name in kind.metrics[1:]}
    sound = values.filter(
        ~pl.col("metric_id").is_in(list(derived)),
        ~pl.col("metric_id").str.starts_with("overlap"),  # a share, not a speed
        ~pl.col("impossible"),
        pl.col("value") > 0,
        pl.col("layer") != "null",
    )
    return points_of(sound)


def points_of(values: pl.DataFrame) -> Curves:
    """Return the points of every curve and metric of launch values, of which there may be several in a block."""
    inside_blocks = values.group_by(*IDENTITY, "metric_id", "message_size_bytes", "block", maintain_order=True).agg(
        pl.col("value").log().mean().exp()
    )
    curves: Curves = {}
    for *curve, metric_id, size, block, value in inside_blocks.iter_rows():
        curves.setdefault(Key(Curve(*curve), metric_id), {}).setdefault(size, {})[block] = value
    return curves


def rounds_of(values: pl.DataFrame) -> dict[Key, Rounds]:
    """Return curve key to the sizes that were added after looking; without them, or not knowing, nothing."""
    found: dict[Key, dict[int, int]] = {}
    if "round" in values.columns:
        added = values.filter(pl.col("round") > 0)
        columns = added.select(*IDENTITY, "metric_id", "message_size_bytes", "round")
        for *curve, metric_id, size, number in columns.iter_rows():
            found.setdefault(Key(Curve(*curve), metric_id), {})[size] = number
    return dict(found)


def _pairs(keys: list[Key], kind: Kind) -> Iterator[tuple[Key, Key]]:
    """Yield the pairs that differ in nothing but what the kind varies, left and right as it has them."""
    alike: dict[tuple[object, ...], list[tuple[int, Key]]] = {}
    for place, key in enumerate(keys):
        held = tuple(value for name, value in vars(key.curve).items() if name not in kind.varies)
        alike.setdefault((key.metric_id, *held), []).append((place, key))
    pairs = [pair for group in alike.values() for pair in combinations(group, 2)]
    for (_, first), (_, second) in sorted(pairs, key=lambda pair: (pair[0][0], pair[1][0])):
        for left, right in ((first, second), (second, first)):
            if kind.is_pair(left.curve, right.curve):
                yield left, right
                break


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


def paired(metric_id: str, left: Points, right: Points, rules: Rules, rounds: Rounds | None = None) -> list[Spot]:
    """Return what every size that two curves share says, from the blocks that they share."""
    sign = sign_of(metric_id)
    spots = []
    for size in sorted(left.keys() & right.keys()):
        blocks = sorted(left[size].keys() & right[size].keys())
        if blocks:
            logs = [np.log([points[size][block] for block in blocks]) for points in (left, right)]
            evidence = Mean(sign * (logs[0] - logs[1]), rules.method)
            left_value, right_value = (float(np.exp(log.mean())) for log in logs)
            spots.append(Spot(size, evidence, left_value, right_value, (rounds or {}).get(size, 0)))
    return spots


@dataclass(frozen=True)
class Family:
    """A pair of curves: the sizes that were planned are tested together, and those of each round of sharpening.

    What was added later, where the earlier data said so, thus changes no verdict that was there before.
    """

    pair: CurvePair
    spots: tuple[Spot, ...]

    def rows(self, rules: Rules) -> list[Compared]:
        """Return what came of each size."""
        results = [judge(spot.evidence, rules.margin) for spot in self.spots]
        p_different = self._adjusted([one.p_different for one in results])
        p_equivalent = self._adjusted([one.p_equivalent for one in results])
        tests = zip((one.centre for one in results), p_different, p_equivalent, strict=True)
        answers = [verdict(*test, rules.error_rate) for test in tests]
        rows = []
        for index, (spot, result, answer) in enumerate(zip(self.spots, results, answers, strict=True)):
            # One more decision beside those that are made: it is harder than a decision on one size alone.
            beside = [other for other, one in zip(answers, self.spots, strict=True) if one.round == spot.round]
            share = (sum(other != UNDECIDED for other in beside) + 1) / len(beside)
            needed = blocks_to_decide(result, rules.margin, rules.error_rate * share)
            rows.append(
                Compared(
                    self.pair,
                    spot.size_bytes,
                    spot.left_value,
                    spot.right_value,
                    math.exp(result.centre),
                    _known(math.exp(result.low)),
                    _known(math.exp(result.high)),
                    result.block_count,
                    _known(p_different[index]),
                    _known(p_equivalent[index]),
                    answer,
                    needed if answer == UNDECIDED else None,
                    result.method,
                )
            )
        return rows

    def _adjusted(self, p_values: list[float]) -> list[float]:
        """Return the p-values, adjusted for the false discovery rate among the sizes of one round."""
        adjusted = [math.nan] * len(p_values)
        for number in {spot.round for spot in self.spots}:
            places = [place for place, spot in enumerate(self.spots) if spot.round == number]
            for place, p_value in zip(places, false_discovery([p_values[one] for one in places]), strict=True):
                adjusted[place] = float(p_value)
        return adjusted


def verdict(centre: float, p_different: float, p_equivalent: float, error_rate: float = ERROR_RATE) -> str:
    """Return the verdict for the left one from adjusted p-values; `undecided` where they are NaN (one block)."""
    if p_equivalent < error_rate:
        return EQUIVALENT
    if p_different < error_rate:
        return FASTER if centre > 0 else SLOWER
    return UNDECIDED


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def sign_of(metric_id: str) -> int:
    """Return 1 where more is faster, -1 where less is."""
    return metric_of(metric_id).sign


def _label(kind: Kind, curve: Curve) -> str:
    """Return what tells this side from the other, in words."""
    if kind.name == CONTROL:
        return curve.label()
    if kind.name == "fabric":
        return str(curve.fabric)
    if kind.name in ("layer", "transport"):
        return curve.label(fabric=False, ranks=False, series=False)
    if kind.name == "mpi":
        return str(curve.mpi)
    if kind.name == "placement":
        return "inside one host" if curve.placement == "intra" else f"over {curve.fabric}"
    if kind.name == "ranks":
        return layout_from(curve.ranks).spread_text()
    if kind.name == "instrument":
        return curve.instrument
    return curve.series or "default"
