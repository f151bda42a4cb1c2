"""MVAPICH2: MPICH's ch3 on verbs of its own (mrail), or on nemesis; its variables begin with MV2_.

Its own `mpirun_rsh` is not used: it takes no other remote shell than ssh and rsh. Hydra starts the same ranks.
"""

from __future__ import annotations

from fabriscope.launch import _hydra
from fabriscope.launch.mpi_jobs import check
from fabriscope.model.errors import LaunchError
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
                fix="use it with placements: [intra], or a build with --with-device=ch3:nemesis",
            )
        forced = _hydra.forced_transport(job, device)
        if job.transport == "shm" and "nemesis" not in device:
            forced["MV2_USE_SHARED_MEM"] = "1"
        return {**_hydra.own_affinity(job, "MV2"), **forced}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: Hydra hands its variables on by words."""
        return {}


LAUNCHER = Mvapich2Launcher()
