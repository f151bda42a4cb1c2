"""The pilots of a run that chooses the number of its blocks, and where there is nothing to choose."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabriscope.model.benchmarks import kind_of
from fabriscope.model.blocks import LEAST_BLOCKS, PILOT_BLOCKS, USUAL_BLOCKS
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.plan.duration import around_ns, timed_ns, told_ns
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.turns import turn_ns_of

PARTS = 10
"""Of the budget: the launches of a pilot block measure for one of them."""
FLOOR = "null"
"""The layer of the instrument's floor, which has a time of its own."""
_SPARE = 1.1
"""In a budget that is recommended, for blocks that take longer than others."""
_OUR_ENGINE = "engine"
Cases = Mapping[Entry, tuple[Case, ...]]


@dataclass(frozen=True)
class Pilots:
    """How long launches of the pilots measure."""

    launch_ns: int
    """Where an entry does not need longer."""
    least_ns: Mapping[Entry, int]
    """Entry to what its launches measure at least, to tell the noise inside them."""

    @property
    def budgets_ns(self) -> dict[Entry, int]:
        """Return entry to how long its launches of the pilots measure."""
        return lengthened(self.launch_ns, self.least_ns)


def lengthened(launch_ns: int, least_ns: Mapping[Entry, int]) -> dict[Entry, int]:
    """Return entry to how long its launches measure: as long as all, or what they need at least."""
    return {entry: max(launch_ns, of_entry) for entry, of_entry in least_ns.items()}


def pilots_of(
    section: PlanSection, entries: Cases, fabrics: Mapping[str, Fabric], guests: Collection[str] = ()
) -> Pilots:
    """Return how long launches of the pilots measure.

    That is a tenth of the budget for a block, or, where nothing is chosen, what five blocks have of it.
    """
    launches = {entry: Launch(1, 1, entry, cases, 0, 0) for entry, cases in entries.items() if entry.layer != FLOOR}
    if not launches:
        return Pilots(section.budget // PARTS, {})
    turn_ns = turn_ns_of(section.turns)
    least_ns = {entry: told_ns(launch, fabrics, turn_ns) for entry, launch in launches.items()}
    launch_ns = section.budget // (PARTS * len(launches))
    if nothing_to_choose(entries):
        around = sum(around_ns(launch, fabrics, guests) for launch in launches.values())
        launch_ns = (section.budget // USUAL_BLOCKS - around) // len(launches)
    return Pilots(max(launch_ns, min(least_ns.values())), least_ns)


def enough_ns(start_ns: float, least_ns: int) -> int:
    """Return a budget, in whole seconds, in which there is time for more blocks than a verdict needs.

    A block starts in `start_ns`, and its launches measure for `least_ns` together at least.
    """
    blocks = LEAST_BLOCKS + 1
    of_short_pilots = blocks * (start_ns + least_ns)
    of_others = (blocks * start_ns + (blocks - PILOT_BLOCKS) * least_ns) / (1 - PILOT_BLOCKS / PARTS)
    return math.ceil(_SPARE * max(of_short_pilots, of_others) / 1e9) * 10**9


def nothing_to_choose(entries: Cases) -> str:
    """Return why a run cannot choose the number of its blocks; empty where it can."""
    measured = {entry: cases for entry, cases in entries.items() if entry.layer != FLOOR}
    curves = {(entry, case.benchmark, case.series) for entry, cases in measured.items() for case in cases}
    if len(curves) == len({benchmark for _, benchmark, _ in curves}):
        return "nothing is compared"
    if others := dict.fromkeys(entry.instrument for entry in measured if entry.instrument != _OUR_ENGINE):
        return f"{' and '.join(others)} tells nothing of the noise inside a launch"
    return next(_timed(case for cases in measured.values() for case in cases), "")


def _timed(cases: Iterable[Case]) -> Iterator[str]:
    for case in cases:
        if timed_ns(case, {}):
            yield f"{kind_of(case.benchmark).title} takes a time of its own, whatever the budget"


def contradictions(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, of a plan whose run is to choose the number of its blocks."""
    if not plan.chooses_blocks:
        return
    if plan.until == "decided":
        what = "with until: decided a run goes on block by block, and launches is the most that it makes"
        yield ("launches",), what, "write the most, such as 50, or remove `until`"
    if plan.tune:
        what = "a tuning fills a budget of its own with launches, and launches: auto the plan's, with its starts"
        yield ("tune",), what, f"write `launches: {USUAL_BLOCKS}`, or remove `tune`"
