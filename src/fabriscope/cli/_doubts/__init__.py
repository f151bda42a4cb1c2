"""What of a plan can be so and may not be meant, or will fail when it runs: what `plan check` asks to look at again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.cli._doubts import (
    amounts,
    claims,
    idle_keys,
    jobs,
    libraries,
    machine,
    nothing,
    oddities,
    settings,
    times,
    traffic_classes,
    wires,
)

if TYPE_CHECKING:
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule


def of_plan(plan: Plan) -> list[str]:
    """Return the sentences of a plan before it runs; none where it has mistakes, which the run tells."""
    from fabriscope import plan as plans
    from fabriscope.model.errors import FabriscopeError
    from fabriscope.running import applications, site, tuning_plan

    try:
        fabrics, cores = site.planned_fabrics(plan), site.cores_per_host()
        schedule = plans.expand(plan, fabrics, cores, applications.memory_per_host(plan, {}))
        tuned = tuning_plan.check(plan, schedule, fabrics)
        block = [launch for launch in schedule.launches if launch.block == 1]
        blocks = max(launch.block for launch in schedule.launches)
        blocks = min(blocks, plans.TYPICAL_BLOCKS) if plan.section.until == "decided" else blocks
        total_ns = blocks * sum(plans.expected_by_launch(block, fabrics, plan.guests).values())
        total_ns += plans.most_added_ns(plan.section, schedule, fabrics) + (tuned.total_ns if tuned else 0)
        return list(doubts(plan, schedule, fabrics, total_ns / 1e9, cores))
    except FabriscopeError:
        return []


def doubts(
    plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], total_s: float, processors: int | None
) -> Iterator[str]:
    """Yield a sentence for each, with its line; `processors` are those of this machine."""
    of_hosts = processors if machine.is_this(plan) else None
    every = (
        oddities.oddities(plan),
        times.oddities(plan, schedule, fabrics),
        amounts.oddities(plan, schedule, of_hosts),
        idle_keys.oddities(plan),
        jobs.oddities(plan, total_s),
        machine.doubts(plan, schedule, fabrics),
        libraries.doubts(plan, schedule),
        wires.doubts(plan),
        settings.doubts(plan),
        traffic_classes.doubts(plan),
        claims.doubts(plan, schedule, fabrics),
        nothing.doubts(plan, schedule, fabrics),
    )
    for place, sentence in (doubt for part in every for doubt in part):
        yield f"{sentence} (line {plan.document.line(place)})" if place and plan.document is not None else sentence
