"""An MPI library as it is installed somewhere, and a job for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.fabric import RdmaPort

BINDING_UNITS = ("core", "socket", "numa", "none")
Bind = str | tuple[int, ...]
"""To what each rank is bound: to one unit of its own in turn, to nothing, or the first rank on every host to the first
of these processors (as the system numbers them), the second to the second."""


@dataclass(frozen=True)
class MpiStack:
    """One MPI installation."""

    name: str
    """How plans and reports call it, e.g. `mpich-5.0.2`."""
    kind: str
    """Which launcher speaks to it: `openmpi4`, `openmpi5`, `mpich`, `intelmpi`, `mvapich`, `mvapich2`."""
    version: str
    mpirun: str
    """Absolute path of mpirun or mpiexec."""
    mpicxx: str | None
    """Absolute path of the C++ compiler wrapper; None when the installation has none."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment that it needs (I_MPI_ROOT, LD_LIBRARY_PATH ...)."""
    device: str | None = None
    """What it is built on where that matters: MPICH's `ch4:ofi` or `ch4:ucx`."""
    bind: Bind | None = None
    """How a plan wants its ranks bound; None: as the library does by itself."""
    knobs: Mapping[str, str] = field(default_factory=dict)
    """What a plan sets on hosts for its launches and puts back afterwards: knob to value (`knobs/`)."""
    over: str | None = None
    """What a plan wants below it over RDMA, `ucx` or `libfabric`; None: UCX where it has that and it speaks it."""


@dataclass(frozen=True)
class MpiJob:
    """One MPI program to start over hosts, one entry of `rank_hosts` for each rank in order."""

    argv: tuple[str, ...]
    rank_hosts: tuple[str, ...]
    fabric_interface: str | None
    """Interface that must carry the bytes between hosts; None for shared memory inside one host."""
    transport: str
    """`tcp` (forced onto the interface), `shm`, or one of `model.fabric.RDMA_TRANSPORTS`."""
    rdma_port: RdmaPort | None = None
    """The RDMA port of the first host, for those."""
    service_level: int = 0
    traffic_class: int = 0
    management_interface: str | None = None
    remote_shell: str | None = None
    """Program used instead of ssh; None when the job stays on one host or uses ssh."""
    env: Mapping[str, str] = field(default_factory=dict)
    shares_cores: bool = False
    """The ranks have no core of their own (a lab): none is bound, and a waiting rank yields where it can."""
    bind: Bind | None = None
    """How a plan wants ranks bound; None: as the library does by itself, and not at all where cores are shared."""
    over: str | None = None
    """What carries it over RDMA, `ucx` or `libfabric`; None: the launcher's choice."""
    in_slurm: bool = False
    """mpirun is started inside a Slurm job, where every library looks for hosts of its own accord."""
    stdin_bytes: int = 0
    """How much rank 0 is fed on standard input."""
