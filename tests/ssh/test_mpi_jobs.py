"""A small MPI program over ssh, with every MPI that is found: each rank finds its own interface and has the
library's variables, and nothing stays, nor does what the library has in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs
from tests.ssh.cluster import HEAD, Cluster, cluster
from tests.ssh.test_ssh import wait_until_clean

from fabriscope.lab.presets import PRESETS
from fabriscope.model.mpi import MpiStack

# Passes 20 MB each way, says who it is, and ends as it is told: well, by a crash, or not at all.
PROGRAM = """
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static char data[1000000];
  char node[256], line[64] = "-";
  gethostname(node, sizeof node);
  for (int i = 0; i < 20; i++) {
    if (rank == 0) MPI_Send(data, sizeof data, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, sizeof data, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, sizeof data, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 0 && fgets(line, sizeof line, stdin)) line[strcspn(line, "\\n")] = 0;
  const char* site = getenv("SITE_MPI");
  printf("%d %s %s %s %s\\n", rank, node, getenv("FI_TCP_IFACE"), site ? site : "without", line);
  fflush(stdout);
  if (!strcmp(words[1], "crash") && rank == 1) abort();
  while (!strcmp(words[1], "hang")) pause();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("all said"), fflush(stdout);
  MPI_Finalize();
}
"""
# argv: mpirun, program, how it ends, seconds, ssh.
DRIVER = """
import sys
from dataclasses import replace
from fabriscope.running import fleet, real_site
from fabriscope.hosts import mpi
from fabriscope.launch import mpi_jobs, processes
from fabriscope.launch.ssh import Ssh
from fabriscope.model.command import Command
from fabriscope.model.fabric import Fabric
mpirun, program, how, seconds, *ssh = sys.argv[1:]
names = ("node1", "node2")
with fleet.connected(Ssh(tuple(ssh), tuple(ssh))) as opened:
    wrapper = fleet.Program(real_site._MPI_SSH)
    opened.look(names, programs=[wrapper])
    opened.check()
    shell = opened.place(wrapper, is_needed_here=False)
    hosts = {name: opened.host(name) for name in names}
    fabric = Fabric("own", {"node1": "eth0", "node2": "ens3"})
    command = Command((program, how), "node1", rank_hosts=names, stdin=b"first line\\n", last_line="^all said$")
    stack = mpi.find("tried", mpirun)
    stack = replace(stack, env={**stack.env, "SITE_MPI": "module's"})  # as loading a module would set it
    command = mpi_jobs.wrap(command, stack, hosts, fabric, shell)
    (outcome,) = processes.run_commands([command], hosts, timeout_s=float(seconds))
print(outcome.exit_status, outcome.timed_out)
print(outcome.stdout.decode())
print(outcome.stderr.decode(), file=sys.stderr)
"""
HUNG_IN_FINALIZE = "None False"
ATTEMPTS = {"mpich-4.0.2": 5}
"""Of libraries whose MPI_Finalize sometimes does not return (docs/faults.md)."""
RANKS = {"0 node1 eth0 module's first line", "1 node2 ens3 module's -"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path, ("node1", "node2"), {"own": PRESETS["local"]}) as one:
        renamed = one.on("node2", "sh", "-c", "ip link set eth0 down name ens3; ip link set ens3 up")
        assert renamed.returncode == 0, renamed.stderr
        yield one


def _stacks() -> list[MpiStack]:
    return [stack for stack in needs.stacks() if stack.mpicxx]


def _compiled(place: Cluster, stack: MpiStack) -> Path:
    source, program = place.folder / "program.cc", place.folder / f"program-{stack.name}"
    source.write_text(PROGRAM)
    argv = [str(stack.mpicxx), str(source), "-o", str(program)]
    env = {**os.environ, **stack.env}
    compiled = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert compiled.returncode == 0, compiled.stderr
    return program


def _carried(place: Cluster) -> int:
    """Return the bytes that came over the fabric to the second host."""
    return int(place.on("node2", "cat", "/sys/class/net/ens3/statistics/rx_bytes").stdout)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", ["well", "crash", "hang"])
def test_a_job_of_every_mpi(place: Cluster, how: str) -> None:
    needs.mpi_library()
    for stack in _stacks():
        program = _compiled(place, stack)
        before = _carried(place)
        words = (stack.mpirun, str(program), how, "20" if how == "hang" else "100")
        for _ in range(ATTEMPTS.get(stack.name, 1)):
            done = place.on(HEAD, sys.executable, "-c", DRIVER, *words, *place.ssh.split())
            ending = done.stdout.partition("\n")[0]
            if ending != HUNG_IN_FINALIZE:
                break
            wait_until_clean(place)
        seen = RANKS & {"1 node2 ens3 module's -"} if how == "crash" else RANKS  # rank 0 may not come to speak
        # Ranks speak at once: a line of one may follow another's in the same line.
        assert all(line in done.stdout for line in seen), (stack.name, done.stdout, done.stderr)
        if how == "crash":
            assert ending not in ("0 False", "None True"), (stack.name, done.stderr)
        else:
            assert ending == {"well": "0 False", "hang": "None True"}[how], (stack.name, done.stderr)
        assert _carried(place) - before > 20_000_000, stack.name
        wait_until_clean(place)
        wait_until_empty(place.temporary)


def test_what_a_killed_library_has_on_a_host_goes(place: Cluster) -> None:
    stack = next((stack for stack in _stacks() if stack.kind.startswith("openmpi")), None)
    if stack is None:
        pytest.skip(needs.NO_MPI)
    program = _compiled(place, stack)
    words = (stack.mpirun, str(program), "hang", "100")
    argv = place.argv(HEAD, sys.executable, "-c", DRIVER, *words, *place.ssh.split())
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        deadline = time.monotonic() + 100
        while not (killed := _of_the_job(place, program)):
            assert job.poll() is None, job.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        session = [path for path in place.temporary.rglob("*") if "ompi" in path.name or "prte" in path.name]
        for pid in killed:  # at once, so that nothing can clean up
            with contextlib.suppress(ProcessLookupError):  # it has ended with the one before
                os.kill(pid, signal.SIGKILL)
        job.communicate(timeout=100)
    assert session, "the library had nothing there"
    wait_until_clean(place)
    wait_until_empty(place.temporary)


def _of_the_job(place: Cluster, program: Path) -> list[int]:
    """Return what the library and the job run on the second host, once a rank is there."""
    network = place.on("node2", "readlink", "/proc/self/ns/net").stdout.strip()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str((folder / "ns" / "net").readlink()) == network:
                found[int(folder.name)] = (folder / "cmdline").read_bytes()
    if not any(words.startswith(bytes(program)) for words in found.values()):
        return []
    return [
        pid
        for pid, words in found.items()
        if words.startswith(bytes(program)) or b"orted" in words or b"prted" in words
    ]


def wait_until_empty(folder: Path) -> None:
    """Wait until hosts have no temporary file: a library's session goes with the folder that it was given."""
    deadline = time.monotonic() + 60
    while left := sorted(folder.rglob("*")):
        assert time.monotonic() < deadline, left
        time.sleep(0.2)
