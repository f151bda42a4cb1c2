"""MPICH 3 to 5, over whichever of libfabric, UCX or its old nemesis it was built on."""

from __future__ import annotations

from fabriscope.launch import _hydra
from fabriscope.launch.mpi_jobs import check
from fabriscope.model.mpi import MpiJob, MpiStack


class MpichLauncher:
    """`mpiexec` of MPICH (Hydra)."""

    name = "mpich"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        check(job)
        words = [stack.mpirun, *_hydra.placement(job, "-launcher"), *_hydra.binding(job)]
        return (*words, *_hydra.genv({**self.variables(job, stack), **job.env}), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return what forces the transport, for a start without mpiexec."""
        return _hydra.forced_transport(job, stack.device or "")

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: Hydra hands its variables on by words."""
        return {}


LAUNCHER = MpichLauncher()
