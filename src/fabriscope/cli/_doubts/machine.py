"""What this machine lacks for a plan whose hosts it is: memory, processors, programs, and what its kernel offers."""

from __future__ import annotations

import difflib
import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope.model import processors
from fabriscope.model.applications import HPL, INSTRUMENTS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counting import listed
from fabriscope.model.errors import FabriscopeError

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.case import Case
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.yaml_places import Place

CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
ALLOWED_CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
MODULES = Path("/lib/modules")
_CONTROL = "congestion_control"
_OF_EVERY_RANK = ("alltoall", "alltoallv", "allgather", "allgatherv")
"""Of which each rank holds as many messages as there are ranks."""


def doubts(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    if is_this(plan):
        yield from (*_of_applications(plan, schedule, fabrics), *_of_messages(schedule))
        yield from _of_bindings(plan, schedule)
        yield from _absent_programs(plan, schedule)
        if not plan.guests:
            yield from (*_congestion_controls(plan), *_set_congestion_controls(plan))
    yield from _no_suite(plan)


def is_this(plan: Plan) -> bool:
    """Return whether all hosts of a plan are on this machine."""
    from fabriscope.running.real_site import is_here

    return plan.uses_lab or all(map(is_here, plan.hosts))


def _of_bindings(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield processors that a library binds to and a run may not use, or on which ranks of several hosts would be."""
    allowed = os.sched_getaffinity(0)
    for at, stack in enumerate(plan.section.mpi if not plan.guests else ()):
        if not isinstance(stack.bind, tuple):
            continue
        place = ("mpi", at, "bind")
        hosts = max((len(set(one.hosts)) for one in schedule.entries if one.mpi == stack.name), default=1)
        if absent := sorted(set(stack.bind) - allowed):
            what = f"{stack.name}: bind names processor {absent[0]}"
            may = processors.listed(sorted(allowed))
            yield place, f"{what}, and this machine lets this run use {may}"
        elif hosts > 1 and len(allowed) > 1:
            what = f"{stack.name}: bind puts a rank of each of {hosts} hosts on processor {stack.bind[0]}"
            what += ", since hosts of a lab share this machine's"
            yield place, f"{what}; write `bind: core` at the left margin, which gives each rank one of its own"


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


def _congestion_controls(plan: Plan) -> Iterator[Doubt]:
    """Yield what this machine's kernel has none of."""
    try:
        known = CONGESTION_CONTROLS.read_text().split()
    except OSError:
        return
    asked = {
        one: ("benchmarks", benchmark, "socket", _CONTROL)
        for benchmark, section in plan.section.benchmarks.items()
        for one in section.socket.congestion_control
        if one
    }
    for name in sorted(set(asked) - set(known)):
        if any((MODULES / platform.release()).rglob(f"tcp_{name}.ko*")):
            continue
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        what = f"{_CONTROL}: this machine's kernel has no {name!r}"
        yield asked[name], f"{what}; {meant}it has {listed(known)}"


def _set_congestion_controls(plan: Plan) -> Iterator[Doubt]:
    """Yield what settings or a tuning name that hosts of the lab may not choose, or this machine has not."""
    section = plan.section
    asked: dict[object, Place] = {
        one.settings.get(_CONTROL): ("fabrics", name, "settings", _CONTROL) for name, one in section.fabrics.items()
    }
    asked |= {one.settings.get(_CONTROL): ("mpi", at, "settings", _CONTROL) for at, one in enumerate(section.mpi)}
    if section.tune is not None:
        asked |= dict.fromkeys(section.tune.knobs.get(_CONTROL, ()), ("tune", "knobs", _CONTROL))
    try:
        known = (ALLOWED_CONGESTION_CONTROLS if plan.uses_lab else CONGESTION_CONTROLS).read_text().split()
    except OSError:
        return
    places = {str(one): place for one, place in asked.items() if one is not None}
    for name in sorted(set(places) - set(known)):
        what = f"this machine's kernel has no {name!r}: its launches would fail; it has {listed(known)}"
        if plan.uses_lab:
            what = f"hosts of the lab may choose {listed(known)}, and not {name!r}: its launches would fail"
        elif any((MODULES / platform.release()).rglob(f"tcp_{name}.ko*")):
            continue
        yield places[name], f"{_CONTROL}: {what}"


def _no_suite(plan: Plan) -> Iterator[Doubt]:
    """Yield for which MPI library there is nothing of OSU here, though the plan runs it."""
    from fabriscope.model.osu import INSTRUMENT
    from fabriscope.running import osu_builds

    if INSTRUMENT in plan.section.instruments:
        for stack in plan.section.mpi:
            place = osu_builds.place_of(plan, stack.name)
            if not osu_builds.is_at(place):
                where = "on PATH" if place is None else f"in {place}"
                key = "instruments" if place is None else "osu"
                yield (key,), f"{stack.name}: {osu_builds.NOTHING} {where}; {osu_builds.FIX}"


def _absent_programs(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield which Debian package an instrument lacks."""
    from fabriscope.registry import discover

    adapters = discover("adapters", "ADAPTER")
    hpl = plan.section.applications.hpl
    own = {"hpl"} if hpl is not None and hpl.program is not None else set()
    for name in sorted({launch.entry.instrument for launch in schedule.launches} - own):
        adapter = adapters.get(name)
        told = " ".join(getattr(adapter, "tools", {}).values())
        packages = re.findall(r"\(package ([^ )]+)\)", told)
        brought = re.findall(r"\((`fabriscope mpi add [a-z]+`) brings them\)", told)
        if (packages or brought) and not any(map(shutil.which, adapter.programs)):
            what = f"{name}: {listed(list(adapter.programs), 'or')} is not on this machine"
            key = "instruments" if name in plan.section.instruments else "applications"
            fix = (
                f"install the package {packages[0]}" if packages else f"{brought[0]} brings it: put its folder on PATH"
            )
            yield (key,), f"{what}; {fix}"
