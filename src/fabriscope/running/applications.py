"""What a plan's applications need of this machine and of its hosts, before the first launch."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fabriscope import engine_binary
from fabriscope.adapters.hpl import PROGRAMS
from fabriscope.adapters.npb_reference import program_of
from fabriscope.hosts import access, facts
from fabriscope.launch.site import Site
from fabriscope.model.applications import HPL, INSTRUMENTS, NPB_REFERENCE, nas_problem, order_in
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import HERE, Fact
from fabriscope.model.mpi import MpiStack
from fabriscope.model.nas_memory import about_bytes, largest_class
from fabriscope.plan import Plan, Schedule
from fabriscope.plan.applications import wants_profile

DRY_RUN_S = 30
DOUBLE_BYTES = 8


def kernels(
    plan: Plan, stacks: Mapping[str, MpiStack], notice: Callable[[str], None], cancel: threading.Event | None
) -> dict[str, str]:
    """Return the NAS kernels of our own by the MPI library that they were compiled with; nothing where none are run.

    Where only the reference is run they tell how much memory a problem takes, if they can be compiled. Raises
    ToolMissing or LaunchError.
    """
    npb = plan.section.applications.npb
    if npb is None:
        return {}
    notice("the NAS kernels (compiled once for each MPI library, then kept)")
    return {
        name: str(engine_binary.build_npb(stack, cancel)) for name, stack in stacks.items() if npb.own or stack.mpicxx
    }


def profilers(plan: Plan, stacks: Mapping[str, MpiStack], cancel: threading.Event | None) -> dict[str, str]:
    """Return what counts the calls of each MPI library, where an application is to be profiled; raises as `kernels`."""
    if not wants_profile(plan.section):
        return {}
    return {name: str(engine_binary.build_profiler(stack, cancel)) for name, stack in stacks.items()}


def check(schedule: Schedule, site: Site, *, in_lab: bool) -> None:
    """Raise ToolMissing or LaunchError, in one sentence, for an application that could not run as it is asked for.

    Its program is not there, its problem does not fit the memory, or HPL would have fewer cores than threads.
    What is not known of a host is not checked.
    """
    first = [launch for launch in schedule.launches if launch.block == 1]
    cases = [case for launch in first for case in launch.cases if launch.entry.instrument in INSTRUMENTS]
    here = facts.collect(HERE) if in_lab and cases else None
    is_near = not any(host.is_remote for host in site.hosts.values())
    needed: dict[tuple[str | None, str, int], int] = {}  # the same over every fabric
    for case in cases:
        if is_near or case.entry.instrument == HPL:
            _check_program(case, site, is_near=is_near)
        ranks = len(case.entry.hosts)
        problem = (case.entry.mpi, f"{case.benchmark} {case.parameter_map.get('n')}", ranks)
        if problem not in needed:
            needed[problem] = _needed_bytes(case, site)
        for where, known, rank_count in _machines(case, site, here):
            if case.entry.instrument == HPL:
                _check_cores(case, where, _cores(known, is_here=here is not None), rank_count)
            needs, available = needed[problem], _known(known, "memory.available_bytes")
            if available is not None and available < needs * rank_count / ranks:
                raise LaunchError(
                    f"{kind_of(case.benchmark).title} on {ranks} ranks needs"
                    f" {needs * rank_count // ranks >> 20} MiB of memory, and {available >> 20} MiB are available",
                    where=where,
                    fix=_that_fits(case, available * ranks / rank_count, in_lab=in_lab),
                )


def _that_fits(case: Case, memory_bytes: float, *, in_lab: bool) -> str:
    """Return what to choose of a problem that is too large for what its ranks have together."""
    more = "" if in_lab else ", or more hosts"
    if case.entry.instrument == HPL:
        return f"write n: {order_in(memory_bytes, int(case.parameter_map['nb']))} or less{more}"
    largest = largest_class(case.entry.instrument, case.benchmark, len(case.entry.hosts), memory_bytes)
    return f"write class: {largest}, the largest that fits{more}" if largest else f"choose another kernel{more}"


def memory_per_host(plan: Plan, known: Mapping[str, Sequence[Fact]]) -> int | None:
    """Return the memory that every host has at least, where HPL is to take a share of it; None: not known.

    The hosts of a lab share this machine's.
    """
    hpl = plan.section.applications.hpl
    if hpl is None or hpl.memory is None:
        return None
    if plan.uses_lab:
        whole = _known(facts.collect(HERE), "memory.total_bytes")
        return None if whole is None else whole // len(plan.hosts)
    found = [_known(known.get(name, ()), "memory.total_bytes") for name in plan.hosts]
    numbers = [number for number in found if number is not None]
    return min(numbers) if len(numbers) == len(found) else None


def _machines(case: Case, site: Site, here: Sequence[Fact] | None) -> Iterator[tuple[str, Sequence[Fact], int]]:
    """Yield the machines that a case's ranks are on, what is known of each, and how many ranks it has."""
    if here is not None:
        yield "this machine", here, len(case.entry.hosts)
        return
    for host, count in Counter(case.entry.hosts).items():
        yield f"host {host}", site.facts.get(host, ()), count


def _known(known: Iterable[Fact], name: str) -> int | None:
    value = next((fact.value for fact in known if fact.name == name), None)
    return value if isinstance(value, int) else None


def _check_program(case: Case, site: Site, *, is_near: bool) -> None:
    if case.entry.instrument == NPB_REFERENCE:
        path = Path(program_of(case))
        if not os.access(path, os.X_OK):
            what = f"there is no program {path.name} in {path.parent}"
            raise ToolMissing(what, fix="build it there (`make ft CLASS=C`), or leave kernel or class out")
    if case.entry.instrument != HPL:
        return
    named = case.parameter_map.get("program")
    if named is None and not any(name in site.programs for name in PROGRAMS):
        where = "on this machine" if is_near else "on every host"
        fix = "install the package hpcc, or name yours: `applications: {hpl: {program: /path/xhpl}}`"
        raise ToolMissing(f"neither xhpl nor hpcc is {where}", fix=fix)
    if named is not None and is_near and shutil.which(named) is None:
        raise ToolMissing(f"{named} is no program on this machine", fix="name the path of xhpl or hpcc")


def _cores(known: Sequence[Fact], *, is_here: bool) -> int | None:
    return len(os.sched_getaffinity(0)) if is_here else _known(known, "cpu.thread_count")


def _check_cores(case: Case, where: str, cores: int | None, ranks: int) -> None:
    threads = int(case.parameter_map["threads"])
    if cores is not None and threads * ranks > cores:
        each = f" with {threads} threads each" if threads > 1 else ""
        raise LaunchError(
            f"HPL's {ranks} ranks{each} would share {cores} cores, and its rate would tell of the sharing",
            where=where,
            fix="choose fewer ranks on each host, or fewer threads",
        )


def _needed_bytes(case: Case, site: Site) -> int:
    """Return the memory that all ranks of a case take together; about, before our kernels are compiled."""
    if case.entry.instrument == HPL:
        return DOUBLE_BYTES * int(case.parameter_map["n"]) ** 2
    program = site.npb.get(case.entry.mpi or "")
    if program is None or not Path(program).is_file():
        return about_bytes(case.benchmark)
    env = (f"{name}={value}" for name, value in site.mpi[case.entry.mpi or ""].env.items())
    argv = (program, *nas_problem(case.benchmark), "--rank-count", str(len(case.entry.hosts)), "--dry-run")
    done = access.run(HERE, ("env", *env, *argv), DRY_RUN_S)
    if not done.stdout:
        raise LaunchError(f"it does not tell how much memory it takes: {done.last_words}", where="fabriscope-npb")
    told = Foreign.json(done.stdout.partition("\n")[0], where="fabriscope-npb")
    if told.at("type").text() == "start":
        return told.at("needed_bytes_per_rank").whole() * len(case.entry.hosts)
    needed = told.get("needed_bytes")
    if needed is None:
        raise LaunchError(told.at("reason").text(), where="the plan", fix="choose another number of ranks")
    return needed.whole()
