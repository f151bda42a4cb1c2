"""From the wire to the application: one ratio of each fabric to a baseline, at every level that a run measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.curve import Curve
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.quantity import quantity_of


@dataclass(frozen=True)
class Step:
    """What of a run is compared at one level: a benchmark over one layer, by its first metric, at one size."""

    curve: Curve
    """Without its fabric."""
    metric_id: str
    message_size_bytes: int
    has_size: bool
    against: dict[str, Compared]
    """Fabric to how many times as fast it is as the baseline, which is the right one of each pair."""


@dataclass(frozen=True)
class Ladder:
    """All levels of a run, and the fabric that the others are set against."""

    baseline: str
    fabrics: tuple[str, ...]
    steps: tuple[Step, ...]


def ladder_of(compared: Iterable[Compared], fabrics: Sequence[str]) -> Ladder | None:
    """Return the levels in the order in which they were compared; None of fewer than two fabrics or levels.

    A time is taken at the smallest message, where what a layer costs shows, and a rate at the largest, where the wire
    does. The baseline is the first of the fabrics.
    """
    if len(fabrics) < 2:
        return None
    baseline = fabrics[0]
    levels: dict[Curve, tuple[str, dict[int, dict[str, Compared]]]] = {}
    for row in compared:
        pair = row.pair
        names = pair.left_curve.fabric or "", pair.right_curve.fabric or ""
        if pair.kind != "fabric" or baseline not in names or pair.left_curve.twin or not _stands_for_it(row):
            continue
        other = row if names[1] == baseline else row.other_way()
        metric_id, sizes = levels.setdefault(replace(pair.left_curve, fabric=None), (pair.metric_id, {}))
        if metric_id == pair.metric_id:
            sizes.setdefault(row.message_size_bytes, {})[other.pair.left_curve.fabric or ""] = other
    steps = tuple(_step(curve, metric_id, sizes) for curve, (metric_id, sizes) in levels.items())
    known = tuple(name for name in fabrics[1:] if any(name in step.against for step in steps))
    return Ladder(baseline, known, steps) if len(steps) > 1 and known else None


def _stands_for_it(row: Compared) -> bool:
    """Return whether a metric is a benchmark's first one, by whichever definition it was measured."""
    first = quantity_of(kind_of(row.pair.left_curve.benchmark).metrics[0])
    other = quantity_of(row.pair.metric_id)
    return (first.what, first.unit) == (other.what, other.unit)


def _step(curve: Curve, metric_id: str, sizes: dict[int, dict[str, Compared]]) -> Step:
    pick = max if quantity_of(metric_id).larger_is_better else min
    size = pick(sizes)
    return Step(curve, metric_id, size, kind_of(curve.benchmark).has_size and size > 0, sizes[size])
