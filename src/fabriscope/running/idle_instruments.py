"""Instruments that measure nothing of a plan, by what they say of its cases before anything is run."""

from __future__ import annotations

from fabriscope import plan as plans
from fabriscope.model.errors import PlanError
from fabriscope.registry import discover


def idle(schedule: plans.Schedule) -> dict[str, str]:
    """Return the instruments without a case of their own, and why."""
    adapters = discover("adapters", "ADAPTER")
    reasons: dict[str, list[str | None]] = {}
    for launch in schedule.launches:
        if launch.block > 1 or launch.entry.instrument == "engine":
            continue
        try:
            results = adapters.get(launch.entry.instrument).parse(launch, ()).results
        except (
            Exception
        ):  # it has read no output, which is no word about the cases; its launch tells what is wrong in it
            results = ()
        told = [result.reason if result.status == "skipped" else None for result in results]
        reasons.setdefault(launch.entry.instrument, []).extend(told or [None])
    return {
        name: "; ".join(reason for reason in dict.fromkeys(of_cases) if reason is not None)
        for name, of_cases in reasons.items()
        if None not in of_cases
    }


def refuse(plan: plans.Plan, schedule: plans.Schedule) -> None:
    """Raise PlanError where all instruments are idle: a run would end without a number."""
    instruments = {entry.instrument for entry in schedule.entries if entry.layer != "null"}
    if not instruments or "engine" in instruments:
        return
    found = idle(schedule)
    if instruments <= set(found):
        raise PlanError(
            "; ".join(f"{name} measures nothing of this plan: {why}" for name, why in found.items()),
            where=plan.where("instruments"),
            fix="add a benchmark that it has, or `engine` to the instruments",
        )
