"""What of a plan can be so and may not be meant, or will fail when it runs: what `plan check` asks to look at again."""

from __future__ import annotations

import difflib
import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope.cli._plan_oddities import oddities
from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.counting import counted, listed

if TYPE_CHECKING:
    from fabriscope.plan import Plan, Schedule

MOST_LAB_BITS_PER_S = 10 * 10**9
"""Every frame costs the switch some microseconds: beyond this a lab cannot be expected to keep the rate."""
MOST_LOSS = 0.01
"""With more, TCP waits for time-outs most of the time."""
LONG_S = 4 * 3600
CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
ALLOWED_CONGESTION_CONTROLS = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
MODULES = Path("/lib/modules")
_CONTROL = "congestion_control"


def doubts(plan: Plan, schedule: Schedule, total_s: float) -> Iterator[str]:
    """Yield a sentence for each."""
    from fabriscope.cli._plan_words import switches, time_words

    for name, switch in switches(plan).items():
        if switch.rate_bits_per_s > MOST_LAB_BITS_PER_S:
            rate = f"{switch.rate_bits_per_s / 1e9:g} Gb/s"
            yield f"{name}: a lab's switch does not keep up with {rate}; `fabriscope lab selftest` says what it reaches"
        if switch.loss_share > MOST_LOSS:
            lost = f"{100 * switch.loss_share:.4g} % of all frames are lost"
            yield f"{name}: {lost}, so that TCP mostly waits for time-outs"
    if total_s > LONG_S:
        yield f"it takes about {time_words(total_s)}: `budget` is the measuring time of the whole run"
    yield from oddities(plan)
    yield from _idle_instruments(schedule)
    yield from _empty_messages(plan)
    yield from _congestion_controls(plan)
    yield from _set_congestion_controls(plan)
    yield from _few_launches(plan, schedule)
    yield from _no_suite(plan)
    yield from _absent_programs(plan, schedule)


def _idle_instruments(schedule: Schedule) -> Iterator[str]:
    """Yield the instruments that measure nothing of the plan, by what they say of its cases before anything is run."""
    from fabriscope.model.errors import FabriscopeError
    from fabriscope.registry import discover

    adapters = discover("adapters", "ADAPTER")
    reasons: dict[str, list[str | None]] = {}
    for launch in schedule.launches:
        if launch.block > 1 or launch.entry.instrument == "engine":
            continue
        try:
            results = adapters.get(launch.entry.instrument).parse(launch, ()).results
        except FabriscopeError:  # it has read no output, which is no word about the cases
            results = ()
        told = [result.reason if result.status == "skipped" else None for result in results]
        reasons.setdefault(launch.entry.instrument, []).extend(told or [None])
    for name, of_cases in reasons.items():
        why = [reason for reason in dict.fromkeys(of_cases) if reason is not None]
        if None not in of_cases:
            what = f"{name} measures nothing of this plan: {'; '.join(why)}"
            yield f"{what}; add a benchmark that it has, or leave {name} out"


def _empty_messages(plan: Plan) -> Iterator[str]:
    """Yield where messages of 0 bytes are asked for that cannot be sent."""
    from fabriscope.model.benchmarks import kind_of

    for name, section in plan.section.benchmarks.items():
        kind = kind_of(name)
        if 0 not in section.sizes or not kind.has_size or kind.is_of_one_element:
            continue
        layers = set(section.layers or plan.section.layers) & set(plan.section.layers)
        if kind.least_size:
            yield f"{name}: the size 0 is left out: it has messages of at least {kind.least_size} B"
        elif "tcp" in layers and not (kind.layer or kind.needs_mpi or kind.needs_verbs):
            yield f"{name}: the size 0 is left out over TCP, which has no message without a byte; begin with 1"


def _congestion_controls(plan: Plan) -> Iterator[str]:
    """Yield what this machine's kernel has none of, where all sockets are of this machine."""
    if plan.guests or not _is_of_this_machine(plan):
        return
    try:
        known = CONGESTION_CONTROLS.read_text().split()
    except OSError:
        return
    asked = {one for section in plan.section.benchmarks.values() for one in section.socket.congestion_control if one}
    for name in sorted(asked - set(known)):
        if any((MODULES / platform.release()).rglob(f"tcp_{name}.ko*")):
            continue
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        yield f"congestion_control: this machine's kernel has no {name!r}; {meant}it has {listed(known)}"


def _set_congestion_controls(plan: Plan) -> Iterator[str]:
    """Yield what settings or a tuning name that hosts of the lab may not choose, or this machine has not."""
    if plan.guests or not _is_of_this_machine(plan):
        return
    section = plan.section
    settings = [one.settings for one in section.fabrics.values()] + [one.settings for one in section.mpi]
    asked = [one.get(_CONTROL) for one in settings]
    asked += section.tune.knobs.get(_CONTROL, ()) if section.tune is not None else ()
    try:
        known = (ALLOWED_CONGESTION_CONTROLS if plan.uses_lab else CONGESTION_CONTROLS).read_text().split()
    except OSError:
        return
    for name in sorted({str(one) for one in asked if one is not None} - set(known)):
        if plan.uses_lab:
            yield f"{_CONTROL}: hosts of the lab may choose {listed(known)}, and not {name!r}: its launches would fail"
        elif not any((MODULES / platform.release()).rglob(f"tcp_{name}.ko*")):
            yield f"{_CONTROL}: this machine's kernel has no {name!r}: its launches would fail; it has {listed(known)}"


def _few_launches(plan: Plan, schedule: Schedule) -> Iterator[str]:
    """Yield that nothing will be decided."""
    compared = {launch.entry for launch in schedule.launches if launch.entry.layer != "null"}
    if plan.section.launches < LEAST_BLOCKS and len(compared) > 1:
        launches = counted(plan.section.launches, "launch")
        yield f"with {launches} of each entry nothing is decided: a verdict needs {LEAST_BLOCKS}; write `launches: 5`"


def _no_suite(plan: Plan) -> Iterator[str]:
    """Yield for which MPI library there is nothing of OSU here, though the plan runs it."""
    from fabriscope.model.osu import INSTRUMENT
    from fabriscope.running import osu_builds

    if INSTRUMENT in plan.section.instruments:
        for stack in plan.section.mpi:
            place = osu_builds.place_of(plan, stack.name)
            if not osu_builds.is_at(place):
                where = "on PATH" if place is None else f"in {place}"
                yield f"{stack.name}: {osu_builds.NOTHING} {where}; {osu_builds.FIX}"


def _absent_programs(plan: Plan, schedule: Schedule) -> Iterator[str]:
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
            yield f"{what}; install the package {packages[0]}"


def _is_of_this_machine(plan: Plan) -> bool:
    from fabriscope.running.real_site import is_here

    return plan.uses_lab or all(map(is_here, plan.hosts))
