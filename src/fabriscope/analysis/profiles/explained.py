"""An application's difference between two fabrics, and how much of it their measured curves explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import polars as pl

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.profiles.costs import Cost, Shape, costs
from fabriscope.analysis.profiles.measured import Curves, apart_from_fabric, curves_for
from fabriscope.analysis.rows import parts
from fabriscope.model.profile import HOSTS, WAITS, Profile, RankProfile
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class Interval:
    """A median over blocks and its interval, NaN at both ends where there are too few."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """Return 1 or -1 where all of the interval lies on one side of 0, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@dataclass(frozen=True)
class CallDifference:
    """One call: what the curves say that it takes longer on the right, and what it was seen to."""

    call: str
    count: int
    """At the rank with most to do, in one run."""
    predicted_ns: float
    observed_ns: float
    """Of the median over ranks; of non-blocking calls their waits are seen elsewhere."""
    basis: str


@dataclass(frozen=True)
class Explained:
    """One application over two fabrics; differences are the right one's time less the left one's, by block."""

    left: Curve
    right: Curve
    left_ns: float
    right_ns: float
    difference_ns: Interval
    predicted_ns: Interval
    share: Interval
    """Of the difference, what the curves predict."""
    outside_ns: Interval
    """The difference outside of MPI: the same computation, which met another machine, or waited for it."""
    cost_share: float
    """The share of the ranks' time that profiling took, at most."""
    calls: tuple[CallDifference, ...]
    block_count: int
    sizes: tuple[int, int]
    """Of the ping-pong."""

    @property
    def is_contrary(self) -> bool:
        """Return whether the curves say that the other fabric should have won, and both differences are sure."""
        return self.difference_ns.sign * self.predicted_ns.sign < 0


@dataclass(frozen=True)
class ProfiledRun:
    """One profiled launch of an application."""

    block: int
    profile: Profile
    curve: Curve


def profiled(run: RunData, values: pl.DataFrame) -> list[ProfiledRun]:
    """Return the launches with a profile of a case that is ok, and with values: refuted ones have none."""
    sound = {launch_id for (launch_id,) in values.select("launch_id").unique().iter_rows()}
    cases = {case.case_id: case.curve for case in planned_cases(run) if not case.twin}
    found = {
        (case_id, record.block): ProfiledRun(record.block, profile, cases[case_id])
        for record in run.journal
        if record.launch_id in sound
        for case_id, profile in record.details.profiles.items()
        if case_id in cases and record.results[case_id].status == "ok" and profile.ranks
    }
    order = list(cases)
    return [found[key] for key in sorted(found, key=lambda key: (order.index(key[0]), key[1]))]


def explained(run: RunData, values: pl.DataFrame, method: str) -> list[Explained]:
    """Return each pair of fabrics under each application that was profiled over both, in the plan's order.

    `values` are launch values; without a ping-pong over both fabrics there is nothing to explain by.
    """
    found = []
    for alike in parts(profiled(run, values), lambda one: apart_from_fabric(one.curve)):
        by_curve = parts(alike, lambda one: one.curve)
        for left, right in combinations(by_curve, 2):
            curves = [curves_for(side[0].curve, values) for side in (left, right)]
            if curves[0] is not None and curves[1] is not None:
                one = _pair(left, right, (curves[0], curves[1]), method)
                if one is not None:
                    found.append(one)
    return found


def _pair(
    left: Sequence[ProfiledRun], right: Sequence[ProfiledRun], curves: tuple[Curves, Curves], method: str
) -> Explained | None:
    others = {one.block: one for one in right}
    blocks = [_Block(one, others[one.block], curves) for one in left if one.block in others]
    if not blocks:
        return None

    shares = [block.predicted_ns / block.difference_ns for block in blocks if block.difference_ns]
    return Explained(
        left[0].curve,
        right[0].curve,
        median(_run_ns(block.left.profile) for block in blocks),
        median(_run_ns(block.right.profile) for block in blocks),
        _over([block.difference_ns for block in blocks], method),
        _over([block.predicted_ns for block in blocks], method),
        _over(shares or [0.0], method),
        _over([block.outside_ns for block in blocks], method),
        max(one.profile.cost_share for one in (*left, *right)),
        tuple(_calls(blocks)),
        len(blocks),
        (min(one.sizes[0] for one in curves), min(one.sizes[1] for one in curves)),
    )


def _over(values: Sequence[float], method: str) -> Interval:
    """Return the median over blocks, in any unit: what judges intervals knows logarithms, and refuses wide ones."""
    unit = max(map(abs, values), default=0.0) or 1.0
    return Interval(*(one * unit for one in median_with_interval([value / unit for value in values], method)))


class _Block:
    """One application over both fabrics in one block."""

    def __init__(self, left: ProfiledRun, right: ProfiledRun, curves: tuple[Curves, Curves]) -> None:
        self.left, self.right = left, right
        profile = left.profile
        job = Shape(profile.rank_count, max(len(profile.hosts), 1))
        measured = [one.in_block(left.block) for one in curves]
        sums: list[tuple[float, dict[str, tuple[int, float, str]]]] = []
        for rank in profile.ranks:
            calls = _differences(*(costs(rank, job, one) for one in measured))
            sums.append((sum(one[1] for one in calls.values()), calls))
        self.predicted_ns, self.calls = max(sums, key=lambda one: abs(one[0]))
        self.difference_ns = float(_run_ns(right.profile) - _run_ns(left.profile))
        self.outside_ns = _median_outside(right.profile) - _median_outside(left.profile)


def _differences(on_left: Mapping[str, Cost], on_right: Mapping[str, Cost]) -> dict[str, tuple[int, float, str]]:
    """Return how often each call was made, how much longer it takes on the right, and by which measurement.

    What is hidden over one fabric may be what counts over the other: it takes nothing where it is hidden.
    """
    found = {}
    for call in sorted(on_left.keys() | on_right.keys()):
        told = on_right.get(call) or on_left[call]
        left_ns, right_ns = (side[call].ns if call in side else 0.0 for side in (on_left, on_right))
        found[call] = told.count, right_ns - left_ns, told.basis
    return found


def _run_ns(profile: Profile) -> int:
    return max(rank.run_ns for rank in profile.ranks)


def _median_outside(profile: Profile) -> float:
    return median(rank.run_ns - rank.mpi_ns for rank in profile.ranks)


def _calls(blocks: Sequence[_Block]) -> Iterator[CallDifference]:
    """Yield the calls that the curves say something of, and the waits, by how much they differ."""
    names = dict.fromkeys(call for block in blocks for call in block.calls)
    waits = dict.fromkeys(call for block in blocks for call in _called(block.right.profile) if call in WAITS)
    found = []
    for call in (*names, *(call for call in waits if call not in names)):
        told = [block.calls[call] for block in blocks if call in block.calls]
        observed = [_seen(block.right.profile, call) - _seen(block.left.profile, call) for block in blocks]
        count = max((one[0] for one in told), default=0)
        predicted = median(one[1] for one in told) if told else 0.0
        found.append(CallDifference(call, count, predicted, median(observed), told[0][2] if told else ""))
    yield from sorted(found, key=lambda one: -max(abs(one.predicted_ns), abs(one.observed_ns)))


def _called(profile: Profile) -> list[str]:
    return list(dict.fromkeys(part.call for rank in profile.ranks for part in rank.parts))


def _seen(profile: Profile, call: str) -> float:
    return median(_in(rank, call) for rank in profile.ranks)


def _in(rank: RankProfile, call: str) -> int:
    return sum(part.ns for part in rank.parts if part.call == call)


def concerns_others(profile: Profile) -> bool:
    """Return whether anything passes between hosts."""
    return any(part.where == HOSTS for rank in profile.ranks for part in rank.parts)
