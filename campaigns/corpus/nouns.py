"""What a case of the transport corpus is: a job, the lab that it runs in, and what is true by the way it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.counters import PROVED, REFUTED
from fabriscope.model.lab import SwitchSpec

NODES = ("node1", "node2")
GUESTS = ("g1", "g2")
"""Hosts with a kernel of their own, which has software RDMA (`rdma_place.py`)."""
LOCAL = SwitchSpec("local")

OPENMPI4, OPENMPI5, MPICH4, MPICH5, INTEL = "Open MPI 4", "Open MPI 5", "MPICH 4", "MPICH 5", "Intel MPI"
LIBRARIES = (OPENMPI4, OPENMPI5, MPICH4, MPICH5, INTEL)


@dataclass(frozen=True)
class Job:
    """What is watched: an MPI job of `traffic.cc`, programs without MPI, or both."""

    library: str = ""
    """One of LIBRARIES; empty for programs without MPI."""
    traffic: str = ""
    """Words of `traffic.cc`: `ping_pong 100 65536`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables with which the library is told its transport; `{prefix}` is where it was installed."""
    rank_hosts: tuple[str, ...] = NODES
    servers: tuple[tuple[str, str], ...] = ()
    """Host and words, with `{python}`, `{tcp}` and the like for ours; they are ready when they print `istening`."""
    programs: tuple[tuple[str, str], ...] = ()
    """Likewise, of those that the job waits for; beside its ranks where it has a library."""
    payload: Mapping[tuple[str, str], int] | None = None
    """Of programs without MPI, where it is known."""
    words: str = ""
    """A program without MPI that the library's `mpirun` starts in place of that one."""


@dataclass(frozen=True)
class Case:
    """One labelled case."""

    name: str
    family: str
    asked: str
    """`tcp eth0`, `roce`, `shm`."""
    truth: tuple[str, ...]
    """What carried it: `tcp eth0`, `tcp` (over whichever interface), `shm`, `tcp lo`."""
    because: str
    """Why that is so, whatever any counter says."""
    job: Job
    hosts: tuple[str, ...] = NODES
    fabrics: Mapping[str, SwitchSpec] = field(default_factory=lambda: {"first": LOCAL})
    """They are eth0, eth1 ... in this order."""
    prepare: tuple[tuple[str, str], ...] = ()
    """Host and shell script, run before anything is measured."""
    beside: tuple[tuple[str, str], ...] = ()
    """Host and words of somebody else's programs: they run before the job, while it does, and after it."""
    knows_payload: bool = True
    shares_memory: bool = False
    """The hosts are network namespaces alone: one host name, one /dev/shm, one IPC namespace."""
    verdict: str = ""
    """Where it does not follow from `asked` and `truth`: undecided by design."""

    @property
    def expected(self) -> str:
        """Return the verdict that is right."""
        return self.verdict or (PROVED if self.truth == (self.asked,) else REFUTED)
