"""What of a plan measures nothing, or decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.counting import counted, listed

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule

MOST_REASONS = 2
CURVE = "ping_pong"
"""By which the report explains a profile; docs/profile.md."""


def doubts(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    yield from (*_idle_instruments(schedule), *_idle_fabrics(plan, schedule), *_one_machine(plan))
    yield from _idle_benchmarks(plan, schedule)
    yield from (*_idle_turns(plan, schedule, fabrics), *_unexplained(plan))
    yield from (*_empty_messages(plan), *_few_launches(plan, schedule))


def _idle_instruments(schedule: Schedule) -> Iterator[Doubt]:
    from fabriscope.running import idle_instruments

    for name, why in idle_instruments.idle(schedule).items():
        what = f"{name} measures nothing of this plan: {why}"
        yield ("instruments",), f"{what}; add a benchmark that it has, or leave {name} out"


def _idle_fabrics(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield fabrics over which nothing is measured, though nobody said `only`."""
    if plan.section.only or plan.section.tune:
        return
    used = {entry.fabric for entry in schedule.entries}
    for name in plan.section.fabrics:
        if name not in used:
            what = f"{name}: nothing is measured over it, by what placements, layers and libraries' `fabrics` say"
            yield ("fabrics", name), f"{what}; change these, or leave it out"


def _idle_benchmarks(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield benchmarks that nothing measures, though nobody said `only`."""
    measured = {case.benchmark for case in schedule.cases.values() if case.entry.layer != "null"}
    for name in plan.section.benchmarks if not plan.section.only else ():
        if name not in measured:
            what = f"{name}: nothing of this plan measures it, by its layers, placements and instruments"
            yield ("benchmarks", name), f"{what}; change these, or leave it out"


def _one_machine(plan: Plan) -> Iterator[Doubt]:
    """Yield that several names of hosts mean this machine, so that what is between them is its memory."""
    from fabriscope.running.real_site import is_here

    here = [] if plan.uses_lab or plan.wants_allocation else [host for host in plan.hosts if is_here(host)]
    if len(here) > 1 and "inter" in plan.section.placements:
        what = f"hosts: {listed(here[:4])} are this machine: what is sent between them crosses no network"
        yield ("hosts",), f"{what}; name other hosts, or write `placements: [intra]`"


def _idle_turns(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield that turns are asked for, and that no launch measures in turns."""
    from fabriscope import plan as plans
    from fabriscope.cli import _plan_words

    if "turns" not in plan.section.model_fields_set or plans.turn_ns_of(plan.section.turns) is None:
        return
    _, sharing = _plan_words.sharing(plan, schedule, fabrics)
    if not sharing.groups:
        reasons = listed(list(dict.fromkeys(sharing.alone.values()))[:MOST_REASONS])
        yield ("turns",), f"turns: {plan.section.turns} does nothing: {reasons}; leave it out"


def _unexplained(plan: Plan) -> Iterator[Doubt]:
    """Yield applications that are profiled over several fabrics, with no curve that could explain their differences."""
    section = plan.section
    for name in ("npb", "hpl") if len(section.fabrics) > 1 and CURVE not in section.benchmarks else ():
        one = getattr(section.applications, name)
        if one is not None and one.profile:
            what = f"{name}: its profile explains differences between fabrics by what {CURVE} measures over each"
            yield ("applications", name, "profile"), f"{what}; add `{CURVE}: {{}}` to benchmarks, or leave profile out"


def _empty_messages(plan: Plan) -> Iterator[Doubt]:
    """Yield where messages of 0 bytes are asked for that cannot be sent."""
    from fabriscope.model.benchmarks import kind_of

    for name, section in plan.section.benchmarks.items():
        kind = kind_of(name)
        if 0 not in section.sizes or not kind.has_size or kind.is_of_one_element:
            continue
        place = ("benchmarks", name, "sizes")
        layers = set(section.layers or plan.section.layers) & set(plan.section.layers)
        if kind.least_size:
            yield place, f"{name}: the size 0 is left out: it has messages of at least {kind.least_size} B"
        elif "tcp" in layers and not (kind.layer or kind.needs_mpi or kind.needs_verbs):
            yield place, f"{name}: the size 0 is left out over TCP, which has no message without a byte; begin with 1"


def _few_launches(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield that nothing will be decided."""
    compared = {launch.entry for launch in schedule.launches if launch.entry.layer != "null"}
    if plan.section.block_count < LEAST_BLOCKS and not plan.section.chooses_blocks and len(compared) > 1:
        what = f"with {counted(plan.section.block_count, 'launch')} of each entry nothing is decided"
        yield ("launches",), f"{what}: a verdict needs {LEAST_BLOCKS}; write `launches: 5`"
