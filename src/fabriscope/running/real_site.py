"""A plan's real hosts: this machine, and whatever is reached over ssh, or by srun inside a Slurm job."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from fabriscope import engine_binary
from fabriscope.hosts import allocation, facts
from fabriscope.launch import on_host, slurm, ssh
from fabriscope.model.errors import HostError, PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, Host
from fabriscope.model.mpi import MpiStack
from fabriscope.model.osu import OsuBuild
from fabriscope.model.switch_settings import SwitchPlace
from fabriscope.programs import compilers, recipes
from fabriscope.running import fleet, rdma_ports
from fabriscope.running.fleet import Fleet, Program

if TYPE_CHECKING:
    from fabriscope.plan import Plan

Notice = Callable[[str], None]
"""Told what takes time."""
_SIOCGIFADDR = 0x8915
_MPI_SSH = Path(on_host.__file__).with_name("mpi-ssh")
_COMPILERS = ("c++", "g++", "clang++", "icpx")


@dataclass(frozen=True)
class Parts:
    """What every site consists of, a lab too; its members mean what `launch/site.py` says."""

    hosts: Mapping[str, Host]
    fabrics: Mapping[str, Fabric]
    mpi: Mapping[str, MpiStack]
    engine: str
    mpi_engines: Mapping[str, str]
    programs: Mapping[str, str]
    remote_shell: str | None = None
    slurm: slurm.Slurm | None = None
    facts: Mapping[str, list[Fact]] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    npb: Mapping[str, str] = field(default_factory=dict)
    profilers: Mapping[str, str] = field(default_factory=dict)
    osu: Mapping[str, OsuBuild] = field(default_factory=dict)

    def with_fabrics(self, fabrics: Mapping[str, Fabric]) -> Self:
        """Return the same place with other fabrics of the interfaces that it has."""
        return dataclasses.replace(self, fabrics=fabrics)

    def switch_of(self, _fabric: Fabric, /) -> SwitchPlace | None:
        """Return None: no switch is ours."""
        return None

    def confine(self, _processors: str, /) -> bool:
        """Return False: no switch is ours."""
        return False


@dataclass(frozen=True)
class RealSite(Parts):
    """Real hosts."""

    fleet: Fleet | None = None
    """The hosts that are reached over ssh."""
    wanted_programs: frozenset[str] = frozenset()
    """Names of the other programs that the plan's instruments start."""

    def sweep(self, host_names: Iterable[str]) -> None:
        """End what carries our mark on hosts that are reached over ssh."""
        if self.fleet is not None:
            self.fleet.sweep(list(host_names))

    def mend(self) -> list[str]:
        """Return nothing: no part of real hosts is ours."""
        return []

    def counters(self) -> Mapping[str, object]:
        """Return nothing: no switch is ours."""
        return {}

    def switch_series(self, _: int, /) -> Mapping[str, object]:
        """Return nothing: no switch is ours."""
        return {}

    def consoles(self) -> Mapping[str, str]:
        """Return nothing: no kernel is ours."""
        return {}


@contextlib.contextmanager
def prepare(
    plan: Plan, site: RealSite, notice: Notice, known: Mapping[str, list[Fact]] | None = None
) -> Iterator[RealSite]:
    """Yield the site with its hosts, each of which has what it needs; connections end with it.

    With `known` facts, of a run that goes on, hosts that cannot be reached are absent and have these. Raises HostError
    with a sentence for every host that cannot be used, and PlanError for a missing interface.
    """
    near = [name for name in plan.hosts if is_here(name)]
    far = [name for name in plan.hosts if name not in near]
    job = _slurm_job(plan, site)
    words = job or ssh_of(plan)
    hosts = {name: _local_host(name, words) for name in near}
    with contextlib.ExitStack() as stack:
        collected = {name: facts.collect(host) for name, host in hosts.items()}
        site = dataclasses.replace(site, hosts=hosts, facts={**(known or {}), **collected}, slurm=job)
        if far:
            notice(f"{len(far)} hosts {'by srun' if job else 'over ssh'}")
            opened = stack.enter_context(fleet.connected(words))
            site = _furnished(plan, site, opened, far, notice, may_lack=known is not None)
        _check_interfaces(plan, site)
        yield dataclasses.replace(site, fabrics=rdma_ports.found(site.fabrics, site.hosts))


def is_here(name: str) -> bool:
    """Return whether a plan's host is the machine that we are on."""
    return name in ("localhost", "127.0.0.1", socket.gethostname(), socket.getfqdn())


def _slurm_job(plan: Plan, site: RealSite) -> slurm.Slurm | None:
    """Return the Slurm job that we are in, if the plan's hosts are its nodes; raises HostError or LaunchError."""
    if not os.environ.get("SLURM_JOB_ID"):
        return None
    job = allocation.find()
    if job is None or job.scheduler != "slurm" or not set(plan.hosts) <= set(job.hosts):
        return None
    kinds = [stack.kind for stack in site.mpi.values()]
    return slurm.here(os.environ, plan.section.launcher, kinds)


def ssh_of(plan: Plan) -> ssh.Ssh:
    """Return the ssh that the environment or the plan names."""
    section = plan.section.ssh
    return ssh.chosen(section.command, section.between_hosts)


def _furnished(
    plan: Plan, site: RealSite, opened: Fleet, far: Sequence[str], notice: Notice, *, may_lack: bool
) -> RealSite:
    """Return the site with the hosts that are reached over ssh; some of them absent if it `may_lack` hosts."""
    engine = _engine(Path(site.engine))
    mpi_engines = {name: _mpi_engine(site.mpi[name], Path(path)) for name, path in site.mpi_engines.items()}
    npb = {name: _npb(site.mpi[name], Path(path)) for name, path in site.npb.items()}
    profilers = {name: Program(Path(path)) for name, path in site.profilers.items()}
    wrappers = [Program(_MPI_SSH)] if site.mpi else []
    asked = {name: ((stack.mpirun, "--version"), stack.env) for name, stack in site.mpi.items()}
    opened.look(
        far,
        programs=[engine, *mpi_engines.values(), *npb.values(), *profilers.values(), *wrappers],
        wanted=sorted(site.wanted_programs),
        asked=asked,
    )
    if not (may_lack and opened.seen):
        opened.check()
    absent = dict(opened.problems)
    others = {name: _other_version(stack, opened) for name, stack in site.mpi.items()}
    notice(f"what {len(far)} hosts need")
    has_near = bool(site.hosts)
    paths = {program: opened.place(program, is_needed_here=has_near) for program in (engine, *wrappers)}
    for name, program in (*mpi_engines.items(), *npb.items(), *profilers.items()):
        paths[program] = opened.place(program, other_mpi=others[name], is_needed_here=has_near)
        _check_homes(paths[program], opened)
    return dataclasses.replace(
        site,
        absent=absent,
        hosts={name: site.hosts.get(name) or opened.host(name) for name in plan.hosts},
        facts={**site.facts, **{name: seen.facts for name, seen in opened.seen.items()}},
        engine=paths[engine],
        mpi_engines={name: paths[program] for name, program in mpi_engines.items()},
        npb={name: paths[program] for name, program in npb.items()},
        profilers={name: paths[program] for name, program in profilers.items()},
        programs=_programs(site, opened),
        remote_shell=paths[wrappers[0]] if wrappers else None,
        fleet=opened,
    )


def _engine(path: Path) -> Program:
    words = recipes.compile_words(engine_binary.engine_source(), with_mpi=False)
    return Program(path, ("{program}", "--list"), compile_words=tuple(words), compilers=_COMPILERS)


def _mpi_engine(stack: MpiStack, path: Path) -> Program:
    words = recipes.compile_words(engine_binary.engine_source(), with_mpi=True)
    return Program(path, ("{program}", "--list"), tuple(stack.env.items()), tuple(words), (stack.mpicxx or "mpicxx",))


def _npb(stack: MpiStack, path: Path) -> Program:
    return Program(path, ("{program}", "--list"), tuple(stack.env.items()))


def _other_version(stack: MpiStack, opened: Fleet) -> str:
    """Return what the hosts' MPI says of itself where that is not what ours says, else nothing.

    Raises HostError where it is absent, or where the hosts have several versions: one job needs one.
    """
    said = {name: seen.said[stack.name] for name, seen in opened.seen.items()}
    absent = [name for name, words in said.items() if words is None]
    if absent:
        raise HostError(
            f"there is no {stack.mpirun}",
            where=f"host {absent[0]}" if len(absent) == 1 else f"hosts {', '.join(absent[:8])}",
            fix=f"install {stack.name} there at the same path, or leave it out of the plan",
        )
    versions = {words or "" for words in said.values()}
    if len(versions) > 1:
        raise HostError(
            f"the hosts have several versions of {stack.mpirun}", where=", ".join(said), fix="install one version"
        )
    theirs = versions.pop()
    return "" if theirs == compilers.version_words(stack) else theirs


def _check_homes(path: str, opened: Fleet) -> None:
    """Raise HostError where an MPI program would be at another path on every host: mpirun takes one for all."""
    homes = {seen.home for seen in opened.seen.values()}
    if path.startswith("~/") and len(homes) > 1:
        raise HostError(
            f"the home folders of the hosts differ ({', '.join(sorted(homes)[:3])}), and an MPI job needs one path",
            fix="let the hosts share the folder of fabriscope, or use the layer tcp",
        )


def _programs(site: RealSite, opened: Fleet) -> dict[str, str]:
    """Return the other programs that every host has: their path, or their name where the paths differ.

    What is no program that hosts were asked for, such as classes of Java, is taken to be there as it is here.
    """
    found = {name: path for name, path in site.programs.items() if name not in site.wanted_programs}
    for name in site.wanted_programs:
        paths = {seen.programs[name] for seen in opened.seen.values()}
        if site.hosts:
            paths.add(site.programs.get(name))
        if None not in paths:
            found[name] = str(paths.pop()) if len(paths) == 1 else name
    return found


def _local_host(name: str, words: ssh.Ssh) -> Host:
    return Host(
        name,
        addresses=_addresses(),
        node_name=socket.gethostname(),
        cpu_count=len(os.sched_getaffinity(0)),
        env={fleet.BETWEEN_HOSTS_VARIABLE: " ".join(words.command)},
    )


def _addresses() -> dict[str, str]:
    """Return the first IPv4 address of every interface that has one."""
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as query:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                told = fcntl.ioctl(query, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found[name] = socket.inet_ntoa(told[20:24])
    return found


def _check_interfaces(plan: Plan, site: RealSite) -> None:
    """Raise PlanError for fabrics whose interfaces are not there or have no address, a sentence for each."""
    problems = [
        PlanError(
            f"interface {interface!r} has no IPv4 address on host {name}",
            where=plan.file,
            fix=f"name one of {', '.join(site.hosts[name].addresses) or 'none: it has no address at all'}",
        ).sentence()
        for fabric in site.fabrics.values()
        for name, interface in fabric.interfaces.items()
        if name in site.hosts and name not in site.absent and interface not in site.hosts[name].addresses
    ]
    if problems:
        raise PlanError("\n".join(dict.fromkeys(problems)))
