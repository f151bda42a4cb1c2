"""What a plan's applications become, and what of them cannot be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from fabriscope.model.applications import (
    HPL,
    INSTRUMENTS,
    NPB,
    NPB_REFERENCE,
    can_use,
    grid_of,
    nas_benchmark,
    order_in,
    usable_counts,
)
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.plan.application_schema import HplSection, NpbSection
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection

Parameters = tuple[tuple[str, str], ...]


def instruments(section: PlanSection) -> tuple[str, ...]:
    """Return what runs the applications of a plan."""
    npb = section.applications.npb
    of_npb = [(npb.own, NPB), (npb.reference is not None, NPB_REFERENCE)] if npb is not None else []
    return tuple(name for wanted, name in (*of_npb, (section.applications.hpl is not None, HPL)) if wanted)


def benchmarks(section: PlanSection) -> tuple[str, ...]:
    """Return the benchmarks that the applications of a plan are."""
    npb = section.applications.npb
    of_npb = [nas_benchmark(one.lower(), size) for size in npb.classes for one in npb.kernels] if npb else []
    return (*of_npb, *(["hpl"] if section.applications.hpl else []))


def cases(section: PlanSection, entry: Entry, memory_bytes: int | None) -> Iterator[Case]:
    """Yield the applications that an entry's instrument runs on its ranks, as far as they can use these.

    `memory_bytes` is what a host has. Raises PlanError where HPL's matrix is to take a share of it and it is not known.
    """
    hpl, npb, count = section.applications.hpl, section.applications.npb, len(entry.hosts)
    if entry.instrument == HPL:
        if hpl is not None and count in (hpl.ranks or (count,)) and _fits(hpl, count):
            yield Case(entry, "hpl", 0, parameters=(*_of_hpl(hpl, entry, memory_bytes), *_profiled(hpl)))
    elif npb is not None and count in (npb.ranks or (count,)):
        for name in benchmarks(section):
            if entry.instrument in kind_of(name).instruments and can_use(entry.instrument, name, count):
                yield Case(entry, name, 0, parameters=(*_of_npb(npb, entry), *_profiled(npb)))


def _profiled(section: HplSection | NpbSection) -> Parameters:
    return (("profile", "1"),) if section.profile else ()


def wants_profile(section: PlanSection) -> bool:
    """Return whether the calls of any application are to be counted."""
    return any(one.profile for one in (section.applications.npb, section.applications.hpl) if one is not None)


def _of_npb(npb: NpbSection, entry: Entry) -> Parameters:
    limit = ("time_limit_s", str(npb.time_limit // 10**9))
    if entry.instrument == NPB:
        return (("repeats", str(npb.repeats)), limit)
    folder = npb.reference if isinstance(npb.reference, str) else (npb.reference or {}).get(entry.mpi or "", "")
    return (("folder", folder), limit)


def _fits(hpl: HplSection, rank_count: int) -> bool:
    return hpl.grid is None or hpl.grid[0] * hpl.grid[1] == rank_count


def _of_hpl(hpl: HplSection, entry: Entry, memory_bytes: int | None) -> Parameters:
    rows, columns = hpl.grid or grid_of(len(entry.hosts))
    order = hpl.n
    if order is None:
        if memory_bytes is None:
            what = "the matrix of HPL is to take a share of the hosts' memory, which is not known"
            raise PlanError(what, fix="write its order, such as `n: 10000`")
        order = order_in((hpl.memory or 0) * memory_bytes * len(set(entry.hosts)), hpl.nb)
    told = {
        "program": hpl.program, "n": order, "nb": hpl.nb, "rows": rows, "columns": columns, "threads": hpl.threads,
        "clock_hz": None if hpl.clock is None else round(hpl.clock), "flop_per_cycle": hpl.flop_per_cycle,
        "time_limit_s": hpl.time_limit // 10**9,
    }  # fmt: skip
    return tuple((name, str(value)) for name, value in told.items() if value is not None)


def unusable(section: PlanSection, measured: Iterable[Case], rank_counts: Collection[int]) -> Iterator[Contradiction]:
    """Yield the applications that none of the plan's numbers of ranks is for, with the numbers next to them.

    `measured` are the cases that the plan has otherwise come to.
    """
    known = {(case.entry.instrument, case.benchmark) for case in measured}
    for instrument in instruments(section):
        for name in benchmarks(section):
            if instrument not in kind_of(name).instruments or (instrument, name) in known:
                continue
            hpl = section.applications.hpl
            of_one = (hpl if instrument == HPL else section.applications.npb) or HplSection(n=1)
            counts = [count for count in sorted(set(rank_counts)) if count in (of_one.ranks or (count,))]
            words = " or ".join(map(str, counts))
            if not counts:
                wanted = " or ".join(map(str, of_one.ranks or ()))
                what = f"it is to run on {wanted} ranks, and no number of the plan's ranks is that"
                yield ("applications", instrument.partition("-")[0], "ranks"), what, "name such a count in `ranks`"
                return
            if instrument == HPL and hpl is not None and hpl.grid is not None:
                rows, columns = hpl.grid
                what = f"a grid of {rows}x{columns} is not one of {words} ranks"
                yield ("applications", "hpl", "grid"), what, f"write `ranks: {rows * columns}`, or leave the grid out"
            elif instrument != HPL:
                near = sorted({one for count in counts for one in usable_counts(instrument, name, count) if one > 1})
                of_reference = " of the reference" if instrument == NPB_REFERENCE else ""
                what = f"{kind_of(name).title}{of_reference} cannot use {words} ranks"
                yield ("applications", "npb", "kernels"), what, f"`ranks` next to that: {', '.join(map(str, near))}"


def contradictions(section: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, of what is asked of applications and cannot be."""
    for name in section.benchmarks:
        if kind_of(name).pattern == APPLICATION:
            what = f"{name} is an application, and no benchmark with a sweep"
            fix = "write for example `applications: {npb: {kernels: FT, class: S}}`"
            yield ("benchmarks", name), what, fix
    for index, name in enumerate(section.instruments):
        if name in INSTRUMENTS:
            what = f"{name} runs applications, and no benchmarks"
            yield ("instruments", index), what, "remove it, and say what it is to run under applications"
    if not benchmarks(section):
        if not section.benchmarks:
            yield (), "the key 'benchmarks' is missing", "add it; see docs/plan.md"
        if "applications" in section.model_fields_set:
            yield ("applications",), "it names no application", "write npb or hpl there; see docs/applications.md"
        return
    if "mpi" not in section.layers:
        what = "applications are programs over MPI, and the plan does not measure the layer mpi"
        yield ("applications",), what, "write for example `layers: [mpi]` and `mpi: [mpich]`"
    npb = section.applications.npb
    if npb is None:
        return
    if not npb.own and npb.reference is None:
        what = "without our own kernels the folder of the reference's programs is wanted"
        yield ("applications", "npb"), what, "write for example `reference: /opt/NPB3.4-MPI/bin`"
    if isinstance(npb.reference, dict):
        names = [stack.name for stack in section.mpi]
        for name in set(npb.reference) ^ set(names):
            what = f"{name} has no folder" if name in names else f"there is no MPI library {name} in this plan"
            yield ("applications", "npb", "reference"), what, f"name one for each of {', '.join(names)}"
