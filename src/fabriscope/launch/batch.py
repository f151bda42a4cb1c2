"""Jobs for batch schedulers, through PSI/J: Slurm, PBS Pro, LSF, Flux, and this machine for trying it out.

What is asked for is plain data (`BatchJob`); PSI/J writes the script, hands it in and asks after it. Its launcher is
always `single`: the job runs one program on its first host, and that program starts the rest. (`multiple` put both
copies of a two-node job on one host and said COMPLETED; `mpirun` failed and said nothing.)
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from fabriscope.model.errors import LaunchError, ToolMissing, shown

PROGRAMS = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub", "flux": "flux"}
"""Scheduler to the program that takes jobs."""
POLL_S = 3
_FIRST_POLL_S = 1
_NAME_OPTIONS = {"slurm": "job-name", "pbs": "N", "lsf": "J"}
_ODD_IN_SCRIPT = re.compile(r"[^A-Za-z0-9@%+=:,./_-]")
_BLANK = re.compile(r"\s")
_ENDED_BY_TIME = ("time limit", "timelimit", "walltime", "runlimit", "run limit", "timeout")


@dataclass(frozen=True)
class BatchJob:
    """One program to run on hosts that a scheduler has yet to give."""

    argv: tuple[str, ...]
    folder: Path
    """Working folder, on a file system that the hosts share."""
    output: Path
    """Takes what the program prints, on both of its channels."""
    name: str
    node_count: int
    duration_s: int
    """Time limit, in seconds; PSI/J hands in whole minutes where the scheduler counts those."""
    cores_per_node: int | None = None
    queue: str | None = None
    account: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Further options of the scheduler: long names for Slurm and Flux, letters for PBS and LSF."""


@dataclass(frozen=True)
class JobStatus:
    """What the scheduler says of a job."""

    state: str
    """`queued`, `active`, `completed`, `failed`, `canceled`, or `new` while nothing is known."""
    message: str = ""
    exit_status: int | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether the job will not change any more."""
        return self.state in ("completed", "failed", "canceled")

    @property
    def is_out_of_time(self) -> bool:
        """Return whether the scheduler says that it ended the job at its time limit."""
        return any(words in self.message.lower() for words in _ENDED_BY_TIME)


class Submission:
    """A job in a scheduler's hands."""

    def __init__(self, executor: Any, job: Any) -> None:
        self._executor = executor  # its thread asks the scheduler for as long as it lives
        self._job = job

    @property
    def native_id(self) -> str:
        """Return what the scheduler calls the job."""
        return str(self._job.native_id)

    def status(self) -> JobStatus:
        """Return what is known now; the scheduler is asked every few seconds, in the background."""
        known = self._job.status
        lines = [line.strip() for line in (known.message or "").splitlines() if line.strip()]
        # PSI/J hands on the traceback of its own errors: its last line says what was wrong.
        message = lines[-1].rpartition("SubmitException: ")[2] if "Traceback" in " ".join(lines) else " ".join(lines)
        state = known.state.name.lower()
        if state == "queued":
            message = getattr(self._executor, "waits_for", "")
        return JobStatus(state, message, known.exit_code)


def installed_scheduler() -> str:
    """Return the scheduler whose programs are on this machine; raises ToolMissing."""
    for scheduler, program in PROGRAMS.items():
        if shutil.which(program):
            return scheduler
    names = ", ".join(PROGRAMS.values())
    raise ToolMissing(f"no batch scheduler is on this machine: none of {names} is on PATH", fix="go to a login node")


def submit(scheduler: str, job: BatchJob, work_folder: Path) -> Submission:
    """Hand a job in; PSI/J's files go into `work_folder`, which the hosts must share.

    Raises LaunchError with the scheduler's own words if it refuses, and ToolMissing.
    """
    psij = _psij()
    if scheduler in PROGRAMS and shutil.which(PROGRAMS[scheduler]) is None:
        raise ToolMissing(f"{PROGRAMS[scheduler]} is not on this machine", fix="go to a login node of the cluster")
    check_folders(scheduler, job.folder, work_folder)
    executor = _executor(scheduler, work_folder)
    handed_in = psij.Job(job_spec(job, scheduler))
    try:
        executor.submit(handed_in)
    except psij.SubmitException as error:
        said = " ".join(str(error).split()) or "it does not say why"
        raise LaunchError(
            f"{scheduler} refuses the job: {said}", fix="see the options of `fabriscope submit`"
        ) from error
    return Submission(executor, handed_in)


def check_folders(scheduler: str, folder: Path, work_folder: Path) -> None:
    """Raise LaunchError for folders whose names would be more than a word of PSI/J's scripts, which run them."""
    for path in (folder, work_folder) if scheduler in PROGRAMS else (work_folder,):
        wrong = (_ODD_IN_SCRIPT if scheduler in PROGRAMS else _BLANK).search(str(path))
        if wrong is not None:
            what = f"a job's script cannot name this folder, since {shown(wrong[0])} stands in its name"
            raise LaunchError(what, where=str(path), fix="use a folder with letters, digits and @%+=:,./_- in its name")


def attach(scheduler: str, native_id: str, work_folder: Path) -> Submission:
    """Return a job that was handed in before; raises ToolMissing or LaunchError."""
    psij = _psij()
    executor = _executor(scheduler, work_folder)
    job = psij.Job()
    try:
        executor.attach(job, native_id)
    except Exception as error:  # the local executor raises psutil's own for a process that has ended
        raise LaunchError(f"job {native_id} is not known any more: {error}", where=scheduler) from error
    return Submission(executor, job)


def first_word(submission: Submission, patience_s: float = 30.0) -> JobStatus:
    """Return what the scheduler says of a job that was just attached to, `new` if it says nothing for that long."""
    until_s = time.monotonic() + patience_s
    while (status := submission.status()).state == "new" and time.monotonic() < until_s:
        time.sleep(0.1)
    return status


def job_spec(job: BatchJob, scheduler: str) -> Any:
    """Return PSI/J's description of the job: whole hosts, for nobody else."""
    psij = _psij()
    # With one launcher for one program, "processes" are what the schedulers count cores by.
    resources = psij.ResourceSpecV1(
        node_count=job.node_count, processes_per_node=job.cores_per_node or 1, exclusive_node_use=True
    )
    # PSI/J's scripts forget the name.
    named = {_NAME_OPTIONS[scheduler]: job.name} if scheduler in _NAME_OPTIONS else {}
    custom = {f"{scheduler}.{key}": value for key, value in {**named, **job.attributes}.items()}
    attributes = psij.JobAttributes(
        duration=timedelta(seconds=job.duration_s),
        queue_name=job.queue,
        account=job.account,
        custom_attributes=custom,
    )
    return psij.JobSpec(
        # PSI/J opens the two files of a job's output one by one, and not where a folder's name has a blank.
        executable="/bin/sh",
        arguments=["-c", 'exec "$@" >"$0" 2>&1', str(job.output), *job.argv],
        directory=job.folder,
        name=job.name,
        resources=resources,
        attributes=attributes,
        launcher="single",
    )


def _executor(scheduler: str, work_folder: Path) -> Any:
    psij = _psij()
    if scheduler == "local":
        return psij.JobExecutor.get_instance("local")
    from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutorConfig

    config = BatchSchedulerExecutorConfig(
        work_directory=work_folder,
        queue_polling_interval=POLL_S,
        initial_queue_polling_delay=_FIRST_POLL_S,
        keep_files=True,
    )
    from fabriscope.launch._executors import EXECUTORS

    return EXECUTORS[scheduler](None, config)


def _psij() -> Any:
    try:
        import psij
    except ModuleNotFoundError as error:
        raise ToolMissing(
            "jobs are handed in through PSI/J, and the Python package psij-python is not installed",
            fix="pip install 'fabriscope[submit]'",
        ) from error
    return psij
