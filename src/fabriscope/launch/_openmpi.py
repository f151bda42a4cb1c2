"""What Open MPI 4 and 5 have in common."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.launch.mpi_jobs import check, layout
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.model.ranks import CYCLIC, Layout

# mpirun refuses to work for root unless both are set; containers and labs often have nobody else.
ROOT_ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mca(name: str, value: str) -> tuple[str, ...]:
    """Return one MCA parameter as words."""
    return ("--mca", name, value)


def argv(
    job: MpiJob, stack: MpiStack, *, remote_shell: str, out_of_band: str, out_of_band_option: str, shared_memory: str
) -> tuple[str, ...]:
    """Return mpirun's words; the keyword arguments are the names in which 4 and 5 differ.

    pml ob1 with named btls is what forces the transport: the defaults would prefer UCX or libfabric, silently.
    """
    check(job)
    hosts, ranks = layout(job.rank_hosts)
    words = [stack.mpirun]
    if job.transport == "tcp":
        if job.remote_shell:
            words += mca(remote_shell, job.remote_shell)
        if job.management_interface:
            words += [out_of_band_option, out_of_band, job.management_interface]
        words += ["-H", ",".join(f"{host}:{ranks.ranks_per_host}" for host in hosts)]
        words += ["-np", str(ranks.rank_count), "--map-by", _mapping(ranks)]
    else:
        # The name that a plan gives the host need not be its own: localhost always is.
        words += ["-H", f"localhost:{len(job.rank_hosts)}", "-np", str(len(job.rank_hosts))]
    if job.shares_cores:
        words += ["--bind-to", "none", *mca("mpi_yield_when_idle", "1")]
    words += mca("pml", "ob1")
    if job.transport == "tcp":
        words += [*mca("btl", "tcp,self"), *mca("btl_tcp_if_include", job.fabric_interface or "")]
    else:
        words += mca("btl", f"{shared_memory},self")
    return (*words, *_exports(job.env), *job.argv)


def _mapping(ranks: Layout) -> str:
    """Return how ranks are dealt out: so many on each host before the next, or one on each host in turn."""
    return "node" if ranks.arrangement == CYCLIC else f"ppr:{ranks.ranks_per_host}:node"


def _exports(env: Mapping[str, str]) -> list[str]:
    return [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
