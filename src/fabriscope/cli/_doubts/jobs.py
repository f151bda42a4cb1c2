"""What a plan asks of a batch job that does not go with its hosts, and times that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.cli._plan_words import time_words
from fabriscope.model.counting import counted
from fabriscope.model.units import duration_words

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.plan import Plan

MOST_CASE_TIMEOUT_NS = 4 * 3600 * 10**9
MOST_RUNS_IN_A_JOB = 100
"""How often the run goes into its job's time."""
LEAST_RUN_NS = 600 * 10**9
"""What such a job's run is reckoned with at least."""


def oddities(plan: Plan, total_s: float) -> Iterator[Doubt]:
    """Yield place and sentence of each; `total_s` is about what the run takes."""
    section, submit = plan.section, plan.section.submit
    word = section.hosts if plan.wants_allocation else ""
    if submit.scheduler and word not in ("", "@allocation", submit.scheduler) and submit.scheduler != "local":
        what = f"hosts: {word} are the hosts of a job of {word}, and submit asks {submit.scheduler} for one"
        yield ("hosts",), f"{what}; write `hosts: {submit.scheduler}`"
    if word and plan.uses_lab:
        what = f"hosts: {word} are the hosts of a batch job, and the fabrics are of the lab, which makes its own"
        yield ("hosts",), f"{what}; write `hosts: node[1-2]`, or fabrics with an interface"
    if not word and (submit.nodes or 1) > 1 and not submit.attributes:
        job = f"submit: a job of {counted(submit.nodes or 1, 'node')} is asked for"
        if plan.uses_lab and submit.nodes != len(plan.hosts):
            yield ("submit", "nodes"), f"{job}, and a lab is all on its first; leave nodes out"
        elif not plan.uses_lab and submit.scheduler != "local":
            named = f"and the plan names {counted(len(plan.hosts), 'host')}"
            others = named if submit.nodes != len(plan.hosts) else "and its hosts need not be those of the plan"
            fix = f"write `hosts: {submit.scheduler or 'slurm'}` for those of it"
            yield ("submit", "nodes"), f"{job}, {others}; {fix}"
    if section.case_timeout > MOST_CASE_TIMEOUT_NS:
        what = f"case_timeout: a launch that hangs is waited for {duration_words(section.case_timeout)}"
        yield ("case_timeout",), f"{what}; write for example 1min, or leave it out"
    yield from _of_durations(submit.duration, total_s)


def _of_durations(duration_ns: int | None, total_s: float) -> Iterator[Doubt]:
    """Yield that a job is shorter than its run, or much longer."""
    if duration_ns is None:
        return
    place, what = ("submit", "duration"), f"submit: a duration of {duration_words(duration_ns)}"
    if duration_ns < total_s * 1e9:
        what += f" ends the job before the run, about {time_words(total_s)}"
        yield place, f"{what}; a number without a unit is in seconds: write 2h, or leave it out"
    elif duration_ns > MOST_RUNS_IN_A_JOB * max(total_s * 1e9, LEAST_RUN_NS):
        what += f" is more than {MOST_RUNS_IN_A_JOB} times what the run takes"
        yield place, f"{what}, and jobs that ask for less start sooner; leave it out"
