"""What MPICH, MVAPICH and Intel MPI have in common: Hydra, and the first two what carries the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.launch import _rdma
from fabriscope.launch.mpi_jobs import layout, processors_of, unit_of
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import RDMA_TRANSPORTS
from fabriscope.model.host_lists import unfolded
from fabriscope.model.mpi import MpiJob
from fabriscope.model.ranks import CYCLIC


def placement(job: MpiJob, launcher_option: str) -> list[str]:
    """Return the words that say where the ranks are and how their hosts are entered.

    A stand-in for ssh is announced as rsh: with ssh Hydra adds options of ssh's (`-x`, `-q`) before the host.
    A job on one host names no host, so nothing is entered at all. Inside a Slurm job Hydra would spread it over the
    job's nodes: there the host is named, and Hydra's own way to start its proxies is taken.
    """
    hosts, ranks = layout(job.rank_hosts)
    # Hydra goes round the hosts with a number of ranks at each stop: one at each gives every host its turn.
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
    in_order = unfolded(",".join(hosts), groups=False)
    if tuple(hosts) != in_order:
        raise LaunchError(
            f"inside a Slurm job mpiexec would place the ranks on {','.join(in_order)}, not on {','.join(hosts)}",
            fix="name the hosts in that order, or write `launcher: srun`",
        )


def binding(job: MpiJob) -> list[str]:
    """Return the words that bind ranks, for a Hydra that does so; `user:` takes the system's numbers, a rank each."""
    processors = processors_of(job)
    if processors:
        return ["-bind-to", "user:" + ",".join(map(str, processors))]
    unit = unit_of(job)
    return [] if unit is None else ["-bind-to", unit]


def own_affinity(job: MpiJob, prefix: str) -> dict[str, str]:
    """Return the variables that bind ranks of MVAPICH, which does it by itself when a rank starts.

    MVAPICH2 2.3.7 User Guide, 6.5 (`MV2_`); MVAPICH 3.0 has the same under the prefix `MVP_`, and takes the policy in
    capitals alone. It is one core after the other (bunch), and the sockets or numa nodes in turn (scatter), as the
    other libraries do.
    """
    processors, unit = processors_of(job), unit_of(job)
    if processors:
        return {f"{prefix}_ENABLE_AFFINITY": "1", f"{prefix}_CPU_MAPPING": ":".join(map(str, processors))}
    if unit is None:
        return {}
    if unit == "none":
        return {f"{prefix}_ENABLE_AFFINITY": "0"}
    level = {"numa": "numanode"}.get(unit, unit)
    policy = "BUNCH" if unit == "core" else "SCATTER"
    return {
        f"{prefix}_ENABLE_AFFINITY": "1",
        f"{prefix}_CPU_BINDING_POLICY": policy,
        f"{prefix}_CPU_BINDING_LEVEL": level,
    }


def forced_transport(job: MpiJob, device: str) -> dict[str, str]:
    """Return the variables that force the transport of MPICH, and of what was made out of it.

    Which ones count depends on what the library was built on: one on UCX ignores every FI_ variable in silence.
    Shared memory is ch4's own between ranks of one host; the network is told to stay off the wire all the same.
    """
    interface = job.fabric_interface or ""
    if job.transport in RDMA_TRANSPORTS:
        return _forced_rdma(job, device)
    if "ofi" in device:
        forced = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
        return forced if job.transport == "shm" else {**forced, "FI_TCP_IFACE": interface}
    if "ucx" in device:
        if job.transport == "shm":
            return {"UCX_TLS": "sm,self"}
        return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": interface}
    return {} if job.transport == "shm" else {"MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": interface}


def _forced_rdma(job: MpiJob, device: str) -> dict[str, str]:
    """Return the variables that force an RDMA port, and the netmod where there may be two."""
    there = [name for name, netmod in (("ucx", "ucx"), ("libfabric", "ofi")) if netmod in device]
    if _rdma.below(job, there) == "ucx":
        return {**({"MPIR_CVAR_CH4_NETMOD": "ucx"} if "ofi" in device else {}), **_rdma.ucx(job)}
    return {"MPIR_CVAR_CH4_NETMOD": "ofi", **_rdma.libfabric(job)}


def genv(variables: Mapping[str, str]) -> list[str]:
    """Return variables of all ranks as words."""
    return [word for name, value in variables.items() for word in ("-genv", name, value)]
