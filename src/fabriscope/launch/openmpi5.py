"""Open MPI 5: PRRTE starts the ranks, and has parameters of its own (`--prtemca`).

It hands rank 0 the bytes of standard input but not their end (seen with 5.0.11): what is fed says itself where it ends.
"""

from __future__ import annotations

from fabriscope.launch import _openmpi
from fabriscope.model.mpi import MpiJob, MpiStack

_CARRIERS = _openmpi.Carriers("sm", "package", one_sided={"tcp": "rdma", "shm": "sm,rdma"})


class OpenMpi5Launcher:
    """`mpirun` of Open MPI 5."""

    name = "openmpi5"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        return _openmpi.argv(
            job,
            stack,
            remote_shell="plm_ssh_agent",
            out_of_band="oob_tcp_if_include",
            out_of_band_option="--prtemca",
            carriers=_CARRIERS,
        )

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return what forces the transport, for a start without mpirun."""
        return _openmpi.variables(job, _CARRIERS)

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return the permission to run as root."""
        return dict(_openmpi.ROOT_ALLOWED)


LAUNCHER = OpenMpi5Launcher()
