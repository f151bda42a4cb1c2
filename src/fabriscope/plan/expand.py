"""From a plan to launches: which entries, which cases, in which order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabriscope.model.applications import INSTRUMENTS
from fabriscope.model.benchmark_kind import APPLICATION, BESIDE, PAIRS, STREAMS, TO_MANY
from fabriscope.model.blocks import LEAST_BLOCKS, MOST_CHOSEN_BLOCKS
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError, shown
from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import layer_of
from fabriscope.model.measurement import Launch
from fabriscope.plan import applications
from fabriscope.plan.carriers import carriers
from fabriscope.plan.cases import MAX_CASES, cases
from fabriscope.plan.load import Plan
from fabriscope.plan.orders import orders
from fabriscope.plan.pilots import pilots_of
from fabriscope.plan.ranks import layouts, patterns
from fabriscope.plan.remedies import of_truth
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.streams import many_layouts, receiver_count, stream_layouts, streams_refuse, victim_layouts

FLOOR_BUDGET_NS = 200_000_000
TYPICAL_BLOCKS = 10
"""The budget of a plan that goes on until it is decided is enough for these blocks of all entries; what is decided
early leaves its share to the others."""
_LAYOUTS = {STREAMS: stream_layouts, BESIDE: victim_layouts, TO_MANY: many_layouts}
MAX_ENTRIES = 2000
MAX_LAUNCHES = 100_000
MAX_RANK_CASES = 4_000_000
"""Cases of a run, each as often as it has ranks: the manifest names the host of every rank of every case."""


@dataclass(frozen=True)
class Schedule:
    """What a run will do, in order."""

    launches: tuple[Launch, ...]
    entries: tuple[Entry, ...]

    @property
    def cases(self) -> dict[str, Case]:
        """Return every case of the run by its id."""
        of_entries = {id(launch.cases): launch.cases for launch in self.launches}
        return {case.case_id: case for of_entry in of_entries.values() for case in of_entry}


def expand(
    plan: Plan,
    fabrics: Mapping[str, Fabric],
    cores: int | None = None,
    memory_bytes: int | None = None,
    *,
    all_drawn: bool = False,
) -> Schedule:
    """Return the schedule: every block launches every entry once, in a seeded random order (`orders.py`).

    `cores` is how many cores a host has: what `half` and `all` count; `memory_bytes` is its memory, of which HPL may
    take a share. Raises PlanError where a plan needs one of them and it is not known, and for a plan that leaves
    nothing to measure, or more than a run can be.
    """
    if plan.section.until == "decided" and plan.section.block_count < LEAST_BLOCKS:
        what = f"with {plan.section.block_count} launches nothing can be decided: a verdict needs {LEAST_BLOCKS}"
        raise PlanError(what, where=plan.where("launches"), fix="allow more, or remove `until`")
    entries = _wanted(plan, _bounded(plan, _measured(plan, fabrics, cores, memory_bytes)))
    _refuse_unusable(plan, entries, cores)
    if not entries:
        raise PlanError("nothing of this plan can be measured", where=plan.where(), fix="see docs/plan.md")
    twinned = _twinned(plan, list(entries))
    if twinned is not None:
        twin = replace(twinned, twin=True)
        entries[twin] = tuple(replace(case, entry=twin) for case in entries[twinned])
    budgets_ns = _budgets_ns(plan, entries, fabrics)
    if plan.section.floor and plan.section.benchmarks and "engine" in plan.section.instruments:
        floor = Entry("null", None, "intra", (plan.hosts[0], plan.hosts[0]))
        entries[floor] = (Case(floor, "empty", 0), Case(floor, "ping_pong", 1))
    _refuse_mixed_up(plan, entries)
    most = MOST_CHOSEN_BLOCKS if plan.section.chooses_blocks else plan.section.block_count
    if (count := most * len(entries)) > MAX_LAUNCHES:
        raise _too_large(plan, f"{len(entries)} entries, {most} times each, are {count} launches")
    order = random.Random(plan.section.seed)  # noqa: S311 - an order of visits, no secret
    launches: list[Launch] = []
    blocks = range(1, plan.section.block_count + 1)
    for block, visits in zip(blocks, orders(order, list(entries.items()), all_drawn=all_drawn), strict=False):
        for entry, of_entry in visits:
            seed = order.randrange(1 << 32)
            budget_ns = FLOOR_BUDGET_NS if entry.layer == "null" else budgets_ns[entry]
            launches.append(Launch(len(launches) + 1, block, entry, of_entry, seed, budget_ns))
    return Schedule(tuple(launches), tuple(entries))


def _budgets_ns(
    plan: Plan, entries: Mapping[Entry, tuple[Case, ...]], fabrics: Mapping[str, Fabric]
) -> dict[Entry, int]:
    """Return how long a launch of each entry measures: its share of the budget, or as a pilot's does."""
    if plan.section.chooses_blocks:
        return pilots_of(plan.section, entries, fabrics, plan.guests).budgets_ns
    blocks = plan.section.block_count
    if plan.section.until == "decided":
        blocks = min(blocks, TYPICAL_BLOCKS)
    return dict.fromkeys(entries, plan.section.budget // (len(entries) * blocks))


def _bounded(plan: Plan, measured: Iterator[tuple[Entry, tuple[Case, ...]]]) -> dict[Entry, tuple[Case, ...]]:
    """Return the entries that have cases; raises PlanError as soon as a run of them would be too large."""
    entries = {}
    case_count = rank_case_count = 0
    for number, (entry, of_entry) in enumerate(measured, 1):
        case_count += len(of_entry)
        rank_case_count += len(of_entry) * len(entry.hosts)
        for count, most, what in (
            (number, MAX_ENTRIES, "entries (fabrics, layers, libraries, layouts of ranks)"),
            (case_count, MAX_CASES, "cases"),
            (rank_case_count, MAX_RANK_CASES, "cases, counted for each of their ranks"),
        ):
            if count > most:
                raise _too_large(plan, f"more than {most} {what}")
        if of_entry:
            entries[entry] = of_entry
    return entries


def _wanted(plan: Plan, entries: dict[Entry, tuple[Case, ...]]) -> dict[Entry, tuple[Case, ...]]:
    """Return the entries that `only` leaves; raises PlanError for a word that no entry has."""
    words = plan.section.only
    for word in words:
        if entries and not any(word in entry.entry_id for entry in entries):
            ids = ", ".join(entry.entry_id for entry in list(entries)[:20])
            what = f"only: no entry has {shown(word)} in its id"
            raise PlanError(what, where=plan.where("only"), fix=f"the entries are {ids}")
    return {
        entry: of_entry
        for entry, of_entry in entries.items()
        if not words or any(word in entry.entry_id for word in words)
    }


def _too_large(plan: Plan, what: str) -> PlanError:
    return PlanError(
        f"a run of this plan would be too large: {what}",
        where=plan.where(),
        fix="measure less, or make two plans of it",
    )


def _refuse_mixed_up(plan: Plan, entries: Iterable[Entry]) -> None:
    """Raise PlanError where two entries have one name: their numbers would be taken for those of one."""
    names: set[str] = set()
    for entry in entries:
        if entry.entry_id in names:
            what = f"two entries of this plan would be called {entry.entry_id}"
            raise PlanError(what, where=plan.where("fabrics"), fix="give the fabric or the MPI library another name")
        names.add(entry.entry_id)


def _refuse_unusable(plan: Plan, entries: Mapping[Entry, tuple[Case, ...]], cores: int | None) -> None:
    """Raise PlanError for an application that none of the plan's numbers of ranks is for."""
    if not applications.benchmarks(plan.section):
        return
    measured = [case for of_entry in entries.values() for case in of_entry]
    counts = {
        layout.rank_count
        for placement in plan.section.placements
        for layout in layouts(
            plan.section, APPLICATION, placement, len(plan.hosts) if placement == "inter" else 1, cores
        )
    }
    for place, what, fix in applications.unusable(plan.section, measured, counts):
        raise PlanError(what, where=plan.where(*place), fix=fix)


def _measured(
    plan: Plan, fabrics: Mapping[str, Fabric], cores: int | None, memory_bytes: int | None
) -> Iterator[tuple[Entry, tuple[Case, ...]]]:
    """Yield every entry but the floor with its cases, which may be none."""
    section = plan.section
    for placement, layer, instrument in _ways(section):
        if placement not in layer_of(layer).placements or layer not in plan.instrument_layers.get(instrument, {layer}):
            continue
        hosts = plan.hosts if placement == "inter" else plan.hosts[:1]
        for (layout, receivers), of_layout in _layouts(plan, placement, len(hosts), cores).items():
            if streams_refuse(of_layout, layout, layer):
                continue
            for fabric, stack in carriers(section, placement, layer):
                is_victim = BESIDE in of_layout
                entry = Entry(layer, fabric, placement, layout, stack, instrument, False, is_victim, receivers)
                if instrument not in INSTRUMENTS:
                    beside = [name for name in section.instruments if layer in plan.instrument_layers.get(name, ())]
                    told = cases(section.benchmarks, entry, of_layout, fabrics, section.services, beside)
                    yield entry, tuple(told)
                elif APPLICATION in of_layout:
                    yield entry, tuple(applications.cases(section, entry, memory_bytes))


def _ways(section: PlanSection) -> Iterator[tuple[str, str, str]]:
    """Yield every placement, layer and instrument; services and applications have instruments of their own."""
    for placement, layer in itertools.product(section.placements, section.layers):
        own = layer_of(layer).instrument
        of_mpi = applications.instruments(section) if layer == "mpi" else ()
        for instrument in (own,) if own else (*section.instruments, *of_mpi):
            yield placement, layer, instrument


def _twinned(plan: Plan, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry that is launched twice in each block, as the A/A control; None without one. Raises PlanError."""
    wanted = plan.section.control
    if wanted is False:
        return None
    between = [entry for entry in entries if entry.fabric is not None]
    fits = (between or list(entries)) if wanted is True else [
        entry for entry in entries if wanted in (entry.entry_id, entry.fabric)
    ]  # fmt: skip
    if not fits:
        ids = ", ".join(entry.entry_id for entry in entries[:20])
        raise PlanError(
            f"control: there is no entry {shown(wanted)}",
            where=plan.where("control"),
            fix=of_truth(wanted) or f"choose one of {ids}",
        )
    return fits[0]


def _layouts(
    plan: Plan, placement: str, host_count: int, cores: int | None
) -> dict[tuple[tuple[str, ...], int], frozenset[str]]:
    """Return the hosts of the ranks of every layout and how many receive, and the patterns of what runs there."""
    found: dict[tuple[tuple[str, ...], int], set[str]] = {}
    for pattern in patterns(plan.section):
        if pattern in _LAYOUTS:
            receivers = receiver_count(plan.section) if pattern == TO_MANY else 1
            for rank_hosts in _LAYOUTS[pattern](plan.section, plan.hosts) if placement == "inter" else ():
                found.setdefault((rank_hosts, receivers), set()).add(pattern)
            continue
        try:
            of_pattern = layouts(plan.section, pattern, placement, host_count, cores)
        except PlanError as error:
            key = "pairs" if pattern == PAIRS else "ranks_per_host" if plan.section.ranks_per_host else "ranks"
            raise PlanError(error.what, where=plan.where(key), fix=error.fix) from error
        if sum(layout.rank_count for layout in of_pattern) > MAX_RANK_CASES:
            raise _too_large(plan, f"more than {MAX_RANK_CASES} ranks in all layouts together")
        for layout in of_pattern:
            found.setdefault((layout.hosts(plan.hosts), 1), set()).add(pattern)
    return {ranks: frozenset(of_layout) for ranks, of_layout in found.items()}
