"""From a plan to launches: which entries, which cases, in which order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.libfabric import placements_of
from fabriscope.model.measurement import Launch
from fabriscope.plan.carriers import carriers
from fabriscope.plan.cases import cases
from fabriscope.plan.load import Plan
from fabriscope.plan.ranks import layouts

FLOOR_BUDGET_NS = 200_000_000
TYPICAL_BLOCKS = 10
"""The budget of a plan that goes on until it is decided is enough for so many blocks of all entries; what is decided
early leaves its share to the others."""


@dataclass(frozen=True)
class Schedule:
    """What a run will do, in order."""

    launches: tuple[Launch, ...]
    entries: tuple[Entry, ...]

    @property
    def cases(self) -> dict[str, Case]:
        """Return every case of the run by its id."""
        return {case.case_id: case for launch in self.launches for case in launch.cases}


def expand(plan: Plan, fabrics: Mapping[str, Fabric], cores: int | None = None) -> Schedule:
    """Return the schedule: every block launches every entry once, in its own seeded random order.

    `cores` is how many cores a host has: what `half` and `all` count. Raises PlanError where a plan needs it and it
    is not known, and for a plan that leaves nothing to measure.
    """
    entries = {entry: of_it for entry, of_it in _measured(plan, fabrics, cores) if of_it}
    if not entries:
        raise PlanError("nothing of this plan can be measured", where=plan.file, fix="see docs/plan.md")
    twinned = _twinned(plan, list(entries))
    if twinned is not None:
        twin = replace(twinned, twin=True)
        entries[twin] = tuple(replace(case, entry=twin) for case in entries[twinned])
    blocks = plan.section.launches
    if plan.section.until == "decided":
        blocks = min(blocks, TYPICAL_BLOCKS)
    launch_budget_ns = plan.section.budget // (len(entries) * blocks)
    if plan.section.floor and "engine" in plan.section.instruments:
        floor = Entry("null", None, "intra", (plan.hosts[0], plan.hosts[0]))
        entries[floor] = (Case(floor, "empty", 0), Case(floor, "ping_pong", 1))
    order = random.Random(plan.section.seed)  # noqa: S311 - an order of visits, no secret
    launches: list[Launch] = []
    for block in range(1, plan.section.launches + 1):
        for entry in order.sample(list(entries), len(entries)):
            seed = order.randrange(1 << 32)
            budget_ns = FLOOR_BUDGET_NS if entry.layer == "null" else launch_budget_ns
            launches.append(Launch(len(launches) + 1, block, entry, entries[entry], seed, budget_ns))
    return Schedule(tuple(launches), tuple(entries))


def _measured(plan: Plan, fabrics: Mapping[str, Fabric], cores: int | None) -> Iterator[tuple[Entry, tuple[Case, ...]]]:
    """Yield every entry but the floor with its cases, which may be none."""
    section = plan.section
    for placement, layer, instrument in itertools.product(section.placements, section.layers, section.instruments):
        if placement not in placements_of(layer) or layer not in plan.instrument_layers.get(instrument, {layer}):
            continue
        hosts = plan.hosts if placement == "inter" else plan.hosts[:1]
        for layout, patterns in _layouts(plan, placement, len(hosts), cores).items():
            for fabric, stack in carriers(section, placement, layer):
                entry = Entry(layer, fabric, placement, layout, stack, instrument)
                yield entry, tuple(cases(section.benchmarks, entry, patterns, fabrics))


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
        ids = ", ".join(entry.entry_id for entry in entries)
        raise PlanError(f"control: there is no entry {wanted!r}", where=plan.file, fix=f"choose one of {ids}")
    return fits[0]


def _layouts(plan: Plan, placement: str, host_count: int, cores: int | None) -> dict[tuple[str, ...], frozenset[str]]:
    """Return the hosts of the ranks of every layout, and the patterns of the benchmarks that run there."""
    found: dict[tuple[str, ...], set[str]] = {}
    for pattern in dict.fromkeys(kind_of(name).pattern for name in plan.section.benchmarks):
        for layout in layouts(plan.section, pattern, placement, host_count, cores):
            found.setdefault(layout.hosts(plan.hosts), set()).add(pattern)
    return {hosts: frozenset(patterns) for hosts, patterns in found.items()}
