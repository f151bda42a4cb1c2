"""What of a plan can be so and may not be meant, or will fail when it runs: what `plan check` asks to look at again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.cli._doubts import (
    amounts,
    claims,
    idle_keys,
    jobs,
    machine,
    nothing,
    oddities,
    settings,
    times,
    traffic_classes,
)

if TYPE_CHECKING:
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule


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
        settings.doubts(plan),
        traffic_classes.doubts(plan),
        claims.doubts(plan, schedule),
        nothing.doubts(plan, schedule),
    )
    for place, sentence in (doubt for part in every for doubt in part):
        yield f"{sentence} (line {plan.document.line(place)})" if place and plan.document is not None else sentence
