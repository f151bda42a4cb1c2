"""What `plan check` says of a plan besides its entries: each fabric in words, and whether it can be run here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabriscope.model.errors import ToolMissing
    from fabriscope.model.fabric import Fabric
    from fabriscope.model.lab import SwitchSpec
    from fabriscope.model.measurement import Launch
    from fabriscope.model.turns import Sharing
    from fabriscope.plan import Plan, Schedule

SECONDS_UP_TO_S = 60
MINUTES_UP_TO_S = 2 * 3600


def time_words(total_s: float) -> str:
    """Return about how long a run takes: `45 seconds`, `1.5 minutes`, `28.0 hours`."""
    if total_s < SECONDS_UP_TO_S:
        return f"{max(1, round(total_s))} second{'s' if total_s >= 1.5 else ''}"
    return f"{total_s / 60:.1f} minutes" if total_s < MINUTES_UP_TO_S else f"{total_s / 3600:.1f} hours"


def fabric_lines(plan: Plan, fabrics: Mapping[str, Fabric]) -> Iterator[str]:
    """Yield what each fabric is: of the lab the switch's numbers, else its interfaces."""
    from dataclasses import asdict

    from fabriscope.cli._lab_words import numbers_of

    of_lab = switches(plan)
    for name, fabric in fabrics.items():
        interfaces = " and ".join(dict.fromkeys(fabric.interfaces.values()))
        speaks = "" if fabric.transport == "tcp" else f", {fabric.transport}"
        numbers = numbers_of(asdict(of_lab[name])) if name in of_lab else f"interface {interfaces}"
        yield f"{name}: {numbers}{speaks}"


def lone_lines(plan: Plan, schedule: Schedule) -> Iterator[str]:
    """Yield that a plan compares nothing: it has one entry, and one curve of each benchmark."""
    section = plan.section
    entries = [entry for entry in schedule.entries if entry.layer != "null"]
    curves = {(case.benchmark, case.series) for case in schedule.cases.values() if case.entry in entries}
    is_alone = len(entries) == 1 and len(curves) == len({benchmark for benchmark, _ in curves})
    if is_alone and not (section.intervene or section.tune or section.paper):
        yield "nothing is compared: it has one entry; a second fabric, layer or value of an option would be compared"


def least_of_block(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> tuple[int, int]:
    """Return about how long a block starts, and its launches measure at least; those of a group start at once."""
    from dataclasses import replace

    from fabriscope import plan as plans

    turn_ns = plans.turn_ns_of(plan.section.turns)
    block, shared = sharing(plan, schedule, fabrics)
    around_ns = [plans.around_ns(launch, fabrics, plan.guests) for launch in block]
    groups = shared.groups if turn_ns is not None else ()
    start_ns = sum(around_ns) - sum(
        sum(of_group) - max(of_group) for of_group in ([around_ns[index] for index in group] for group in groups)
    )
    least_ns = 0
    for launch, of_launch in zip(block, around_ns, strict=True):
        once_ns = plans.expected_ns(replace(launch, budget_ns=0), fabrics, plan.guests) - of_launch
        is_floor = launch.entry.layer == plans.FLOOR
        least_ns += launch.budget_ns if is_floor else max(once_ns, plans.told_ns(launch, fabrics, turn_ns))
    return start_ns, least_ns


def pilot_words(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> str:
    """Return what a run will do that chooses the number of its blocks."""
    from fabriscope import plan as plans
    from fabriscope.model.blocks import LEAST_BLOCKS, MOST_CHOSEN_BLOCKS, PILOT_BLOCKS, USUAL_BLOCKS

    if because := plans.nothing_to_choose({launch.entry: launch.cases for launch in schedule.launches}):
        fits = USUAL_BLOCKS * sum(least_of_block(plan, schedule, fabrics)) <= plan.section.budget
        count = f"{USUAL_BLOCKS} launches" if fits else f"{PILOT_BLOCKS} to {USUAL_BLOCKS} launches"
        within = "" if fits else ", as the budget allows"
        return f"{count} of each entry{within} (launches: auto has nothing to choose: {because})"
    measured = [launch.budget_ns for launch in schedule.launches if launch.entry.layer != plans.FLOOR]
    return (
        f"{PILOT_BLOCKS} pilot blocks of {min(measured) / 1e9:.2g} s a launch, then as many blocks as make the expected"
        f" intervals narrowest: {LEAST_BLOCKS} to {MOST_CHOSEN_BLOCKS} in all, as the budget allows"
    )


def stream_lines(schedule: Schedule) -> Iterator[str]:
    """Yield for how long other programs send the streams of many to one and many to many: they know whole seconds."""
    from fabriscope.model.benchmarks import drains_windows
    from fabriscope.model.stream_programs import STREAM_PROGRAMS

    said: dict[str, None] = {}
    for case in schedule.cases.values():
        program = STREAM_PROGRAMS.get(case.entry.instrument)
        if program is not None and not drains_windows(case.benchmark, case.parameter_map):
            counted_s = program.counted_s(case.parameter_map)
            margin = f", and for {program.margin_s} s before and after, which do not count" if program.margin_s else ""
            said[f"{case.entry.instrument} sends each stream of {case.benchmark} for {counted_s} s{margin}"] = None
    yield from said


def switches(plan: Plan) -> dict[str, SwitchSpec]:
    """Return the switch of each fabric that is of the lab."""
    from fabriscope.running import site

    sections = {name: section.lab for name, section in plan.section.fabrics.items()}
    return {name: site.switch_spec(lab) for name, lab in sections.items() if lab is not None}


def missing_library(plan: Plan) -> ToolMissing | None:
    """Return which MPI library this machine, on which a lab stands, does not have: a run would be refused."""
    if not plan.uses_lab or not plan.section.mpi:
        return None
    from fabriscope.model.errors import ToolMissing
    from fabriscope.running import site

    try:
        site.find_stacks(plan)
    except ToolMissing as error:
        return error
    return None


def sharing(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> tuple[list[Launch], Sharing]:
    """Return the launches of the first block, and who of them would measure in turns."""
    from fabriscope import plan as plans
    from fabriscope.model.mpi_settings import MPI_SETTINGS
    from fabriscope.model.turns import TURN_NS
    from fabriscope.running.real_site import is_here
    from fabriscope.running.sharing import most_members, sharing_of

    block = [launch for launch in schedule.launches if launch.block == 1]
    setting = [stack.name for stack in plan.section.mpi if not MPI_SETTINGS.keys() >= stack.settings.keys()]
    turn_ns = plans.turn_ns_of(plan.section.turns) or TURN_NS
    most = most_members(not (plan.uses_lab or is_here(host)) for host in plan.hosts)
    return block, sharing_of(block, fabrics, setting, plan.guests, turn_ns, most)
