"""PSI/J's executors, mended where they would take a living job for a dead one.

PSI/J 0.9 asks Slurm after every job of the user, and takes all of them for failed when one has a reason that it does
not know; it reads a field of LSF's answer that is never there, and one of PBS Pro's that a queued job may lack. Its
Flux executor starts one copy of the program for each process and forgets the working folder. Here each asks after its
own jobs, and Flux gets a batch script like the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

from psij import Job, JobState, JobStatus, SubmitException
from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutor
from psij.executors.batch.lsf import LsfJobExecutor
from psij.executors.batch.pbs import PBSJobExecutor
from psij.executors.batch.slurm import SlurmJobExecutor

from fabriscope.model.foreign import Foreign

_QUEUED, _ACTIVE, _FAILED = JobState.QUEUED, JobState.ACTIVE, JobState.FAILED


def _cannot_tell(out: str) -> SubmitException:
    return SubmitException(f"the scheduler does not say how the job is: {' '.join(out.split())}")


class Slurm(SlurmJobExecutor):
    """Slurm, asked after our own jobs by `squeue`."""

    _NAME_ = "slurm"
    waits_for = ""
    """Why the job that was last asked after is not running; PSI/J drops it from the status of a queued job."""

    def get_status_command(self, native_ids: Collection[str]) -> list[str]:
        """Return the words that ask after jobs, ended ones too: Slurm knows those for MinJobAge, 300 s by default."""
        ids = ",".join(native_ids)
        return ["squeue", "--noheader", "--states", "all", "--format", "%i|%t|%r", "--jobs", ids]

    def parse_status_output(self, exit_code: int, out: str) -> dict[str, JobStatus]:
        """Return job id to status; a job that Slurm has forgotten is left out."""
        if exit_code != 0 and "Invalid job id" not in out:
            raise _cannot_tell(out)
        found = {}
        for line in out.splitlines() if exit_code == 0 else ():
            native_id, state, reason = line.strip().split("|", 2)
            known = self._STATE_MAP.get(state, _ACTIVE)
            said = self._REASONS_MAP.get(reason, reason)
            found[native_id] = JobStatus(known, message=said if known is _FAILED else None)
            self.waits_for = said if known is _QUEUED and reason != "None" else ""
        return found


class Pbs(PBSJobExecutor):
    """PBS Pro, by `qstat`."""

    _NAME_ = "pbs"

    def parse_status_output(self, exit_code: int, out: str) -> dict[str, JobStatus]:
        """Return job id to status."""
        if exit_code != 0:
            raise _cannot_tell(out)
        jobs = Foreign.json(out, "qstat").get("Jobs")
        return {key: self._status(job.mapping()) for key, job in (jobs.members() if jobs else ())}

    def _status(self, job: Mapping[str, Any]) -> JobStatus:
        state, exit_status = self._get_state(job["job_state"]), job.get("Exit_status", 0)
        if state is JobState.COMPLETED and exit_status != 0:
            # PBS Pro adds 256 to the signal that ended the job; qdel sends SIGTERM, then SIGKILL.
            state = JobState.CANCELED if exit_status in (265, 271) and not _is_late(job) else _FAILED
        return JobStatus(state, message=job.get("comment"))


def _is_late(job: Mapping[str, Any]) -> bool:
    return "walltime" in job.get("comment", "")


class Lsf(LsfJobExecutor):
    """LSF, by `bjobs`."""

    _NAME_ = "lsf"

    def parse_status_output(self, exit_code: int, out: str) -> dict[str, JobStatus]:
        """Return job id to status; a reason is like `TERM_RUNLIMIT: job killed after reaching LSF run time limit`."""
        if exit_code != 0:
            raise _cannot_tell(out)
        found = {}
        for entry in (one.mapping() for one in Foreign.json(out, "bjobs").at("RECORDS").items()):
            if "ERROR" not in entry:
                reasons = (entry.get(name) for name in ("EXIT_REASON", "KILL_REASON", "SUSPEND_REASON"))
                state = self._STATE_MAP.get(entry["STAT"], _ACTIVE)
                found[entry["JOBID"]] = JobStatus(state, message=next(filter(None, reasons), None))
        return found


class Flux(BatchSchedulerExecutor):
    """Flux, by `flux batch` and `flux jobs`."""

    _NAME_ = "flux"
    # flux-jobs(1), "JOB STATUS"
    _STATES = {  # noqa: RUF012 - as PSI/J's own
        "DEPEND": _QUEUED, "PRIORITY": _QUEUED, "SCHED": _QUEUED, "RUN": _ACTIVE, "CLEANUP": _ACTIVE,
        "COMPLETED": JobState.COMPLETED, "FAILED": _FAILED, "CANCELED": JobState.CANCELED, "TIMEOUT": _FAILED,
    }  # fmt: skip

    def generate_submit_script(self, job: Job, context: dict[str, object], submit_file: IO[str]) -> None:  # noqa: ARG002 - PSI/J's
        """Write the script; what to ask for stands on the command line."""
        words = context["psij"]["launch_command"]  # type: ignore[index]
        submit_file.write(f"#!/bin/bash\nexec {shlex.join(map(str, words))}\n")

    def get_submit_command(self, job: Job, submit_file_path: Path) -> list[str]:
        """Return `flux batch` with everything that the job asks for."""
        spec: Any = job.spec
        resources, attributes = spec.resources, spec.attributes
        words = ["flux", "batch", f"--nodes={resources.computed_node_count}", "--exclusive"]
        words += [f"--time-limit={int(attributes.duration.total_seconds())}s", f"--cwd={spec.directory}"]
        words += [f"--output={self.work_directory}/{job.id}.out"]
        named = {"job-name": spec.name, "queue": attributes.queue_name, "bank": attributes.account}
        named |= {key.removeprefix("flux."): value for key, value in (attributes.custom_attributes or {}).items()}
        words += [f"--{name}={value}" for name, value in named.items() if value is not None]
        return [*words, str(submit_file_path.absolute())]

    def job_id_from_submit_output(self, out: str) -> str:
        """Return the id that `flux batch` prints."""
        return out.strip().split()[-1]

    def get_cancel_command(self, native_id: str) -> list[str]:
        """Return the words that cancel a job."""
        return ["flux", "cancel", native_id]

    def process_cancel_command_output(self, exit_code: int, out: str) -> None:  # noqa: ARG002 - PSI/J's
        """Raise what Flux said."""
        raise SubmitException(out)

    def get_status_command(self, native_ids: Collection[str]) -> list[str]:
        """Return the words that ask after jobs."""
        return ["flux", "jobs", "--no-header", "--format={id}|{status}|{exception.type}|{exception.note}", *native_ids]

    def parse_status_output(self, exit_code: int, out: str) -> dict[str, JobStatus]:
        """Return job id to status."""
        if exit_code != 0:
            raise _cannot_tell(out)
        found = {}
        for line in out.splitlines():
            native_id, status, kind, note = line.strip().split("|", 3)
            said = f"{kind}: {note}" if kind or note else None
            found[native_id] = JobStatus(self._STATES.get(status, _ACTIVE), message=said)
        return found

    def get_list_command(self) -> list[str]:
        """Return the words that list the user's jobs."""
        return ["flux", "jobs", "--no-header", "--format={id}"]


EXECUTORS = {"slurm": Slurm, "pbs": Pbs, "lsf": Lsf, "flux": Flux}
