"""Paired comparisons: which of two is faster at each size, as log ratios inside blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.compared import Compared, CurvePair, comparisons_frame
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.judging import Family, Spot, judged
from fabriscope.analysis.curve import AGAIN, IDENTITY, Curve
from fabriscope.analysis.numbers.neighbours import Series, gained
from fabriscope.analysis.values.clock_steps import STEP
from fabriscope.analysis.values.kept_state import KEPT
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import NO_TURNS, SeriesOf
from fabriscope.analysis.words import series_name
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import definitions_of, metric_of
from fabriscope.model.quantity import Operations
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


def compare_all(values: pl.DataFrame, rules: Rules = USUAL, turns: SeriesOf = NO_TURNS) -> pl.DataFrame:
    """Return the comparisons of every kind as a frame, COMPARISON_SCHEMA; see `compared`."""
    return comparisons_frame(compared_all(values, rules, turns))


def compare(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL, turns: SeriesOf = NO_TURNS) -> pl.DataFrame:
    """Return the comparisons of one kind as a frame, COMPARISON_SCHEMA; see `compared`."""
    return comparisons_frame(compared(values, kind, rules, turns))


def compared_all(values: pl.DataFrame, rules: Rules = USUAL, turns: SeriesOf = NO_TURNS) -> list[Compared]:
    """Return the comparisons of every kind."""
    return [row for kind in KINDS.values() for row in compared(values, kind, rules, turns)]


def compared(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL, turns: SeriesOf = NO_TURNS) -> list[Compared]:
    """Return what came of each pair of curves at each size that both have.

    `values` are launch values; impossible ones do not count. `ratio` says how many times as fast the left one is
    (its rate over the right one's, or the right one's time over its own), the interval is over the log ratios of the
    blocks, by the method of the rules. Where both launches of a block measured in turns with each other, its ratio is
    that of neighbouring turns (`turns`, see numbers/neighbours.py). Which verdicts are taken together, and at which
    rate: `judged`.
    """
    return judged(families(values, kind, rules, turns), rules)


def families(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL, turns: SeriesOf = NO_TURNS) -> list[Family]:
    """Return every pair of curves that a kind compares, with what each of their sizes says."""
    curves, rounds, steps = curves_of(values), rounds_of(values), steps_of(values)
    in_turns = series_of(values, turns)
    found = []
    for left, right in _pairs(list(curves), kind):
        blurs = blurs_of(steps.get(left, {}), steps.get(right, {}))
        gains = gains_of(left.metric_id, in_turns.get(left, {}), in_turns.get(right, {}))
        spots = paired(left.metric_id, curves[left], curves[right], rules, rounds.get(left), blurs, gains)
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
InTurns = Mapping[tuple[int, int], Series]
"""Message size and block to it."""
Rounds = Mapping[int, int]
"""Message size to the round in which it was added to what was planned."""


def curves_of(values: pl.DataFrame) -> Curves:
    """Return the points of each curve; one metric for each benchmark, the first it defines."""
    secondary = {name for kind in BENCHMARKS.values() for name in kind.metrics[1:]}
    derived = {name for one in secondary for name in (one, *definitions_of(one))}
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


def series_of(values: pl.DataFrame, turns: SeriesOf) -> dict[Key, InTurns]:
    """Return curve key to what was measured in turns, where one launch of a block stands for a size."""
    found: dict[Key, dict[tuple[int, int], Series]] = {}
    if not turns:
        return dict(found)
    columns = (*IDENTITY, "metric_id", "message_size_bytes", "block")
    alone = values.group_by(columns, maintain_order=True).agg(
        pl.col("launch_id").first(), pl.col("case_id").first(), pl.len().alias("count")
    )
    for *curve, metric_id, size, block, launch_id, case_id, count in alone.iter_rows():
        if count == 1 and (series := turns.get((launch_id, case_id))) is not None:
            found.setdefault(Key(Curve(*curve), metric_id), {})[size, block] = series
    return dict(found)


def takes_means(metric_id: str) -> bool:
    """Return whether a metric's value is of all operations over all time, not of a typical one."""
    return metric_of(metric_id).quantity.operations is Operations.ALL


def gains_of(metric_id: str, left: InTurns, right: InTurns) -> dict[tuple[int, int], float]:
    """Return for size and block what neighbouring turns add to the logarithm of how many times as fast the left is."""
    is_known = metric_of(metric_id).quantity.operations in (Operations.MEDIAN, Operations.ALL)
    of_means = takes_means(metric_id)
    shared = [place for place in left.keys() & right.keys() if is_known and left[place].group == right[place].group]
    return {place: -gained(left[place], right[place], of_means=of_means) for place in shared}


def rounds_of(values: pl.DataFrame) -> dict[Key, Rounds]:
    """Return curve key to the sizes that were added after looking; without them, or not knowing, nothing."""
    found: dict[Key, dict[int, int]] = {}
    if "round" in values.columns:
        added = values.filter(pl.col("round") > 0)
        columns = added.select(*IDENTITY, "metric_id", "message_size_bytes", "round")
        for *curve, metric_id, size, number in columns.iter_rows():
            found.setdefault(Key(Curve(*curve), metric_id), {})[size] = number
    return dict(found)


def steps_of(values: pl.DataFrame) -> dict[Key, Mapping[int, float]]:
    """Return curve key to the clock's step at each size, as a share of the value."""
    return _positive(values, STEP)


def kept_of(values: pl.DataFrame) -> dict[Key, Mapping[int, float]]:
    """Return curve key to how far a state that the machine kept may have shifted each size, as a logarithm."""
    return _positive(values, KEPT)


def _positive(values: pl.DataFrame, column: str) -> dict[Key, Mapping[int, float]]:
    found: dict[Key, dict[int, float]] = {}
    known = values.filter(pl.col(column) > 0).select(*IDENTITY, "metric_id", "message_size_bytes", column)
    for *curve, metric_id, size, number in known.unique(maintain_order=True).iter_rows():
        found.setdefault(Key(Curve(*curve), metric_id), {})[size] = number
    return dict(found)


def blurs_of(left: Mapping[int, float], right: Mapping[int, float]) -> dict[int, float]:
    """Return how far rounding to steps may move the log ratio at each size: half a step of either side."""
    return {size: (left.get(size, 0.0) + right.get(size, 0.0)) / 2 for size in left.keys() | right.keys()}


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


def paired(
    metric_id: str,
    left: Points,
    right: Points,
    rules: Rules,
    rounds: Rounds | None = None,
    blurs: Mapping[int, float] | None = None,
    gains: Mapping[tuple[int, int], float] | None = None,
) -> list[Spot]:
    """Return what every size that two curves share says, from the blocks that they share.

    `gains` are what size and block add to the log ratio of the two launches.
    """
    sign = sign_of(metric_id)
    spots = []
    for size in sorted(left.keys() & right.keys()):
        blocks = sorted(left[size].keys() & right[size].keys())
        if blocks:
            logs = [np.log([points[size][block] for block in blocks]) for points in (left, right)]
            number, blur = (rounds or {}).get(size, 0), (blurs or {}).get(size, 0.0)
            gained = np.array([(gains or {}).get((size, block), 0.0) for block in blocks])
            evidence = rules.mean(sign * (logs[0] - logs[1]) + gained, blur, is_added=number > 0)
            left_value, right_value = (float(np.exp(np.median(log))) for log in logs)
            spots.append(Spot(size, evidence, left_value, right_value, number))
    return spots


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
    return series_name(curve.series)
