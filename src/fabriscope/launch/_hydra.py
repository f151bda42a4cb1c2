"""What MPICH's Hydra and Intel's have in common."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.launch.mpi_jobs import layout
from fabriscope.model.mpi import MpiJob
from fabriscope.model.ranks import CYCLIC


def placement(job: MpiJob, launcher_option: str) -> list[str]:
    """Return the words that say where the ranks are and how their hosts are entered.

    A stand-in for ssh is announced as rsh: with ssh Hydra adds options of ssh's (`-x`, `-q`) before the host.
    A job on one host names no host, so nothing is entered at all.
    """
    hosts, ranks = layout(job.rank_hosts)
    if job.transport == "shm":
        return ["-n", str(len(job.rank_hosts))]
    if job.remote_shell:
        words = [launcher_option, "rsh", f"{launcher_option}-exec", job.remote_shell]
    else:
        words = [launcher_option, "ssh"]
    if job.management_interface:
        words += ["-iface", job.management_interface]
    # Hydra goes round the hosts, so many ranks at each stop: one at each gives every host its turn.
    ranks_at_a_stop = 1 if ranks.arrangement == CYCLIC else ranks.ranks_per_host
    return [*words, "-hosts", ",".join(hosts), "-n", str(ranks.rank_count), "-ppn", str(ranks_at_a_stop)]


def genv(variables: Mapping[str, str]) -> list[str]:
    """Return variables of all ranks as words."""
    return [word for name, value in variables.items() for word in ("-genv", name, value)]
