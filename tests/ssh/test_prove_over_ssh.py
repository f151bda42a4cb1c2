"""`fabriscope prove` where the hosts are reached over a real ssh."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ssh.cluster import Cluster, cluster
from tests.two_ranks import RANK

from fabriscope.lab.presets import PRESETS

PAYLOAD_BYTES = 5_000_000
# argv: the ssh, then one line of shell for each host. A stand-in for mpirun: it knows no more than where ranks run.
MPIRUN = """#!/usr/bin/env python3
import subprocess, sys
_, _, hosts, ssh, *lines = sys.argv
ranks = [subprocess.Popen([*ssh.split(), host, line]) for host, line in zip(hosts.split(","), lines)]
sys.exit(max(rank.wait() for rank in ranks))
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path, ("node1", "node2"), {"first": PRESETS["local"], "second": PRESETS["local"]}) as one:
        yield one


def prove(one: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    return one.fabriscope("prove", *words, env={**os.environ, "FABRISCOPE_SSH": one.ssh})


def test_the_hosts_that_the_command_names_are_watched(hosts: Cluster) -> None:
    mpirun = hosts.folder / "mpirun"
    mpirun.write_text(MPIRUN)
    mpirun.chmod(0o755)
    address = hosts.lab.host("node2").addresses["eth1"]
    program = ["python3", "-I", "-c", RANK]
    ranks = [f"PMI_RANK={rank} {shlex.join([*program, rank, address, str(PAYLOAD_BYTES)])}" for rank in ("0", "1")]
    job = ["--", str(mpirun), "-H", "node1,node2", hosts.ssh, *ranks]
    done = prove(hosts, "--expect", "eth1", "--json", "-", *job)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["hosts"] == ["node1", "node2"]
    sent = {one["host"]: one["sent_bytes"] for one in found["carriers"] if one["name"] == "eth1"}
    assert PAYLOAD_BYTES <= sent["node1"] < PAYLOAD_BYTES + 1000
    assert prove(hosts, "--expect", "eth0", *job).returncode == 3


def test_a_host_that_refuses_us_is_told_of_before_anything_runs(hosts: Cluster) -> None:
    done = prove(hosts, "--ssh", "ssh -F /dev/null", "--hosts", "node1", "--", "echo", "ran")
    assert done.returncode == 5
    assert done.stdout == ""
    assert done.stderr.startswith("fabriscope: host node1: ")
