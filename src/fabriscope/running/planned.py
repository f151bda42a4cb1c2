"""What a plan comes to before it runs: its launches, and about how long they take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabriscope import plan as plans
from fabriscope.adapters import engine
from fabriscope.adapters.base import AdapterContext
from fabriscope.launch import mpi_jobs
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.plan import Plan, Schedule
from fabriscope.running import applications, site, tuning_plan
from fabriscope.running.tuning_time import TuningTime


@dataclass(frozen=True)
class Planned:
    """A plan's schedule, with the time that it is expected to take."""

    until: str
    """`launches` or `decided`."""
    schedule: Schedule
    fabrics: Mapping[str, Fabric]
    """As far as they are known without a look at any host."""
    processors: int | None
    """Of each host, where that is known."""
    expected_ns: Mapping[int, int]
    """Launch id to what the launch takes."""
    added_ns: int
    """At most, of rounds that sharpen."""
    tuning: TuningTime | None
    budget_ns: int | None = None
    """Of a run that chooses the number of its blocks: what all of them take, and their starts."""

    @property
    def tuning_ns(self) -> int:
        """What the tuning takes at most."""
        return self.tuning.total_ns if self.tuning is not None else 0

    @property
    def most_ns(self) -> int:
        """What it takes in all at most."""
        launches_ns = sum(self.expected_ns.values()) if self.budget_ns is None else self.typical_ns
        return launches_ns + self.added_ns + self.tuning_ns

    @property
    def typical_ns(self) -> int:
        """What its launches take; of a run until decided those of as many blocks as such runs have."""
        if self.budget_ns is not None:
            return max(self.budget_ns, sum(self.expected_ns.values()))
        most = plans.TYPICAL_BLOCKS if self.until == "decided" else math.inf
        return sum(self.expected_ns[one.launch_id] for one in self.schedule.launches if one.block <= most)

    @property
    def whole_ns(self) -> int:
        """What it takes in all, with what is added later."""
        return self.typical_ns + self.added_ns + self.tuning_ns


def planned(plan: Plan) -> Planned:
    """Return what a plan comes to; raises PlanError for what is wrong with it."""
    fabrics, processors = site.planned_fabrics(plan), site.cores_per_host()
    schedule = plans.expand(plan, fabrics, processors, applications.memory_per_host(plan, {}))
    return Planned(
        plan.section.until,
        schedule,
        fabrics,
        processors,
        plans.expected_by_launch(schedule.launches, fabrics, plan.guests),
        plans.most_added_ns(plan.section, schedule, fabrics),
        tuning_plan.check(plan, schedule, fabrics),
        plan.section.budget if plan.section.chooses_blocks else None,
    )


def check_specs(plan: plans.Plan, schedule: plans.Schedule) -> None:
    """Raise PlanError for a launch whose specification no mpirun could be trusted to hand to rank 0."""
    for launch in schedule.launches:
        if (launch.entry.layer, launch.entry.instrument) != ("mpi", "engine") or launch.block > 1:
            continue
        spec_bytes = len(engine.spec_text(launch, AdapterContext({})))
        if spec_bytes > mpi_jobs.MAX_STDIN_BYTES:
            raise PlanError(
                f"{len(launch.cases)} cases in one launch of {launch.entry.label()} are more than mpirun can be "
                f"trusted to hand on ({spec_bytes} bytes of standard input, {mpi_jobs.MAX_STDIN_BYTES} are safe)",
                where=plan.file,
                fix="choose fewer sizes or benchmarks, or make two plans of it",
            )
