"""Starting processes on the nodes of the Slurm job that we run in: `srun` makes a step of the job out of them.

What is executed is told by the job's environment alone. What a step started ends with the step: srun ends it when it is
asked to end, and Slurm when the job ends, whatever became of us.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabriscope.launch.ssh import Ssh
from fabriscope.model.errors import LaunchError
from fabriscope.model.mpi import MpiJob

MPI_PLUGINS = {
    "mpich": "pmi2", "intelmpi": "pmi2", "mvapich": "pmi2", "mvapich2": "pmi2", "openmpi4": "pmix", "openmpi5": "pmix",
}  # fmt: skip
"""MPI kind to the plugin of srun's (`--mpi`) through which its ranks find each other."""

_CPU_BIND = {"core": "cores", "socket": "sockets", "numa": "ldoms", "none": "none"}
_PROBE_TIMEOUT_S = 30.0
# sbatch and salloc leave these behind for srun, which takes them for wishes about every step: a job of one task a node
# would refuse steps of two. Others are a user's own defaults, which would garble what we read.
_WISHES = (
    "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET", "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_THREADS_PER_CORE", "SLURM_HINT", "SLURM_CPU_BIND",
    "SLURM_DISTRIBUTION", "SLURM_HOSTFILE", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_EXPORT_ENV", "SLURM_LABELIO",
    "SLURM_STDINMODE", "SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SLURM_MPI_TYPE",
)  # fmt: skip


@dataclass(frozen=True)
class Slurm(Ssh):
    """The Slurm job that we run in: reaches its nodes where there is no need for ssh, and starts MPI jobs."""

    environment: Mapping[str, str] = field(default_factory=dict)
    starters: Mapping[str, str] = field(default_factory=dict)
    """MPI kind to what starts its jobs: `srun`, or `mpirun` (the library's own)."""

    def to(self, host: str, *, is_first: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - each is its own
        """Return the words that run a line of shell on a node, beside whatever else runs there."""
        place = ("--nodelist", host, "--nodes", "1", "--ntasks", "1", "--overlap")
        alone = ("--cpu-bind", "none", "--mpi", "none")
        return (*self._unburdened(), "srun", "--quiet", "--export", "ALL", *place, *alone, "sh", "-c")

    def to_below(self, host: str) -> tuple[str, ...]:
        """Return the words that do so from another node."""
        return self.to(host)

    def mpirun_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Return an mpirun's words, which starts a step of its own accord, without what would disturb that."""
        return (*self._unburdened(), *argv)

    def mpi_argv(self, job: MpiJob, kind: str) -> tuple[str, ...]:
        """Return the step that is an MPI job of this kind, without any mpirun."""
        words = ["srun", "--quiet", "--export", "ALL", "--mpi", MPI_PLUGINS[kind], "--kill-on-bad-exit=1"]
        # `arbitrary` takes the node list as it is, a node for each rank; any other way would sort it.
        words += ["--nodelist", ",".join(job.rank_hosts), "--distribution", "arbitrary"]
        words += ["--nodes", str(len(set(job.rank_hosts))), "--ntasks", str(len(job.rank_hosts))]
        words += ["--overlap", "--overcommit"]
        words += _binding(job)
        return (*self._unburdened(), *words, *job.argv)

    def starts_by_srun(self, kind: str) -> bool:
        """Return whether jobs of this MPI kind are steps of their own."""
        return self.starters.get(kind) == "srun"

    def _unburdened(self) -> tuple[str, ...]:
        """Return the words that take away what the job's environment would wish of every step."""
        present = [name for name in _WISHES if name in self.environment]
        return ("env", *(word for name in present for word in ("-u", name))) if present else ()


def _binding(job: MpiJob) -> list[str]:
    """Return srun's words for how ranks are bound; a numa node is Slurm's `ldom`."""
    if isinstance(job.bind, tuple):
        return ["--cpu-bind", "map_cpu:" + ",".join(map(str, job.bind))]
    unit = job.bind or ("none" if job.shares_cores else None)
    return [] if unit is None else ["--cpu-bind", _CPU_BIND[unit]]


def here(environment: Mapping[str, str], launcher: str, kinds: Sequence[str]) -> Slurm:
    """Return the job that we run in, with what starts each MPI kind: as `launcher` (srun, mpirun or auto) says.

    `auto` takes srun for a kind if a step with its plugin starts: `srun --mpi=list` also names plugins that cannot be
    loaded. Raises LaunchError where srun is asked for and the plugin does not work.
    """
    plain = Slurm(environment=environment)
    starters = {}
    for kind in dict.fromkeys(kinds):
        problem = _problem(plain, MPI_PLUGINS.get(kind)) if launcher != "mpirun" else "it was not asked"
        if problem is not None and launcher == "srun":
            raise LaunchError(f"srun cannot start {kind}: {problem}", fix="write `launcher: mpirun`")
        starters[kind] = "srun" if problem is None else "mpirun"
    return Slurm(environment=environment, starters=starters)


def _problem(slurm: Slurm, plugin: str | None) -> str | None:
    """Return why srun cannot start MPI jobs with this plugin, None if it can."""
    if plugin is None:
        return "we know no plugin for it"
    words = ("srun", "--quiet", "--ntasks", "1", "--nodes", "1", "--overlap", "--mpi", plugin, "true")
    try:
        done = subprocess.run(
            slurm.mpirun_argv(words),
            env=dict(slurm.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines() or ["it says nothing"]
    return None if done.returncode == 0 else f"--mpi={plugin}: {said[0]}"
