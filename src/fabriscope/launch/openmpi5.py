"""Open MPI 5: PRRTE starts the ranks, and has parameters of its own (`--prtemca`)."""

from __future__ import annotations

from dataclasses import replace

from fabriscope.launch import _openmpi
from fabriscope.model.mpi import MpiJob, MpiStack


class OpenMpi5Launcher:
    """`mpirun` of Open MPI 5."""

    name = "openmpi5"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        return _openmpi.argv(
            replace(job, argv=_with_end_of_input(job)),
            stack,
            remote_shell="plm_ssh_agent",
            out_of_band="oob_tcp_if_include",
            out_of_band_option="--prtemca",
            shared_memory="sm",
        )

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return the permission to run as root."""
        return dict(_openmpi.ROOT_ALLOWED)


def _with_end_of_input(job: MpiJob) -> tuple[str, ...]:
    """Return the program's words; one that is fed gets its input through `head`, which knows where it ends.

    PRRTE hands rank 0 the bytes but not the end of standard input (seen with 5.0.11), so whoever reads to the end
    waits forever.
    """
    if not job.stdin_bytes:
        return job.argv
    return ("sh", "-c", 'head -c "$0" | exec "$@"', str(job.stdin_bytes), *job.argv)


LAUNCHER = OpenMpi5Launcher()
