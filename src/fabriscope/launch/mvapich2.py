"""MVAPICH2: MPICH's ch3 on verbs of its own (mrail), or on nemesis; its variables begin with MV2_.

Its own `mpirun_rsh` is not used: it takes no other remote shell than ssh and rsh. Hydra starts the same ranks.
"""

from __future__ import annotations

from fabriscope.launch import _hydra, _rdma
from fabriscope.launch.mpi_jobs import check
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import RDMA_TRANSPORTS
from fabriscope.model.mpi import MpiJob, MpiStack


class Mvapich2Launcher:
    """`mpiexec.hydra` of MVAPICH2."""

    name = "mvapich2"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        check(job)
        words = [stack.mpirun, *_hydra.placement(job, "-launcher")]
        return (*words, *_hydra.genv({**self.variables(job, stack), **job.env}), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return what forces the transport and binds the ranks; raises LaunchError for TCP where it has none.

        Only a build on nemesis speaks TCP. The others take what their network is: verbs, PSM.
        """
        device = stack.device or "ch3:mrail"
        if job.transport == "tcp" and "nemesis" not in device:
            raise LaunchError(
                f"MVAPICH2 on {device} cannot be forced onto TCP: it speaks to RDMA devices alone",
                where=f"MPI {stack.name}",
                fix="use it over roce, ib or iwarp, or inside a host, or a build with --with-device=ch3:nemesis",
            )
        if job.transport in RDMA_TRANSPORTS and "mrail" in device:
            return {**_hydra.own_affinity(job, "MV2"), **_port(job)}
        forced = _hydra.forced_transport(job, device)
        if job.transport == "shm" and "nemesis" not in device:
            forced["MV2_USE_SHARED_MEM"] = "1"
        return {**_hydra.own_affinity(job, "MV2"), **forced}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: Hydra hands its variables on by words."""
        return {}


def _port(job: MpiJob) -> dict[str, str]:
    """Return the variables of MVAPICH2 2.3.7's User Guide, 5.2.8, 5.2.9 and 6.13, that name the RDMA port.

    iWARP needs a connection manager (and /etc/mv2.conf with the host's address on the fabric).
    """
    if job.over is not None:
        raise LaunchError(f"MVAPICH2 speaks verbs by itself, and not by {job.over}", fix="leave out `over`")
    port = _rdma.port_of(job)
    if job.traffic_class:
        raise LaunchError("MVAPICH2 takes no traffic class", fix="leave traffic_class out of the fabric")
    chosen = {"MV2_IBA_HCA": port.device, "MV2_DEFAULT_PORT": str(port.hca_port)}
    if port.gid_index is not None:
        chosen["MV2_DEFAULT_GID_INDEX"] = str(port.gid_index)
    if job.service_level:
        chosen["MV2_DEFAULT_SERVICE_LEVEL"] = str(job.service_level)
    kind = {"roce": {"MV2_USE_RoCE": "1"}, "iwarp": {"MV2_USE_RDMA_CM": "1"}}
    return {**chosen, **kind.get(job.transport, {})}


LAUNCHER = Mvapich2Launcher()
