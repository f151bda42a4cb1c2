"""The launcher of Open MPI; openmpi4.py and openmpi5.py say in which names the two differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabriscope.launch import _rdma
from fabriscope.launch.mpi_jobs import check, layout, processors_of, unit_of
from fabriscope.model.fabric import RDMA_TRANSPORTS
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.model.ranks import CYCLIC, Layout

# mpirun refuses to work for root unless both are set; containers and labs often have nobody else.
ROOT_ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


_PARAMETER = "OMPI_MCA_"
"""A variable that begins so sets the parameter that is called as the rest of it."""


@dataclass(frozen=True)
class OpenMpi:
    """`mpirun` of one major version: the names in which 4 and 5 differ."""

    name: str
    remote_shell: str
    """The parameter that names the program which starts others on hosts."""
    out_of_band_option: str
    """The option before parameters of what starts the ranks."""
    shared_memory: str
    """The btl of one host."""
    socket: str
    """How `--bind-to` calls a socket."""
    one_sided: Mapping[str, str]
    """Transport to the osc components that may be used."""
    keeps_env = True  # Hydra hands all variables on; of ours ORTE and PRRTE hand on what is asked for, and OMPI_*

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        check(job)
        hosts, ranks = layout(job.rank_hosts)
        words = [stack.mpirun]
        if job.transport != "shm":
            if job.remote_shell:
                words += mca(self.remote_shell, job.remote_shell)
            if job.management_interface:
                words += [self.out_of_band_option, "oob_tcp_if_include", job.management_interface]
        if job.transport != "shm" or job.in_slurm:
            # Inside a Slurm job a host has as many slots as tasks were asked for, and its name must be the job's.
            beyond_slots = ":OVERSUBSCRIBE" if job.in_slurm else ""
            words += ["-H", ",".join(f"{host}:{ranks.ranks_per_host}" for host in hosts)]
            words += ["-np", str(ranks.rank_count), "--map-by", _mapping(ranks) + beyond_slots]
        else:
            # The name that a plan gives the host need not be its own: localhost always is.
            words += ["-H", f"localhost:{len(job.rank_hosts)}", "-np", str(len(job.rank_hosts))]
            # Where there is no ssh, Open MPI 5 (seen with 5.0.11) takes the cores for the slots, whatever -H says.
            words += ["--map-by", "slot:OVERSUBSCRIBE"] if job.shares_cores else []
        words += self._binding(job)
        words += [word for name, value in self._parameters(job).items() for word in mca(name, value)]
        return (*words, *_exports({**_port(job), **job.env}), *_own_processor(job), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return what forces the transport, for a start without mpirun: Open MPI reads it from the environment."""
        return {**{f"{_PARAMETER}{name}": value for name, value in self._parameters(job).items()}, **_port(job)}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return the permission to run as root."""
        return dict(ROOT_ALLOWED)

    def _binding(self, job: MpiJob) -> list[str]:
        """Return the words that bind ranks; those with processors of their own bind themselves."""
        unit = "none" if processors_of(job) else unit_of(job)
        return [] if unit is None else ["--bind-to", self.socket if unit == "socket" else unit]

    def _parameters(self, job: MpiJob) -> dict[str, str]:
        """Return the MCA parameters of the ranks; pml ob1 with named btls is what forces the transport.

        The defaults would prefer UCX or libfabric, silently. One-sided operations (osc) have a choice of their own,
        with UCX among it, too.
        """
        chosen = {"mpi_yield_when_idle": "1"} if job.shares_cores else {}
        chosen["pml"] = "ob1"
        one_sided = {"osc": self.one_sided[job.transport]} if job.transport in self.one_sided else {}
        if job.transport == "tcp":
            return {**chosen, "btl": "tcp,self", "btl_tcp_if_include": job.fabric_interface or "", **one_sided}
        if _below(job) == "libfabric":
            one_sided = {"osc": "pt2pt"} if self.one_sided.get("tcp") == "pt2pt" else {}
            return {
                **chosen, "pml": "cm", "mtl": "ofi", "mtl_ofi_provider_include": _rdma.PROVIDER, "btl": "self",
                **one_sided,
            }  # fmt: skip
        if _below(job) == "ucx":
            return {**chosen, "pml": "ucx", "osc": "ucx"}
        return {**chosen, "btl": f"{self.shared_memory},self", **one_sided}


def mca(name: str, value: str) -> tuple[str, ...]:
    """Return one MCA parameter as words."""
    return ("--mca", name, value)


def _own_processor(job: MpiJob) -> tuple[str, ...]:
    """Return words before a rank's program that bind it to the processor named for it.

    mpirun's own `--bind-to cpu-list:ordered` counts cores by their place in the machine, not by the system's numbers,
    and takes them in ascending order, whatever order was asked for (seen with 4.1.4).
    """
    cases = " ".join(f"{rank}) p={number} ;;" for rank, number in enumerate(processors_of(job)))
    script = f'case $OMPI_COMM_WORLD_LOCAL_RANK in {cases} esac; exec taskset -c "$p" "$@"'
    return ("/bin/sh", "-c", script, "sh") if cases else ()


def _mapping(ranks: Layout) -> str:
    """Return how ranks are dealt out: a number on each host before the next, or one on each host in turn."""
    return "node" if ranks.arrangement == CYCLIC else f"ppr:{ranks.ranks_per_host}:node"


def _below(job: MpiJob) -> str | None:
    """Return what Open MPI stands on where the job goes over RDMA."""
    return _rdma.below(job, ("ucx", "libfabric")) if job.transport in RDMA_TRANSPORTS else None


def _port(job: MpiJob) -> dict[str, str]:
    """Return the variables by which what Open MPI stands on is told the RDMA port."""
    variables = {"ucx": _rdma.ucx, "libfabric": _rdma.libfabric}
    return variables[name](job) if (name := _below(job)) is not None else {}


def _exports(env: Mapping[str, str]) -> list[str]:
    """Return the words that set variables of all ranks; those of parameters are mpirun's own to set."""
    words: list[str] = []
    for name, value in env.items():
        is_parameter = name.startswith(_PARAMETER)
        words += mca(name.removeprefix(_PARAMETER), value) if is_parameter else ("-x", f"{name}={value}")
    return words
