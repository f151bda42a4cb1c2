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
        words = [stack.mpirun, *_hydra.placement(job, "-launcher")]
        if job.shares_cores:
            words += ["-bind-to", "none"]
        return (*words, *_hydra.genv({**self.variables(job, stack), **job.env}), *job.argv)

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return what forces the transport, for a start without mpiexec."""
        return _forced_transport(job, stack.device or "")

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:  # noqa: ARG002 - the seam's signature
        """Return nothing: Hydra hands its variables on by words."""
        return {}


def _forced_transport(job: MpiJob, device: str) -> dict[str, str]:
    """Return the variables that force the transport.

    Which ones count depends on what the library was built on: one on UCX ignores every FI_ variable in silence.
    Shared memory is ch4's own between ranks of one host; the network is told to stay off the wire all the same.
    """
    interface = job.fabric_interface or ""
    if "ofi" in device:
        forced = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
        return forced if job.transport == "shm" else {**forced, "FI_TCP_IFACE": interface}
    if "ucx" in device:
        if job.transport == "shm":
            return {"UCX_TLS": "sm,self"}
        return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": interface}
    return {} if job.transport == "shm" else {"MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": interface}


LAUNCHER = MpichLauncher()
