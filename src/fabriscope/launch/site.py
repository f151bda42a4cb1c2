"""Where a launch runs: hosts, fabrics, MPI libraries, programs, and what can be done for the place as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from fabriscope.launch.slurm import Slurm
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, Host
from fabriscope.model.mpi import MpiStack
from fabriscope.model.osu import OsuBuild
from fabriscope.model.switch_settings import SwitchPlace


class Site(Protocol):
    """Everything that a launch needs to know of the place it runs in: a lab, or real hosts (both in running/)."""

    @property
    def hosts(self) -> Mapping[str, Host]:
        """Return the hosts by name."""

    @property
    def fabrics(self) -> Mapping[str, Fabric]:
        """Return the fabrics by name."""

    @property
    def mpi(self) -> Mapping[str, MpiStack]:
        """Return the MPI libraries by name."""

    @property
    def engine(self) -> str:
        """Return the engine's path on every host."""

    @property
    def mpi_engines(self) -> Mapping[str, str]:
        """Return the engine that was compiled with each MPI library."""

    @property
    def npb(self) -> Mapping[str, str]:
        """Return the NAS kernels that were compiled with each MPI library, where the plan runs any."""

    @property
    def profilers(self) -> Mapping[str, str]:
        """Return what counts the calls of each MPI library, where the plan wants a profile."""

    @property
    def osu(self) -> Mapping[str, OsuBuild]:
        """Return the OSU micro-benchmarks that were built with each MPI library, where the plan runs them."""

    @property
    def programs(self) -> Mapping[str, str]:
        """Return the other benchmark programs that were found: name to absolute path."""

    @property
    def remote_shell(self) -> str | None:
        """Return what MPI launchers use for ssh: a lab's stand-in, or a script before the user's own."""

    @property
    def slurm(self) -> Slurm | None:
        """Return the Slurm job whose nodes the hosts are, if they are."""

    @property
    def facts(self) -> Mapping[str, list[Fact]]:
        """Return what was collected already, by host."""

    @property
    def absent(self) -> Mapping[str, str]:
        """Return the hosts of the plan that were gone before the first launch, and why: nothing was put on them."""

    def with_fabrics(self, fabrics: Mapping[str, Fabric]) -> Site:
        """Return the same place with other fabrics of the interfaces that it has."""

    def switch_of(self, fabric: Fabric, /) -> SwitchPlace | None:
        """Return where the switch of ours is told something that a fabric goes over; None where it goes over none."""

    def sweep(self, host_names: Iterable[str]) -> None:
        """End what a broken launch may have left on hosts; raises LabError or HostError."""

    def mend(self) -> list[str]:
        """Start again what has died of the place itself; return what was wrong. Raises LabError."""

    def confine(self, processors: str, /) -> bool:
        """Let switches of ours run on these of this machine's processors alone; False without one. Raises LabError."""

    def counters(self) -> Mapping[str, object]:
        """Return what switches of ours count, by port; raises LabError."""

    def switch_series(self, since_unix_ns: int, /) -> Mapping[str, object]:
        """Return what switches of ours counted over time since then, SwitchSeries; raises LabError."""

    def consoles(self) -> Mapping[str, str]:
        """Return what the kernels of guests have written so far; raises LabError."""
