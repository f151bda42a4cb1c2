"""A plan that names programs runs only for whoever could have written it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fabriscope.model.errors import PlanError
from fabriscope.plan import Vocabulary, load, refuse_others

WORDS = Vocabulary(
    frozenset({"ping_pong", "hdfs_write", "hbase_get"}),
    frozenset({"engine"}),
    frozenset({"tcp", "mpi", "hdfs", "hbase"}),
    frozenset({"gige"}),
)
OF_SERVICES = {"hdfs": "{hdfs_write: {sizes: [64MiB]}}", "hbase": "{hbase_get: {sizes: [1000]}}"}
PROGRAMS = "name: x\nhosts: a,b\nfabrics: {g: {interface: eth0}}\nbenchmarks: {ping_pong: {sizes: [1]}}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize(
    "names",
    [
        "ssh: /there/ssh",
        "mpi: [{name: m, path: /there}]",
        "mpi: [{name: m, env: {A: b}}]",
        "services: {hdfs: {home: /there, replication: 1}}",
        "services: {hbase: {home: /there, replication: 1}}",
    ],
)
def test_a_plan_of_somebody_else_runs_nothing_that_it_names(
    names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.yaml"
    service = next((layer for layer in ("hdfs", "hbase") if layer in names), "")
    benchmarks = PROGRAMS if not service else PROGRAMS.replace("{ping_pong: {sizes: [1]}}", OF_SERVICES[service])
    path.write_text(f"{benchmarks}layers: [{service or ('mpi' if names.startswith('mpi') else 'tcp')}]\n{names}\n")
    plan = load(path, WORDS)
    refuse_others(plan)
    os.chown(path, 54321, 54321)
    with pytest.raises(PlanError, match=r"it belongs to user 54321, and names programs .* start with a copy"):
        refuse_others(plan)
    monkeypatch.setenv("SUDO_UID", "54321")
    refuse_others(plan)
    tmp_path.chmod(0o777)
    with pytest.raises(PlanError, match=f"everybody may write to {tmp_path}, and the plan names programs"):
        refuse_others(plan)
    path.write_text(PROGRAMS)
    refuse_others(load(path, WORDS))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_hosts_check_and_run_refuse_a_plan_of_somebody_else(tmp_path: Path) -> None:
    path, program = tmp_path / "plan.yaml", tmp_path / "ssh"
    program.write_text("#!/bin/sh\n: >$0.mark\n")
    program.chmod(0o755)
    path.write_text(f"{PROGRAMS}ssh: {program}\n")
    os.chown(path, 54321, 54321)
    env = {name: value for name, value in os.environ.items() if name != "SUDO_UID"}
    for words in (("hosts", "check", path), ("run", path, "-o", tmp_path / "run"), ("submit", path)):
        argv = [sys.executable, "-m", "fabriscope", *map(str, words)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env, cwd=tmp_path)
        assert (done.returncode, "belongs to user 54321" in done.stderr) == (2, True), done.stderr
    assert not [*tmp_path.glob("*.mark"), *tmp_path.glob("run*")]
