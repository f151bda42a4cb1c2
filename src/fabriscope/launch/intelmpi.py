"""Intel MPI 2021: a Hydra of its own, over libfabric."""

from __future__ import annotations

from fabriscope.launch import _hydra
from fabriscope.launch.mpi_jobs import check
from fabriscope.model.mpi import MpiJob, MpiStack


class IntelMpiLauncher:
    """`mpiexec.hydra` of Intel MPI."""

    name = "intelmpi"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        check(job)
        placement = _hydra.placement(job, "-bootstrap")
        return (stack.mpirun, *placement, *_hydra.genv({**self.variables(job, stack), **job.env}), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return what forces the transport, for a start without mpiexec."""
        # Its ranks spin and never yield: two of them beside a switch on two cores took 20 ms for a message of 8 B.
        forced = {"I_MPI_PIN": "off", "I_MPI_WAIT_MODE": "1"} if job.shares_cores else {}
        if job.transport == "shm":
            return {**forced, "I_MPI_FABRICS": "shm"}
        return {**forced, "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": job.fabric_interface or ""}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: what the library needs to find itself is in the stack's own environment."""
        return {}


LAUNCHER = IntelMpiLauncher()
