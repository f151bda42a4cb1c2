"""What a plan says of the place in which it runs (ssh, the batch job), and of the paper that it re-runs there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriscope.plan.names import COMPANION_PATTERN, SchedulerKey, SchedulerWord, Words
from fabriscope.plan.section import Section
from fabriscope.plan.strict import JobDuration
from fabriscope.plan.values import MAX_CORES

Selection = dict[str, str | int | float | bool | list[str | int] | None]
"""Attributes of cases to what they must be (analysis/papers/selections.py); one of a list will do."""


class StandInSection(Section):
    """What stands here for one of a paper's names."""

    says: str = Field("", description="what it is, in words, for the report")
    select: Selection = Field(description="attributes of the cases that stand for it, for example `fabric: gige`")
    otherwise: StandInSection | None = Field(
        None, description="what stands for it where nothing of that was measured: `says` and `select` again"
    )

    def choices(self) -> list[StandInSection]:
        """Return it and what stands in its place, in the order in which they are tried."""
        return [self, *(self.otherwise.choices() if self.otherwise is not None else ())]


class PaperUseSection(Section):
    """The paper that a plan re-runs; docs/papers.md."""

    file: str = Field(description="file of the paper's data, beside the plan", pattern=COMPANION_PATTERN)
    here: dict[str, StandInSection] = Field({}, description="the paper's names to what stands for them here")
    setup: dict[str, str] = Field({}, description="what the report tells of this set-up beside the paper's")


class SshSection(Section):
    """How hosts other than this machine are reached; the user's ssh configuration says the rest."""

    command: Words = Field("ssh", description="from this machine; $FABRISCOPE_SSH wins", min_length=1)
    between_hosts: Words = Field(
        "ssh", description="from host to host, for MPI's launchers and for relays", min_length=1
    )


def ssh_words(value: Any) -> Any:
    return {"command": value} if isinstance(value, str) else value


class SubmitSection(Section):
    """The job that `fabriscope submit` asks a batch scheduler for; options of the command win."""

    scheduler: Literal["slurm", "pbs", "lsf", "flux", "local"] | None = Field(
        None, description="absent: the one whose programs are on PATH; local runs the job on this machine"
    )
    nodes: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="hosts to ask for; 1 unless the plan's hosts are those of the job"
    )
    cores_per_node: Annotated[int, Field(ge=1, le=MAX_CORES)] | None = Field(
        None, description="cores to ask for on each host, where asking for the whole host is not enough (PBS)"
    )
    queue: SchedulerWord | None = Field(None, description="queue or partition")
    account: SchedulerWord | None = Field(None, description="whom the job is charged to")
    duration: JobDuration | None = Field(
        None, description="the job's time limit; absent: twice the expected time and ten minutes"
    )
    attributes: dict[SchedulerKey, SchedulerWord] = Field(
        {}, description="further options of the scheduler: {constraint: ib} becomes --constraint=ib"
    )
