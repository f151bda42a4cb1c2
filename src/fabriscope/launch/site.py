"""Where a launch runs: hosts, fabrics, MPI libraries, programs, and what can be done for the place as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fabriscope.launch.slurm import Slurm
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, Host
from fabriscope.model.mpi import MpiStack


class SiteLab(Protocol):
    """What a launch needs of the lab that was built for its run (`fabriscope.lab.Lab`). All methods raise LabError."""

    def sweep(self, host_name: str) -> None:
        """End every process that runs on a host."""

    def mend(self) -> list[str]:
        """Start again what has died; return what was wrong."""

    def counters(self) -> dict[str, Any]:
        """Return the switch's counters for each port."""

    def consoles(self) -> dict[str, str]:
        """Return what each guest's kernel has written so far."""


class SiteFleet(Protocol):
    """What a launch needs of the hosts that are reached over ssh (`fabriscope.running.fleet.Fleet`)."""

    def sweep(self, names: Sequence[str]) -> None:
        """End what broken launches may have left on hosts."""


@dataclass(frozen=True)
class Site:
    """Everything that a launch needs to know of the place it runs in."""

    hosts: Mapping[str, Host]
    fabrics: Mapping[str, Fabric]
    mpi: Mapping[str, MpiStack]
    engine: str
    mpi_engines: Mapping[str, str]
    """MPI stack name to the engine that was compiled with it."""
    programs: Mapping[str, str]
    """Other benchmark programs that were found: name to absolute path."""
    remote_shell: str | None = None
    """What MPI launchers use for ssh: the lab's stand-in, or a script before the user's own; None on one real host."""
    lab: SiteLab | None = None
    """The lab that was built for this run, or None."""
    slurm: Slurm | None = None
    """The Slurm job whose nodes the hosts are, or None."""
    fleet: SiteFleet | None = None
    """The hosts that are reached over ssh, or None."""
    facts: Mapping[str, list[Fact]] = field(default_factory=dict)
    """What was collected already, by host."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Hosts of the plan that were gone before the first launch, and why: nothing was put on them."""
    wanted_programs: frozenset[str] = frozenset()
    """Names of the other programs that the plan's instruments start."""

    def sweep(self, host_names: Iterable[str]) -> None:
        """End what a broken launch may have left on hosts: of the lab's everything, of others what carries our mark."""
        if self.lab is not None:
            for name in host_names:
                self.lab.sweep(name)
        if self.fleet is not None:
            self.fleet.sweep(list(host_names))
