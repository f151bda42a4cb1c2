"""What each scheduler is handed, and what is made of its answers: their programs are stand-ins on PATH."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.launch import batch
from fabriscope.launch.batch import BatchJob, JobStatus, Submission
from fabriscope.model.errors import LaunchError, ToolMissing

# Keeps its words and the script; says what the file beside it says, and ends with the status in front of that.
STAND_IN = """#!/bin/sh
folder=$(dirname "$0"); name=$(basename "$0")
for last; do :; done
printf '%s\\n' "$@" > "$folder/$name.words"
case $last in *.job) cp "$last" "$folder/script" ;; esac
status=$(head -1 "$folder/$name.says"); tail -n +2 "$folder/$name.says"
exit $status
"""


class Programs:
    """Stand-ins in a folder of their own, first on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def say(self, name: str, words: str, status: int = 0) -> None:
        """Let a program say this from now on."""
        program = self.folder / name
        program.write_text(STAND_IN)
        program.chmod(0o755)
        (self.folder / f"{name}.says").write_text(f"{status}\n{words}")

    def words(self, name: str) -> list[str]:
        """Return the words that a program was started with last."""
        return (self.folder / f"{name}.words").read_text().splitlines()

    def script(self) -> str:
        """Return the script that was handed in, without its empty lines."""
        return "\n".join(line for line in (self.folder / "script").read_text().splitlines() if line)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.defpath}")
    monkeypatch.setattr(batch, "POLL_S", 1)
    monkeypatch.setattr(batch, "_FIRST_POLL_S", 0)
    return Programs(folder)


@pytest.fixture
def job(tmp_path: Path) -> BatchJob:
    return BatchJob(
        argv=("/v/bin/python", "-m", "fabriscope", "run", "/w/my plan.yaml"),
        folder=Path("/w"),
        output=Path("/w/run.job/output.txt"),
        name="fabrics",
        node_count=2,
        duration_s=5400,
        queue="short",
        account="physics",
    )


def last(submission: Submission) -> JobStatus:
    """Wait until the job has ended."""
    until_s = time.monotonic() + 30
    while not (status := submission.status()).has_ended:
        assert time.monotonic() < until_s, status
        time.sleep(0.05)
    return status


def has_lines(script: str, *lines: str) -> None:
    for line in lines:
        assert line in script.splitlines(), f"{line!r} is not in\n{script}"


def test_slurm(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    programs.say("sbatch", "Submitted batch job 4711\n")
    programs.say("squeue", "4711|PD|PartitionTimeLimit\n")
    submission = batch.submit("slurm", job, tmp_path)
    assert submission.native_id == "4711"
    reason = "The job's time limit exceeds its partition's current time limit."
    while submission.status() == JobStatus("queued"):  # until PSI/J has asked for the first time
        time.sleep(0.1)
    assert submission.status() == JobStatus("queued", reason)
    script = programs.script()
    has_lines(
        script,
        '#SBATCH --job-name="fabrics"', "#SBATCH --exclusive", "#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=1",
        "#SBATCH --time=1:30:0", '#SBATCH --partition="short"', '#SBATCH --account="physics"',
        "#SBATCH --export=ALL", '#SBATCH --chdir="/w"',
    )  # fmt: skip
    assert "single_launch.sh" in script
    assert (
        "'exec \"$@\" >\"$0\" 2>&1' /w/run.job/output.txt /v/bin/python -m fabriscope run '/w/my plan.yaml'" in script
    )
    programs.say("squeue", "4711|TO|TimeLimit\n")
    status = last(submission)
    assert status.state == "failed"
    assert status.is_out_of_time
    assert "--jobs\n4711" in "\n".join(programs.words("squeue"))


@pytest.mark.parametrize(
    ("said", "status", "expected"),
    [
        ("4711|CA|None\n", 0, JobStatus("canceled")),
        ("4711|NF|NodeFail\n", 0, JobStatus("failed", "NodeFail")),  # PSI/J knows no such reason
        ("slurm_load_jobs error: Invalid job id specified\n", 1, JobStatus("completed")),
        (
            "slurm_load_jobs error: Unable to contact slurm controller\n", 1,
            JobStatus(
                "failed",
                "the scheduler does not say how the job is:"
                " slurm_load_jobs error: Unable to contact slurm controller",
            ),
        ),
    ],
)  # fmt: skip
def test_ends_that_slurm_tells(
    programs: Programs, job: BatchJob, tmp_path: Path, said: str, status: int, expected: JobStatus
) -> None:
    programs.say("sbatch", "Submitted batch job 4711\n")
    programs.say("squeue", said, status)
    assert last(batch.submit("slurm", job, tmp_path)) == expected


def test_a_job_that_was_handed_in_before_is_asked_after(programs: Programs, tmp_path: Path) -> None:
    programs.say("squeue", "4711|CD|None\n")
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm" / "4711.ec").write_text("10\n")
    assert batch.first_word(batch.attach("slurm", "4711", tmp_path)) == JobStatus("failed", "", 10)


def test_pbs(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    queued = {"Jobs": {"12.server": {"job_state": "Q"}}}  # no comment yet, which PSI/J would trip over
    programs.say("qsub", "12.server\n")
    programs.say("qstat", json.dumps(queued))
    submission = batch.submit("pbs", job, tmp_path)
    script = programs.script()
    has_lines(
        script,
        '#PBS -N "fabrics"', "#PBS -l select=2:ncpus=1:mpiprocs=1", "#PBS -l place=scatter:exclhost",
        "#PBS -l walltime=1:30:0", "#PBS -q short", "#PBS -A physics", "#PBS -V", 'cd "/w"',
    )  # fmt: skip
    time.sleep(1.5)
    assert submission.status().state == "queued"
    comment = "Job run at Mon and failed: job killed: walltime 5400 exceeded limit"
    ended = {"Jobs": {"12.server": {"job_state": "F", "Exit_status": 271, "comment": comment}}}
    programs.say("qstat", json.dumps(ended))
    status = last(submission)
    assert (status.state, status.is_out_of_time) == ("failed", True)


def test_lsf(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    programs.say("bsub", "Job <77> is submitted to queue <short>.\n")
    reason = "TERM_RUNLIMIT: job killed after reaching LSF run time limit"
    record = {"JOBID": "77", "STAT": "EXIT", "EXIT_REASON": reason, "KILL_REASON": "", "SUSPEND_REASON": ""}
    programs.say("bjobs", json.dumps({"COMMAND": "bjobs", "JOBS": 1, "RECORDS": [record]}))
    submission = batch.submit("lsf", job, tmp_path)
    has_lines(
        programs.script(),
        '#BSUB -J "fabrics"', "#BSUB -nnodes 2", "#BSUB -n 2", "#BSUB -W 1:30", '#BSUB -q "short"',
        '#BSUB -P "physics"', "#BSUB -env all", '#BSUB -cwd "/w"',
    )  # fmt: skip
    status = last(submission)
    assert (status.state, status.message, status.is_out_of_time) == ("failed", reason, True)


def test_flux(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    programs.say("flux", "fABC\n")
    submission = batch.submit("flux", job, tmp_path)
    words = programs.words("flux")
    assert words[:6] == ["batch", "--nodes=2", "--exclusive", "--time-limit=5400s", "--cwd=/w", words[5]]
    assert words[6:9] == ["--job-name=fabrics", "--queue=short", "--bank=physics"]
    script = programs.script().splitlines()
    assert script[0] == "#!/bin/bash"
    assert script[1].endswith("/w/run.job/output.txt /v/bin/python -m fabriscope run '/w/my plan.yaml'")
    programs.say("flux", "fABC|TIMEOUT|timeout|resource allocation expired\n")
    status = last(submission)
    assert (submission.native_id, status.state, status.is_out_of_time) == ("fABC", "failed", True)


def test_attributes_of_each_scheduler(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    for name, says in (("sbatch", "job 1"), ("qsub", "1"), ("bsub", "Job <1>"), ("flux", "f1")):
        programs.say(name, says)
    for name in ("squeue", "qstat", "bjobs"):
        programs.say(name, "", 1)
    asked = {**vars(job), "cores_per_node": 8}
    batch.submit("slurm", BatchJob(**{**asked, "attributes": {"constraint": "ib"}}), tmp_path)
    has_lines(programs.script(), '#SBATCH --constraint="ib"', "#SBATCH --ntasks-per-node=8")
    batch.submit("pbs", BatchJob(**{**asked, "attributes": {"W": "umask=022"}}), tmp_path)
    has_lines(programs.script(), '#PBS -W "umask=022"', "#PBS -l select=2:ncpus=8:mpiprocs=8")
    batch.submit("lsf", BatchJob(**{**asked, "attributes": {"app": "hpc"}}), tmp_path)
    has_lines(programs.script(), '#BSUB -app "hpc"', "#BSUB -n 16")
    batch.submit("flux", BatchJob(**{**asked, "attributes": {"requires": "ib"}}), tmp_path)
    assert "--requires=ib" in programs.words("flux")


def test_a_refusal_is_the_schedulers_own_sentence(programs: Programs, job: BatchJob, tmp_path: Path) -> None:
    programs.say("sbatch", "sbatch: error: invalid partition specified: short\n", 1)
    with pytest.raises(LaunchError, match="slurm refuses the job: sbatch: error: invalid partition specified: short"):
        batch.submit("slurm", job, tmp_path)


def test_the_scheduler_is_found_by_its_programs(
    programs: Programs, job: BatchJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs.folder))  # this machine may have a scheduler of its own
    with pytest.raises(ToolMissing, match="none of sbatch, qsub, bsub, flux is on PATH"):
        batch.installed_scheduler()
    with pytest.raises(ToolMissing, match="bsub is not on this machine"):
        batch.submit("lsf", job, tmp_path)
    programs.say("qsub", "")
    assert batch.installed_scheduler() == "pbs"


def test_this_machine(job: BatchJob, tmp_path: Path) -> None:
    output = tmp_path / "a folder" / "output.txt"
    output.parent.mkdir()
    asked = {
        **vars(job),
        "argv": ("sh", "-c", "echo said; echo erred >&2; exit 10"),
        "output": output,
        "folder": tmp_path,
    }
    submission = batch.submit("local", BatchJob(**asked), tmp_path)
    status = last(submission)
    assert (status.state, status.exit_status) == ("failed", 10)
    assert output.read_text() == "said\nerred\n"


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "lsf", "flux"])
@pytest.mark.parametrize("name", ["$(touch hit)", "`id`", "a\nb", "a b", "a'b", 'a"b', "a;b", "{{x}}", "a\udcff"])
def test_no_script_names_a_folder_that_its_shell_would_run(
    programs: Programs, job: BatchJob, tmp_path: Path, scheduler: str, name: str
) -> None:
    programs.say(batch.PROGRAMS[scheduler], "1")
    for work, folder in ((tmp_path / name, job.folder), (tmp_path, tmp_path / name)):
        with pytest.raises(LaunchError, match="a job's script cannot name this folder"):
            batch.submit(scheduler, replace(job, folder=folder), work)
    assert not (programs.folder / "script").exists()
