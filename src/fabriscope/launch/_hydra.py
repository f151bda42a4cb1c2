"""What MPICH's Hydra and Intel's have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.launch.mpi_jobs import layout
from fabriscope.model.errors import LaunchError
from fabriscope.model.mpi import MpiJob
from fabriscope.model.ranks import CYCLIC


def placement(job: MpiJob, launcher_option: str) -> list[str]:
    """Return the words that say where the ranks are and how their hosts are entered.

    A stand-in for ssh is announced as rsh: with ssh Hydra adds options of ssh's (`-x`, `-q`) before the host.
    A job on one host names no host, so nothing is entered at all. Inside a Slurm job Hydra would spread it over the
    job's nodes: there the host is named, and Hydra's own way to start its proxies is taken.
    """
    hosts, ranks = layout(job.rank_hosts)
    # Hydra goes round the hosts, so many ranks at each stop: one at each gives every host its turn.
    ranks_at_a_stop = 1 if ranks.arrangement == CYCLIC else ranks.ranks_per_host
    places = ["-hosts", ",".join(hosts), "-n", str(ranks.rank_count), "-ppn", str(ranks_at_a_stop)]
    if job.in_slurm:
        _check_slurm_order(hosts)
        return [launcher_option, "slurm", *places]
    if job.transport == "shm":
        return ["-n", str(len(job.rank_hosts))]
    if job.remote_shell:
        words = [launcher_option, "rsh", f"{launcher_option}-exec", job.remote_shell]
    else:
        words = [launcher_option, "ssh"]
    if job.management_interface:
        words += ["-iface", job.management_interface]
    return [*words, *places]


def _check_slurm_order(hosts: Sequence[str]) -> None:
    """Raise LaunchError for hosts that are not in Slurm's order: Hydra would place the ranks in that order."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    in_order = tuple(NodeSet(",".join(hosts), resolver=RESOLVER_NOGROUP))
    if tuple(hosts) != in_order:
        raise LaunchError(
            f"inside a Slurm job mpiexec would place the ranks on {','.join(in_order)}, not on {','.join(hosts)}",
            fix="name the hosts in that order, or write `launcher: srun`",
        )


def genv(variables: Mapping[str, str]) -> list[str]:
    """Return variables of all ranks as words."""
    return [word for name, value in variables.items() for word in ("-genv", name, value)]
