"""Intel MPI 2021: a Hydra of its own, over libfabric."""

from __future__ import annotations

from fabriscope.launch import _hydra, _rdma
from fabriscope.launch.mpi_jobs import check, processors_of, unit_of
from fabriscope.model.fabric import RDMA_TRANSPORTS
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
        forced = _pinning(job) | ({"I_MPI_WAIT_MODE": "1"} if job.shares_cores else {})
        if job.transport == "shm":
            return {**forced, "I_MPI_FABRICS": "shm"}
        if job.transport in RDMA_TRANSPORTS:
            _rdma.below(job, ("libfabric",))  # it has nothing else: raises where the plan asks for that
            return {**forced, "I_MPI_FABRICS": "ofi", **_rdma.libfabric(job)}
        return {**forced, "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": job.fabric_interface or ""}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: what the library needs to find itself is in the stack's own environment."""
        return {}


def _pinning(job: MpiJob) -> dict[str, str]:
    """Return the variables that bind ranks (Developer Reference, "Environment Variables for Process Pinning")."""
    processors, unit = processors_of(job), unit_of(job)
    if processors:
        return {"I_MPI_PIN": "on", "I_MPI_PIN_PROCESSOR_LIST": ",".join(map(str, processors))}
    if unit is None:
        return {}
    return {"I_MPI_PIN": "off"} if unit == "none" else {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": unit}


LAUNCHER = IntelMpiLauncher()
