"""What of a plan takes longer than it may have been meant to: its whole, what takes most of it, and limits of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.cli._doubts.oddities import Doubt
from fabriscope.cli._plan_words import least_of_block, time_words
from fabriscope.model.applications import HPL, INSTRUMENTS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.blocks import LEAST_BLOCKS, PILOT_BLOCKS
from fabriscope.model.counting import counted
from fabriscope.model.units import duration_words

if TYPE_CHECKING:
    from fabriscope.model.case import Case
    from fabriscope.model.fabric import Fabric
    from fabriscope.model.measurement import Launch
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.yaml_places import Place

MOST_BUDGETS = 5
"""How often the budget goes into what a run takes beside it, before that is asked about."""
LONG_S = 4 * 3600
LONG_BESIDE_BUDGET_S = 300
"""Of a run whose budget the plan names: so much more than it is asked about."""
USUAL_LAUNCHES = 50
"""More of each entry are asked about where their start takes most of the time."""
_SMALLER = {
    HPL: "choose a smaller n, or fewer launches",
    "npb": "choose a smaller class, fewer repeats or launches",
}


def oddities(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    yield from _of_limits(schedule, fabrics)
    of_sizes = list(_of_sizes(plan, schedule, fabrics))
    yield from of_sizes
    yield from _of_the_whole(plan, schedule, fabrics, is_told=bool(of_sizes))
    yield from _of_choice(plan, schedule, fabrics)


def _blocks(plan: Plan) -> int:
    from fabriscope import plan as plans

    if plan.section.chooses_blocks:
        return LEAST_BLOCKS
    return plan.section.block_count if plan.section.until == "launches" else plans.TYPICAL_BLOCKS


def _of_limits(schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield applications that would be ended before they come to their end."""
    from fabriscope import plan as plans

    longest: dict[str, tuple[float, Case]] = {}
    for case in schedule.cases.values():
        if case.entry.instrument in INSTRUMENTS:
            seconds = plans.application_s(case, fabrics)
            if seconds > longest.get(case.benchmark, (float(case.parameter_map["time_limit_s"]), case))[0]:
                longest[case.benchmark] = (seconds, case)
    for name, (seconds, case) in longest.items():
        section, fabric = _section_of(case), case.entry.fabric
        limit = duration_words(int(case.parameter_map["time_limit_s"]) * 10**9)
        takes = f"{kind_of(name).title} takes about {time_words(seconds)}{f' over {fabric}' if fabric else ''}"
        what = f"{section}: {takes}, and is ended at its time_limit of {limit}"
        yield ("applications", section), f"{what}; {_SMALLER[section]}, or a longer time_limit"


def _section_of(case: Case) -> str:
    return case.entry.instrument.partition("-")[0]


def _of_sizes(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield that every size once takes many times the budget."""
    from fabriscope import plan as plans
    from fabriscope.analysis.words import size_text

    budget_s = plan.section.budget / 1e9
    by_size: dict[int, float] = defaultdict(float)
    by_benchmark: dict[str, float] = defaultdict(float)
    for case in schedule.cases.values():
        if case.entry.layer != "null":
            seconds = _blocks(plan) * plans.least_ns(case, fabrics) / 1e9
            by_size[case.message_size_bytes] += seconds
            by_benchmark[case.benchmark] += seconds
    least_s = sum(by_size.values())
    if least_s <= MOST_BUDGETS * budget_s:
        return
    longest = max(by_size, key=lambda size: by_size[size])
    share = f", of which {size_text(longest)} alone takes {_words(by_size[longest])}" if len(by_size) > 1 else ""
    budget = duration_words(plan.section.budget)
    if "budget" in plan.section.model_fields_set:
        what = f"budget: {budget} is asked for, and every size once takes about {_words(least_s)}{share}"
        yield ("budget",), f"{what}; leave out sizes or launches, or write a larger budget"
        return
    slowest = max(by_benchmark, key=lambda name: by_benchmark[name])
    what = f"{slowest}: every size once takes about {_words(least_s)}{share}"
    fix = f"leave out sizes or launches; a plan that names no budget has {budget}"
    yield ("benchmarks", slowest, "sizes"), f"{what}; {fix}"


def _words(seconds: float) -> str:
    return time_words(seconds) if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def _of_the_whole(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], *, is_told: bool) -> Iterator[Doubt]:
    """Yield that the whole takes long, or many times the budget, and what takes most of it, unless that `is_told`."""
    from fabriscope import plan as plans

    budget_s = plan.section.budget / 1e9
    block = [launch for launch in schedule.launches if launch.block == 1]
    total_s = _blocks(plan) * sum(plans.expected_by_launch(block, fabrics, plan.guests).values()) / 1e9
    most_s = max(MOST_BUDGETS * budget_s, LONG_BESIDE_BUDGET_S)
    is_beyond = "budget" in plan.section.model_fields_set and total_s > most_s
    what = f"it takes about {time_words(total_s)}"
    if total_s > LONG_S and 2 * budget_s >= total_s:
        yield ("budget",), f"{what}: `budget` is the measuring time of the whole run"
    elif (is_beyond or total_s > LONG_S) and not is_told:
        place, seconds = _longest(plan, block, fabrics)
        starts = _crowd_of(plan)
        section = plan.section.benchmarks.get(str(place[-1]))
        is_meant = section.duration is not None if section is not None else plan.section.block_count <= USUAL_LAUNCHES
        if (is_meant or place[0] == "applications") and total_s <= LONG_S:
            return  # whoever says how long streams are sent knows what they take, and who compares much starts much
        count = counted(_blocks(plan) * len(block), "launch")
        name, fix = {
            "launches": (f"the start of {count}", f"write fewer {' or '.join(starts)}"),
            "benchmarks": (place[-1], "leave out sizes or launches"),
            "applications": (place[-1], _SMALLER.get(str(place[-1]), "")),
        }[str(place[0])]
        beside = f", and `budget` is {duration_words(plan.section.budget)}" if is_beyond else ""
        place = starts[:1] if place == ("launches",) else place
        yield place, f"{what}, of which {name} takes {time_words(seconds)}{beside}; {fix}"


def _of_choice(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield that a run has no time to choose the number of its blocks."""
    from fabriscope import plan as plans

    if not plan.section.chooses_blocks:
        return
    start_ns, least_ns = least_of_block(plan, schedule, fabrics)
    budget, enough = (duration_words(one) for one in (plan.section.budget, plans.enough_ns(start_ns, least_ns)))
    fitting = plan.section.budget // (start_ns + least_ns)
    if fitting < LEAST_BLOCKS:
        took = time_words(LEAST_BLOCKS * (start_ns + least_ns) / 1e9)
        what = f"launches: auto: a budget of {budget} is spent by {PILOT_BLOCKS} pilot blocks, and a verdict needs"
        yield ("budget",), f"{what} {LEAST_BLOCKS}, which take about {took}: write `budget: {enough}`"
    elif fitting == LEAST_BLOCKS and not plans.nothing_to_choose({one.entry: one.cases for one in schedule.launches}):
        what = f"launches: auto: there is time for {LEAST_BLOCKS} blocks alone in a budget of {budget}"
        yield ("budget",), f"{what}, and nothing can be chosen: write `budget: {enough}`"


def _crowd_of(plan: Plan) -> tuple[str, ...]:
    """Return the keys that say how many programs are started: `launches` where given, else the ranks before it."""
    given = plan.section.model_fields_set
    crowd = next((key for key in ("pairs", "ranks", "ranks_per_host") if key in given), None)
    return ("launches",) if "launches" in given or crowd is None else (crowd, "launches")


def _longest(plan: Plan, block: Iterable[Launch], fabrics: Mapping[str, Fabric]) -> tuple[Place, float]:
    """Return what of a plan takes longest beside the budget, and for about how many seconds."""
    from fabriscope import plan as plans

    parts: dict[Place, float] = defaultdict(float)
    for launch in block:
        parts[("launches",)] += _blocks(plan) * plans.around_ns(launch, fabrics, plan.guests) / 1e9
        for case in launch.cases:
            is_application = launch.entry.instrument in INSTRUMENTS
            place = ("applications", _section_of(case)) if is_application else ("benchmarks", case.benchmark)
            own_ns = plans.timed_ns(case, fabrics) or plans.least_ns(case, fabrics)
            parts[place] += _blocks(plan) * own_ns / 1e9
    return max(parts.items(), key=lambda part: part[1])
