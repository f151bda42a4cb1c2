"""What an adapter is: it turns a launch into commands, and what they said into samples.

Both directions are pure: no process is started and no file is read here, so that every adapter is tested with
golden text alone. `run.py` starts the commands (`fabriscope.launch`) in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.imb import ImbOptions
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.mpi import MpiStack
from fabriscope.model.osu import OsuBuild
from fabriscope.model.turns import TurnPlace

LOOPBACK_ADDRESS = "127.0.0.1"


@dataclass(frozen=True)
class AdapterContext:
    """What an adapter may know of the place in which a launch runs."""

    hosts: Mapping[str, Host]
    fabric: Fabric | None = None
    """The fabric of the launch's entry; None for shm and null."""
    mpi: MpiStack | None = None
    """The MPI installation of the launch's entry, for the layer mpi."""
    engine: str | None = None
    """Absolute path of fabriscope-engine."""
    mpi_engine: str | None = None
    """Absolute path of the engine that was compiled with `mpi`."""
    npb: str | None = None
    """Absolute path of the NAS kernels that were compiled with `mpi`."""
    profiler: str | None = None
    """Absolute path of the library that counts calls of `mpi`, where the plan wants a profile."""
    imb: ImbOptions = field(default_factory=ImbOptions)
    """What the plan tells the Intel MPI Benchmarks."""
    osu: OsuBuild | None = None
    """The OSU micro-benchmarks that were built with `mpi`, where the plan runs them."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Absolute path of every other program by its name (`iperf3`, `IMB-MPI1` ...)."""
    token: str = ""
    """Secret by which the ranks of one launch know each other; travels in the environment only."""
    case_timeout_ns: int = 10_000_000_000
    burst_ns: int = 3_000_000
    max_burst_operations: int = 1000
    sample_memory_bytes: int = 32 << 20
    verify: bool = True
    """Check the payload's content in a pass of its own before anything is timed."""
    turn: TurnPlace | None = None
    """The launch's place among those that it measures in turns with."""
    processors: tuple[str, ...] = ()
    """Of each rank, those that it may run on, as the kernel writes lists; empty: nobody says."""
    may_run_elsewhere: bool = False
    """Whether ranks whose host does not let them run there run where it does."""
    tcp_port: int = 18515
    """For programs that cannot choose a free port and tell which."""

    @property
    def processor_words(self) -> tuple[str, ...]:
        """Return our engine's words for it."""
        name = "--processors-if-allowed" if self.may_run_elsewhere else "--processors"
        return (name, "/".join(self.processors)) if self.processors else ()

    def program(self, name: str) -> str:
        """Return the path of a program; raises ToolMissing."""
        if name not in self.programs:
            raise ToolMissing(f"{name} is not on this machine", fix=f"install {name}, or leave it out of the plan")
        return self.programs[name]

    def interface(self, host_name: str) -> str:
        """Return the interface of the launch's fabric on that host; raises LaunchError if it is not known."""
        if self.fabric is None or host_name not in self.fabric.interfaces:
            fabric = self.fabric.name if self.fabric else "no fabric"
            raise LaunchError(f"no interface is named for host {host_name!r}", where=fabric)
        return self.fabric.interfaces[host_name]

    def data_address(self, host_name: str) -> str:
        """Return the host's IPv4 address on the launch's fabric, loopback without a fabric; raises LaunchError."""
        if self.fabric is None:
            return LOOPBACK_ADDRESS
        interface = self.interface(host_name)
        address = self.hosts[host_name].addresses.get(interface)
        if address is None:
            raise LaunchError(
                f"host {host_name!r} has no known IPv4 address on {interface}",
                where=self.fabric.name,
                fix="give the address in the plan, or set the interface up",
            )
        return address

    def rendezvous_address(self, host_name: str) -> str:
        """Return the address for wiring up: the management interface's, else the fabric's."""
        return self.hosts[host_name].management_address or self.data_address(host_name)


class Adapter(Protocol):
    """Knows one benchmark program.

    It may have `programs`, the names of all executables that it starts: what a plan needs is looked for before a run.
    And `look(launch, context)`, the command (or None) that asks before a run whether a service that runs already can be
    used, with `refused(outcome)`, which returns why not.
    And `tools`, those that `fabriscope doctor` looks for, each with what it is for and which package brings it.
    """

    @property
    def name(self) -> str:
        """Return how plans call it (`Entry.instrument`)."""

    @property
    def layers(self) -> frozenset[str] | None:
        """Return the layers that it measures; None for every one. Plans leave out what it cannot measure."""

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return what has to be started, in order.

        An MPI job is one command whose argv is the program's own and whose `rank_hosts` is not empty:
        `launch.mpi_jobs` puts the MPI's launcher before it. Raises LaunchError or ToolMissing.
        """

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return the samples and one result for every case of the launch.

        `outcomes` are those of `commands`, in order; fewer when one did not start. Raises ParseError on an
        unexpected shape; a program that failed is no such thing, but failed results.
        """
