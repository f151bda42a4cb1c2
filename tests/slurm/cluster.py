"""A real Slurm out of one machine: munged, slurmctld and a slurmd on every host of a lab.

Ports and names live in the lab's own namespaces, and every file in one folder: clusters can stand side by side. The
daemons end with the lab, whatever ends that.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests import forked

from fabriscope import lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

HOSTS = ("n1", "n2", "n3")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
TIMEOUT_S = 280.0
_READY_TIMEOUT_S = 60.0

_SLURM_CONF = """
ClusterName=test
SlurmctldHost=n1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=none
NodeName=n[1-3] CPUs=4 State=UNKNOWN
PartitionName=lab Nodes=n[1-3] Default=YES MaxTime=60 State=UP
"""
_CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"
_MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\n"


class Cluster:
    """A Slurm that stands, and what is done on its first node."""

    def __init__(self, folder: Path) -> None:
        """Start it and wait until every node is idle."""
        self.folder = folder
        self._mark = ("FABRISCOPE_TEST_MARK", secrets.token_hex(16))
        self._lab = lab.up(LabSpec(HOSTS, {"net": PRESETS["local"]}))
        self._daemons: list[subprocess.Popen[bytes]] = []
        try:
            self._configure()
            self._start()
        except BaseException:
            self.stop()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """Return what a program on a node needs to find this Slurm, and a mark of this cluster."""
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), self._mark[0]: self._mark[1]}

    def argv(self, *words: str | Path, host: str = "n1") -> list[str]:
        """Return the words that run a command on a node."""
        return [*self._lab.host(host).access, *map(str, words)]

    def address(self, host: str, interface: str) -> str:
        """Return the address of a node."""
        return self._lab.host(host).addresses[interface]

    def run(self, *words: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command on the first node to its end."""
        return subprocess.run(
            self.argv(*words),
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def fabriscope(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run fabriscope on the first node to its end."""
        return forked.fabriscope(words, self.environment, TIMEOUT_S, inside=forked.process_of("n1", self._lab))

    @staticmethod
    def own_words(*words: str | Path) -> tuple[str, ...]:
        """Return the words that start fabriscope as it is under test."""
        return (sys.executable, "-m", "fabriscope", *map(str, words))

    def processes(self) -> list[str]:
        """Return the command line of everything that carries the mark of this cluster."""
        mark = "=".join(self._mark).encode()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (path / "environ").read_bytes():
                    found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def engines(self) -> list[str]:
        """Return what measures on the nodes, and what guards it."""
        return [line for line in self.processes() if "fabriscope-engine" in line or "exec(eval(T))" in line]

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start a command on the first node, in a process group of its own."""
        return subprocess.Popen(
            self.argv(*words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def steps(self) -> list[str]:
        """Return the ids of the job steps that are under way, a batch job's own script not among them."""
        done = self.run("squeue", "--steps", "--noheader", "--format", "%i")
        assert done.returncode == 0, done.stderr
        return [step for step in done.stdout.split() if not step.endswith((".batch", ".extern"))]

    def wait_for(self, what: str, seconds: float, *words: str) -> str:
        """Run a command until it prints something with `what` in it; returns that."""
        deadline = time.monotonic() + seconds
        while what not in (said := self.run(*words).stdout):
            assert time.monotonic() < deadline, f"{words}: {said}\n{self.logs()}"
            time.sleep(0.1)
        return said

    def logs(self) -> str:
        """Return the last lines of every log."""
        tails = []
        for path in sorted(self.folder.glob("*.log")):
            tails += [f"== {path.name}", *path.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(tails)

    def stop(self) -> None:
        """End everything: the daemons and their jobs go with the lab."""
        self._lab.down()
        for daemon in self._daemons:
            daemon.wait(timeout=TIMEOUT_S)

    def _configure(self) -> None:
        for name in ("state", *(f"spool-{host}" for host in HOSTS)):
            (self.folder / name).mkdir()
        (self.folder / "slurm.conf").write_text(_SLURM_CONF.format(folder=self.folder))
        (self.folder / "cgroup.conf").write_text(_CGROUP_CONF)
        (self.folder / "mpi.conf").write_text(_MPI_CONF)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o400)

    def _start(self) -> None:
        folder = self.folder
        munge = [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file")]
        munge += [f"--key-file={folder}/munge.key", f"--seed-file={folder}/munge.seed"]
        self._daemon("n1", "munged", "--foreground", "--force", *munge)
        self._daemon("n1", "slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        for host in HOSTS:
            self._daemon(host, "slurmd", "-D", "-f", f"{folder}/slurm.conf")
        self.wait_for("3 idle", _READY_TIMEOUT_S, "sinfo", "--noheader", "--format", "%D %t")

    def _daemon(self, host: str, *words: str) -> None:
        with (self.folder / f"{words[0]}-{host}-said.log").open("wb") as log:
            self._daemons.append(
                subprocess.Popen(
                    self.argv(*words, host=host),
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
