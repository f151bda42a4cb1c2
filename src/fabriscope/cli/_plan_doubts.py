"""What of a plan can be so and may not be meant, or will fail when it runs: what `plan check` asks to look at again."""

from __future__ import annotations

import difflib
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope.cli import _plan_amounts, _plan_claims, _plan_jobs, _plan_needs
from fabriscope.cli._plan_oddities import Doubt, oddities
from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.counting import counted, listed
from fabriscope.model.units import duration_words

if TYPE_CHECKING:
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.yaml_places import Place

MOST_LAB_BITS_PER_S = 10 * 10**9
"""Every frame costs the switch some microseconds: beyond this a lab cannot be expected to keep the rate."""
MOST_LOSS = 0.01
"""With more, TCP waits for time-outs most of the time."""
CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
ALLOWED_CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
MODULES = Path("/lib/modules")
_CONTROL = "congestion_control"


def doubts(
    plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], total_s: float, processors: int | None
) -> Iterator[str]:
    """Yield a sentence for each, with its line; `processors` are those of this machine."""
    for place, sentence in _doubts(plan, schedule, fabrics, total_s, processors):
        yield f"{sentence} (line {plan.document.line(place)})" if place and plan.document is not None else sentence


def _doubts(
    plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], total_s: float, processors: int | None
) -> Iterator[Doubt]:
    from fabriscope.cli._plan_words import switches, time_words

    for name, switch in switches(plan).items():
        place = ("fabrics", name, "lab")
        if switch.rate_bits_per_s > MOST_LAB_BITS_PER_S:
            rate = f"{switch.rate_bits_per_s / 1e9:g} Gb/s"
            what = f"{name}: a lab's switch does not keep up with {rate}"
            yield (*place, "rate"), f"{what}; `fabriscope lab selftest` says what it reaches"
        if switch.loss_share > MOST_LOSS:
            lost = f"{100 * switch.loss_share:.4g} % of all frames are lost"
            yield (*place, "loss"), f"{name}: {lost}, so that TCP mostly waits for time-outs"
    yield from oddities(plan)
    yield from _plan_amounts.oddities(plan, schedule, fabrics, processors if _is_of_this_machine(plan) else None)
    yield from (*_plan_needs.of_orders(plan), *_plan_jobs.oddities(plan, total_s))
    if _is_of_this_machine(plan):
        yield from _plan_needs.doubts(plan, schedule, fabrics)
    yield from _plan_claims.doubts(plan, schedule)
    if (limit := plan.section.submit.duration) is not None and total_s > limit / 1e9:
        what = f"submit: a duration of {duration_words(limit)} ends the job before the run, about {time_words(total_s)}"
        yield ("submit", "duration"), f"{what}; a number without a unit is in seconds: write 2h, or leave it out"
    yield from (*_idle_instruments(schedule), *_idle_fabrics(plan, schedule), *_one_machine(plan))
    yield from _empty_messages(plan)
    yield from _congestion_controls(plan)
    yield from _set_congestion_controls(plan)
    yield from _few_launches(plan, schedule)
    yield from _no_suite(plan)
    yield from _absent_programs(plan, schedule)


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


def _one_machine(plan: Plan) -> Iterator[Doubt]:
    """Yield that several names of hosts mean this machine, so that what is between them is its memory."""
    from fabriscope.running.real_site import is_here

    here = [] if plan.uses_lab or plan.wants_allocation else [host for host in plan.hosts if is_here(host)]
    if len(here) > 1 and "inter" in plan.section.placements:
        what = f"hosts: {listed(here[:4])} are this machine: what is sent between them crosses no network"
        yield ("hosts",), f"{what}; name other hosts, or write `placements: [intra]`"


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


def _congestion_controls(plan: Plan) -> Iterator[Doubt]:
    """Yield what this machine's kernel has none of, where all sockets are of this machine."""
    if plan.guests or not _is_of_this_machine(plan):
        return
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
    if plan.guests or not _is_of_this_machine(plan):
        return
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


def _few_launches(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield that nothing will be decided."""
    compared = {launch.entry for launch in schedule.launches if launch.entry.layer != "null"}
    if plan.section.launches < LEAST_BLOCKS and len(compared) > 1:
        what = f"with {counted(plan.section.launches, 'launch')} of each entry nothing is decided"
        yield ("launches",), f"{what}: a verdict needs {LEAST_BLOCKS}; write `launches: 5`"


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
    """Yield which Debian package an instrument lacks, where all hosts have the programs of this machine."""
    from fabriscope.registry import discover

    if not _is_of_this_machine(plan):
        return
    adapters = discover("adapters", "ADAPTER")
    hpl = plan.section.applications.hpl
    own = {"hpl"} if hpl is not None and hpl.program is not None else set()
    for name in sorted({launch.entry.instrument for launch in schedule.launches} - own):
        adapter = adapters.get(name)
        packages = re.findall(r"\(package ([^ )]+)\)", " ".join(getattr(adapter, "tools", {}).values()))
        if packages and not any(map(shutil.which, adapter.programs)):
            what = f"{name}: {listed(list(adapter.programs), 'or')} is not on this machine"
            key = "instruments" if name in plan.section.instruments else "applications"
            yield (key,), f"{what}; install the package {packages[0]}"


def _is_of_this_machine(plan: Plan) -> bool:
    from fabriscope.running.real_site import is_here

    return plan.uses_lab or all(map(is_here, plan.hosts))
