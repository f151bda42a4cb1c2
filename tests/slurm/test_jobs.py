"""Runs inside a real Slurm, and jobs that are handed to it."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import needs
from tests.slurm.cluster import Cluster

from fabriscope import engine_binary
from fabriscope.cli import _submission
from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.launch.batch import JobStatus
from fabriscope.model.errors import LaunchError, StoreError

EXAMPLE = Path(__file__).parents[2] / "examples" / "slurm.yaml"
PLAN = """
name: inside
hosts: slurm
fabrics: {net: {interface: eth0}}
layers: [tcp]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
floor: false
launches: 3
budget: 600ms
submit: {nodes: 2}
"""
LONG = PLAN.replace("launches: 3", "launches: 40").replace("600ms", "40s")


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def journal(run: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    except FileNotFoundError:
        return []


def words(record: dict[str, Any]) -> list[str]:
    return [" ".join(command["argv"]) for command in record["commands"]]


def until(what: object, seconds: float = 60) -> None:
    """Wait until a function returns something that is true."""
    assert callable(what)
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


@pytest.mark.timeout(900)  # the engine may have to be compiled first
@pytest.mark.parametrize(("launcher", "first_word"), [("srun", "srun --quiet"), ("mpirun", "mpi")])
def test_a_plan_runs_on_the_hosts_of_the_job(cluster: Cluster, tmp_path: Path, launcher: str, first_word: str) -> None:
    stack = needs.mpi_library("mpich")  # its plugin pmi2 is part of every Slurm
    engine_binary.build_mpi_engine(stack)  # takes long the first time
    text = PLAN.replace("[tcp]", "[tcp, mpi]").replace("launches: 3", "launches: 1")
    text += f"placements: [inter, intra]\nmpi: [{{name: mpich, path: {stack.mpirun}}}]\nlauncher: {launcher}\n"
    text += "turns: auto\n"
    plan, run = write(tmp_path / "plan.yaml", text), tmp_path / "run"
    # Two nodes that do not begin with the one we are on, and a task count that would be in the way of two ranks.
    done = cluster.run(
        "salloc", "--nodelist", "n[2-3]", "--ntasks-per-node", "1", *cluster.own_words("run", plan, "-o", run)
    )
    assert done.returncode == 0, done.stderr
    records = journal(run)
    assert [record["status"] for record in records] == ["ok"] * 4
    assert len({record["details"]["turn_group"] for record in records}) == 1
    assert all(record["details"]["turns"]["turns"] for record in records)
    assert {command["host"] for record in records for command in record["commands"]} == {"n2", "n3", "localhost"}
    by_mpi = [line for record in records if "mpi" in record["entry_id"] for line in words(record)]
    assert len(by_mpi) == 2
    for line in by_mpi:
        assert first_word in line.split(" -hosts ")[0]
        assert "-u SLURM_NTASKS_PER_NODE" in line


SCRIPT = '"$@" & echo $! > "$0"; wait $!; exec sleep 600'


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_stays_behind_though_the_job_goes_on(cluster: Cluster, tmp_path: Path, number: signal.Signals) -> None:
    plan, pid = write(tmp_path / "plan.yaml", LONG), tmp_path / "pid"
    words = cluster.own_words("run", plan, "-o", tmp_path / "run")
    job = cluster.start("salloc", "--kill-command=KILL", "--nodelist", "n[2-3]", "sh", "-c", SCRIPT, str(pid), *words)
    try:
        until(lambda: len(cluster.steps()) >= 2 and journal(tmp_path / "run"))
        assert cluster.engines()
        cluster.run("kill", f"-{number.value}", pid.read_text().strip())
        # A step whose srun was killed before it could say what to run waits as long for that as a host does for us.
        until(lambda: not cluster.steps() and not cluster.engines(), PATIENCE_S + 60)
        assert "RUNNING" in cluster.run("squeue", "--noheader", "--format", "%T").stdout
    finally:
        cluster.run("scancel", "--user", "root")
        job.communicate(timeout=60)


def test_outside_of_a_job_the_plan_has_no_hosts(cluster: Cluster, tmp_path: Path) -> None:
    done = cluster.fabriscope("run", write(tmp_path / "plan.yaml", PLAN), "-o", tmp_path / "run")
    assert done.returncode == 5
    assert "the plan runs on the hosts of a batch job, and we are in none" in done.stderr


def test_a_submitted_plan_ends_with_a_run_folder_and_a_report(cluster: Cluster, tmp_path: Path) -> None:
    example = yaml.safe_load(EXAMPLE.read_text())
    shortened = {"fabrics": {"net": {"interface": "eth0"}}, "layers": ["tcp"], "launches": 3, "budget": "600ms"}
    example.pop("mpi")
    example["benchmarks"] = {"ping_pong": {"sizes": [1]}}
    plan, run = (
        write(tmp_path / "plan.yaml", yaml.safe_dump({**example, **shortened, "floor": False})),
        tmp_path / "run",
    )
    done = cluster.fabriscope("submit", plan, "-o", run, "--wait")
    assert done.returncode == 0, done.stderr
    assert "launch 3 of 3: net · TCP, inter" in done.stdout
    assert [record["status"] for record in journal(run)] == ["ok"] * 3
    again = cluster.fabriscope("submit", "--status", run)
    assert (again.returncode, again.stdout.startswith("3 of 3 launches in")) == (0, True), again.stderr
    reported = cluster.fabriscope("report", run)
    assert reported.returncode == 0, reported.stderr
    assert (run / "report" / "report.html").exists()


def test_a_cancelled_job_is_gone_on_with_in_another_one(cluster: Cluster, tmp_path: Path) -> None:
    plan, run = (
        write(tmp_path / "plan.yaml", LONG.replace("launches: 40", "launches: 8").replace("40s", "5s")),
        tmp_path / "run",
    )
    job = cluster.start(*cluster.own_words("submit", plan, "-o", run, "--wait", "--attribute", "nodelist=n2,n3"))
    until(lambda: len(journal(run)) >= 2)
    record = _submission.recall(run)
    cluster.run("scancel", record.native_id)
    _, said = job.communicate(timeout=60)
    assert job.returncode == 6
    count = len(journal(run))
    assert f"job {record.native_id} was cancelled after {count} of 8 launches" in said
    assert f"`fabriscope submit --resume {run}` goes on" in said
    with pytest.raises(LaunchError, match=rf"ended by its time limit of 0:1\d:00 after {count} of 8 launches"):
        _submission.conclude(record, JobStatus("failed", "The job exhausted its time limit."))
    resumed = cluster.fabriscope("submit", "--resume", run, "--wait")  # and asks for n2 and n3 again
    assert resumed.returncode == 0, resumed.stderr
    assert [one["launch_id"] for one in journal(run)] == list(range(1, 9))
    assert {command["host"] for one in journal(run) for command in one["commands"]} == {"n2", "n3"}


def test_a_refusal_is_one_sentence(cluster: Cluster, tmp_path: Path) -> None:
    plan, run = write(tmp_path / "plan.yaml", PLAN), tmp_path / "run"
    done = cluster.fabriscope("submit", plan, "-o", run, "--queue", "nosuch")
    assert done.returncode == 6
    assert "slurm refuses the job: sbatch: error: invalid partition specified: nosuch" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(StoreError, match="no job was submitted for this run"):
        _submission.recall(run)


def test_two_stand_side_by_side_and_leave_nothing(cluster: Cluster, tmp_path: Path) -> None:
    other = Cluster(tmp_path)
    try:
        assert other.run("srun", "-N", "3", "hostname").returncode == 0
        told = other.run("sinfo", "--noheader", "--format", "%D").stdout  # a line for each state that some are in
        assert sum(map(int, told.split())) == 3
        assert other.processes()
    finally:
        other.stop()
    assert other.processes() == []
    assert cluster.run("srun", "-N", "1", "true").returncode == 0
