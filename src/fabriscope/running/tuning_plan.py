"""What a plan's tuning means: the launches that it rests on, its objective, what it sets, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabriscope import plan as plans
from fabriscope.knobs import readers
from fabriscope.model.case import Case
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.model.units import duration_words
from fabriscope.plan import Plan
from fabriscope.plan.tune_schema import ObjectiveSection, TuneSection
from fabriscope.running import settings
from fabriscope.running.tuning_time import Prices, TuningTime, fitting

Fabrics = Mapping[str, Fabric]


def values_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the values of each setting that a plan tunes; nothing where it tunes none."""
    return plans.tuned_values(plan.section.tune, readers()) if plan.section.tune is not None else {}


def section_of(plan: Plan) -> TuneSection:
    """Return what a plan tunes; who asks knows that it does."""
    if plan.section.tune is None:
        raise ValueError("the plan tunes nothing")
    return plan.section.tune


def _is_objective(wanted: ObjectiveSection, case: Case) -> bool:
    return (
        wanted.benchmark == case.benchmark
        and wanted.size in (None, case.message_size_bytes)
        and wanted.layer in (None, case.entry.layer)
        and wanted.mpi in (None, case.entry.mpi)
    )


class Bases:
    """The planned launches over the fabric that is tuned, and the one of them that is to become faster."""

    def __init__(self, plan: Plan, launches: Sequence[Launch]) -> None:
        """Find them; raises PlanError where the objective is none of the plan's cases, or several."""
        self._plan, self.fabric = plan, plans.tuned_fabric(plan.section)
        self.all = [
            one
            for one in launches
            if one.block == 1 and one.entry.fabric == self.fabric and one.entry.placement == "inter"
            if not one.entry.twin
        ]
        fits = [
            (one, case) for one in self.all for case in one.cases if _is_objective(section_of(plan).objective, case)
        ]
        if len(fits) != 1:
            raise self._no_objective([case for _, case in fits])
        self.objective, self.case = fits[0]

    def _no_objective(self, fits: Sequence[Case]) -> PlanError:
        where = self._plan.where("tune", "objective")
        if fits:
            told = "; ".join(
                ", ".join(
                    part
                    for part in (one.entry.entry_id, one.benchmark, f"{one.message_size_bytes} B", one.series)
                    if part
                )
                for one in fits[:4]
            )
            what = f"{len(fits)} measurements over {self.fabric} are that objective: {told}"
            return PlanError(what, where=where, fix="say which: size, layer, mpi; and sweep nothing of it")
        cases = {f"{case.benchmark} {case.message_size_bytes}" for one in self.all for case in one.cases}
        known = ", ".join(sorted(cases)[:8]) or "nothing"
        what = f"no measurement over {self.fabric} is that objective"
        return PlanError(what, where=where, fix=f"choose a benchmark and size of the plan: {known}")


def time_of(plan: Plan, bases: Bases, fabrics: Fabrics, value_counts: Sequence[int]) -> TuningTime:
    """Return which design and blocks a tuning has, of settings with so many values each."""
    least = {launch.launch_id: plans.reckoned_ns(launch, fabrics, plan.guests) for launch in bases.all}
    prices = Prices(least[bases.objective.launch_id], sum(least.values()), len(bases.all))
    return fitting(value_counts, prices, section_of(plan).budget)


def check(plan: Plan, schedule: plans.Schedule, fabrics: Fabrics) -> TuningTime | None:
    """Return what the plan's tuning takes, as launches are expected to last; None without one.

    Which design fits its budget is chosen by the least that they last (`time_of`).

    Raises PlanError where its objective is none, or its budget is too small for any design.
    """
    tune = plan.section.tune
    if tune is None:
        return None
    values = values_of(plan)
    # What is set now may be a value more of each.
    bases = Bases(plan, schedule.launches)
    time = time_of(plan, bases, fabrics, [1 + len(one) for one in values.values()])
    if time.total_ns > tune.budget:
        least = f"{math.ceil(time.total_ns / 6e9) / 10:.1f}min"
        raise PlanError(
            f"a tuning of {len(values)} settings takes about {least} at least ({len(time.design.runs)} configurations,"
            f" {time.screening_blocks} times each, and what follows), and its budget is {duration_words(tune.budget)}",
            where=plan.where("tune", "budget"),
            fix=f"write budget: {least}, tune fewer settings, or shorten the plan's own budget",
        )
    expected = plans.expected_by_launch(bases.all, fabrics, plan.guests)
    return replace(time, prices=Prices(expected[bases.objective.launch_id], sum(expected.values()), len(bases.all)))


def described(plan: Plan, fabrics: Fabrics, time: TuningTime) -> Iterator[str]:
    """Yield what a tuning would set and where, how many configurations it launches, and about how long it takes."""
    fabric, values = fabrics[plans.tuned_fabric(plan.section)], values_of(plan)
    for knob, of_knob in values.items():
        purpose = f"launches that tune {fabric.name}"
        yield settings.described_one(fabric, knob, " or ".join(of_knob), purpose)
    every = math.prod(len(of_knob) for of_knob in values.values())
    full = f" (all {every} combinations as often as the first ones: {time.full_ns(every) / 60e9:.1f})"
    full = full if every > len(time.design.runs) else ""
    yield (
        f"tunes {fabric.name}: {len(time.design.runs)} configurations of two values each ({time.design.resolution}),"
        f" {time.screening_blocks} times; then at most {time.more_values + 2} others, and the best beside what is set"
        f" in {time.confirming_blocks} blocks: at most about {time.total_ns / 60e9:.1f} minutes more{full}"
    )
