"""The launches that a round of sharpening adds, and what the rounds of a plan may take at most."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.plan.duration import expected_ns
from fabriscope.plan.expand import TYPICAL_BLOCKS, Schedule
from fabriscope.plan.orders import orders
from fabriscope.plan.schema import PlanSection

LEAST_ROOM = 8
"""A launch that is added measures at most as many cases as the planned ones of its entry, and this many anyhow."""


def round_of(
    number: int, section: PlanSection, so_far: Sequence[Launch], cases: Mapping[Entry, Sequence[Case]], blocks: range
) -> tuple[Launch, ...]:
    """Return the launches of a round: blocks that launch every entry concerned once, in seeded random orders.

    A case has as much time as it had in the launches so far, all that are scheduled.
    """
    order = _order(f"{section.seed}, round {number}")
    first = {launch.entry: launch for launch in reversed(so_far)}
    shares = {entry: first[entry].budget_ns // len(first[entry].cases) for entry in cases}
    last_id = max(launch.launch_id for launch in so_far)
    launches: list[Launch] = []
    for block, visits in zip(blocks, orders(order, list(cases)), strict=False):
        for entry in visits:
            seed, budget_ns = order.randrange(1 << 32), shares[entry] * len(cases[entry])
            launch_id = last_id + len(launches) + 1
            launches.append(Launch(launch_id, block, entry, tuple(cases[entry]), seed, budget_ns))
    return tuple(launches)


def trials_of(
    number: int, seed: int, so_far: Sequence[Launch], bases: Sequence[Launch], fabrics: Sequence[str], blocks: range
) -> tuple[Launch, ...]:
    """Return the launches of a round of tuning: in each block those of the bases over each fabric, in a random order.

    `bases` are planned launches over the fabric as it is, which is one of the `fabrics`; a launch has their time.
    """
    order = _order(f"{seed}, tuning {number}")
    entries = {(base.entry, name): replace(base.entry, fabric=name) for base in bases for name in fabrics}
    cases = {
        (base.entry, name): tuple(replace(case, entry=entries[base.entry, name]) for case in base.cases)
        for base in bases
        for name in fabrics
    }
    last_id = max(launch.launch_id for launch in so_far)
    launches: list[Launch] = []
    every = [(base, name) for base in bases for name in fabrics]
    for block, visits in zip(blocks, orders(order, every), strict=False):
        for base, name in visits:
            entry, of_entry = entries[base.entry, name], cases[base.entry, name]
            launch_id = last_id + len(launches) + 1
            launches.append(Launch(launch_id, block, entry, of_entry, order.randrange(1 << 32), base.budget_ns))
    return tuple(launches)


def blocks_of(seed: int, pilots: Sequence[Launch], last: int, launch_ns: Mapping[Entry, int]) -> tuple[Launch, ...]:
    """Return the launches of the blocks that follow the pilots, up to the `last` one, in orders that go on from theirs.

    A launch whose entry `launch_ns` does not name measures as long as its pilot.
    """
    order = _order(f"{seed}, blocks")
    first = {launch.entry: launch for launch in reversed(pilots)}
    begin = max(launch.block for launch in pilots)
    launches: list[Launch] = []
    of_pilots = [
        [(one.entry, first[one.entry]) for one in pilots if one.block == block] for block in range(1, begin + 1)
    ]
    for block, visits in zip(range(begin + 1, last + 1), orders(order, list(first.items()), of_pilots), strict=False):
        for entry, pilot in visits:
            budget_ns, seed_of = launch_ns.get(entry, pilot.budget_ns), order.randrange(1 << 32)
            launch_id = len(pilots) + len(launches) + 1
            launches.append(Launch(launch_id, block, entry, pilot.cases, seed_of, budget_ns))
    return tuple(launches)


def _order(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - an order of visits, no secret


def most_added_ns(section: PlanSection, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long the rounds of sharpening take at most; 0 where a plan asks for none."""
    blocks = section.block_count if section.until == "launches" else min(section.block_count, TYPICAL_BLOCKS)
    total = planned = 0.0
    for launch in schedule.launches:
        entry = launch.entry
        if launch.block == 1 and entry.instrument == "engine" and entry.layer != "null" and not entry.twin:
            expected = expected_ns(launch, fabrics)
            planned += expected
            total += expected * max(1.0, LEAST_ROOM / len(launch.cases))
    if section.chooses_blocks:  # however many they are: they have the budget, and a round as many
        return round(section.sharpen * section.budget * total / planned) if planned else 0
    return round(section.sharpen * blocks * total)
