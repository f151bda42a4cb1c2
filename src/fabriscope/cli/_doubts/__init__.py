"""What of a plan can be so and may not be meant, or will fail when it runs: what `plan check` asks to look at again."""

from __future__ import annotations

from collections.abc import Iterator
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
    from fabriscope.plan import Plan
    from fabriscope.running.planned import Planned


def of_plan(plan: Plan) -> list[str]:
    """Return the sentences of a plan before it runs; none where it has mistakes, which the run tells."""
    from fabriscope.model.errors import FabriscopeError
    from fabriscope.running.planned import planned

    try:
        return list(doubts(plan, planned(plan)))
    except FabriscopeError:
        return []


def doubts(plan: Plan, known: Planned) -> Iterator[str]:
    """Yield a sentence for each, with its line."""
    schedule, fabrics = known.schedule, known.fabrics
    of_hosts = known.processors if machine.is_this(plan) else None
    every = (
        oddities.oddities(plan),
        times.oddities(plan, schedule, fabrics),
        amounts.oddities(plan, schedule, of_hosts),
        idle_keys.oddities(plan),
        jobs.oddities(plan, known.whole_ns / 1e9),
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
