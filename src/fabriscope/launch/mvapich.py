"""MVAPICH 3 and 4: MPICH's ch4 on libfabric or UCX, which choose the interface.

3.x binds its ranks by itself, by variables that begin with MVP_. 4.0 was made out of MPICH 4.3 anew and has none of
that: Hydra binds them.
"""

from __future__ import annotations

from fabriscope.launch import _hydra
from fabriscope.launch.mpi_jobs import check
from fabriscope.model.mpi import MpiJob, MpiStack


class MvapichLauncher:
    """`mpiexec` of MVAPICH (Hydra)."""

    name = "mvapich"

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the command line."""
        check(job)
        words = [stack.mpirun, *_hydra.placement(job, "-launcher")]
        if not _binds_itself(stack):
            words += _hydra.binding(job)
        return (*words, *_hydra.genv({**self.variables(job, stack), **job.env}), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return what forces the transport and binds the ranks.

        3.x has one netmod (mvp), which calls libfabric or UCX: MPICH's word for the choice would name neither.
        """
        forced = _hydra.forced_transport(job, stack.device or "")
        if not _binds_itself(stack):
            return forced
        forced.pop("MPIR_CVAR_CH4_NETMOD", None)
        return {**_hydra.own_affinity(job, "MVP"), **forced}

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: Hydra hands its variables on by words."""
        return {}


def _binds_itself(stack: MpiStack) -> bool:
    return stack.version.startswith("3.")


LAUNCHER = MvapichLauncher()
