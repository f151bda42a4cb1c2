"""Open MPI 4: ORTE starts the ranks."""

from __future__ import annotations

from fabriscope.launch import _openmpi
from fabriscope.model.mpi import MpiJob, MpiStack

_SHARED_MEMORY = "vader"


class OpenMpi4Launcher:
    """`mpirun` of Open MPI 4."""

    name = "openmpi4"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line; one-sided communication over TCP is right with `osc pt2pt` only."""
        words = _openmpi.argv(
            job,
            stack,
            remote_shell="plm_rsh_agent",
            out_of_band="oob_tcp_if_include",
            out_of_band_option="--mca",
            shared_memory=_SHARED_MEMORY,
        )
        if job.transport == "shm":
            return words
        return (words[0], *_openmpi.mca("osc", "pt2pt"), *words[1:])

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return what forces the transport, for a start without mpirun."""
        forced = _openmpi.variables(job, _SHARED_MEMORY)
        return forced if job.transport == "shm" else {"OMPI_MCA_osc": "pt2pt", **forced}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return the permission to run as root."""
        return dict(_openmpi.ROOT_ALLOWED)


LAUNCHER = OpenMpi4Launcher()
