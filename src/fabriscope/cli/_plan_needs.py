"""What this machine lacks for a plan whose hosts it is: memory, processors and programs, as a run would refuse it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fabriscope.model.applications import HPL, INSTRUMENTS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.errors import FabriscopeError

if TYPE_CHECKING:
    from fabriscope.cli._plan_oddities import Doubt
    from fabriscope.model.case import Case
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule

LEAST_ORDER = 100
_OF_EVERY_RANK = ("alltoall", "alltoallv", "allgather", "allgatherv")
"""Of which each rank holds as many messages as there are ranks."""


def doubts(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield place and sentence of each, where all ranks run on this machine."""
    yield from _of_applications(plan, schedule, fabrics)
    yield from _of_messages(schedule)
    allowed = os.sched_getaffinity(0)
    for at, stack in enumerate(plan.section.mpi if not plan.guests else ()):
        absent = sorted(set(stack.bind) - allowed) if isinstance(stack.bind, tuple) else []
        if absent:
            what = f"{stack.name}: bind names processor {absent[0]}"
            yield ("mpi", at, "bind"), f"{what}, and this machine lets this run use {_listed(allowed)}"


def _listed(allowed: set[int]) -> str:
    from fabriscope.model.processors import listed

    return listed(sorted(allowed))


def of_orders(plan: Plan) -> Iterator[Doubt]:
    """Yield matrices that are too small to tell anything, or that one block holds."""
    hpl = plan.section.applications.hpl
    if hpl is None or hpl.n is None:
        return
    if hpl.n < LEAST_ORDER:
        what = f"hpl: n: {hpl.n} is solved before anything can be timed"
        yield ("applications", "hpl", "n"), f"{what}; write for example 10000"
    elif hpl.nb > hpl.n:
        what = f"hpl: a block of nb: {hpl.nb} is more than the matrix of n: {hpl.n}, so that one rank does it all"
        yield ("applications", "hpl", "nb"), f"{what}; leave nb out, or write a larger n"


def _of_applications(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield what `run` would refuse before its first launch, by the same look at this machine."""
    from fabriscope.adapters.hpl import PROGRAMS
    from fabriscope.hosts import facts
    from fabriscope.model.host import HERE, Host
    from fabriscope.running import applications
    from fabriscope.running.real_site import RealSite

    measured = {launch.entry.instrument for launch in schedule.launches}
    wanted = [name for name in INSTRUMENTS if name in measured]
    if not wanted:
        return
    hosts = {name: Host(name) for name in plan.hosts}
    here = () if plan.uses_lab else facts.collect(HERE)
    known = {name: list(here) for name in plan.hosts}
    programs = dict.fromkeys(PROGRAMS, "")  # whether they are here is told with their package
    site = RealSite(hosts, fabrics, {}, "", {}, programs, facts=known)
    for name in wanted:
        launches = tuple(launch for launch in schedule.launches if launch.entry.instrument == name)
        try:
            applications.check(replace(schedule, launches=launches), site, in_lab=plan.uses_lab)
        except FabriscopeError as error:
            section = name.partition("-")[0]
            what = error.what if name == HPL else f"{section}: {error.what}"
            fix = f"; {error.fix}" if error.fix else ""
            yield ("applications", section), f"{what}: a run would be refused{fix}"


def _of_messages(schedule: Schedule) -> Iterator[Doubt]:
    """Yield the benchmark whose messages are more than this machine's memory, were all ranks to hold theirs."""
    from fabriscope.analysis.words import size_text

    most = max(schedule.cases.values(), key=_held_bytes)
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if _held_bytes(most) <= memory_bytes:
        return
    ranks = len(most.entry.hosts)
    held = f"{_held_bytes(most) / 2**30:.3g} GiB"
    what = f"{most.benchmark}: at {size_text(most.message_size_bytes)} its {ranks} ranks hold {held} of messages"
    there = f"this machine has {memory_bytes / 2**30:.3g} GiB of memory"
    yield ("benchmarks", most.benchmark, "sizes"), f"{what}, and {there}; write smaller sizes, or fewer ranks"


def _held_bytes(case: Case) -> int:
    """Return how much memory all ranks have for a message that they send, and one that they receive."""
    ranks = len(case.entry.hosts)
    if case.entry.instrument in INSTRUMENTS or kind_of(case.benchmark).layer:
        return 0
    each = ranks if case.benchmark.removeprefix("i") in _OF_EVERY_RANK else 1
    return 2 * ranks * each * case.message_size_bytes
