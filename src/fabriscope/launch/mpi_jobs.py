"""Puts an MPI library's launcher before a program that has ranks.

A launcher is one file here with a `LAUNCHER` named after `MpiStack.kind`; it is a pure function from a job and an
installation to words, so that one test holds every command line (`tests/launch/test_launchers.py`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from fabriscope.launch import _rdma, mpi_settings
from fabriscope.launch.slurm import Slurm
from fabriscope.model.command import Command
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import RDMA_TRANSPORTS, Fabric, RdmaPort
from fabriscope.model.host import HERE, Host
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.ranks import BESIDE, TO_ONE, Layout, layout_of
from fabriscope.registry import discover

MAX_STDIN_BYTES = 60_000
"""More than about 64 KiB is refused by Hydra ("reading stdin too slowly") and garbled by PRRTE (its issue 2579)."""

VARIABLES_VARIABLE = "FABRISCOPE_MPI_VARIABLES"
"""Names of the variables that the library is started with; `on_host/mpi-ssh` takes them to the other hosts."""

INTERFACE_VARIABLES = (
    "OMPI_MCA_btl_tcp_if_include", "FI_TCP_IFACE", "UCX_NET_DEVICES", "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE",
)  # fmt: skip
"""By which Open MPI, libfabric (MPICH, Intel MPI), UCX and MPICH on ch3 are told their interface."""


class MpiLauncher(Protocol):
    """Knows the command line of one MPI library."""

    @property
    def name(self) -> str:
        """Return the `MpiStack.kind` that it speaks to."""

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the whole command line, the program's own words last; raises LaunchError."""

    def variables(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return the variables that force the transport on ranks which another program starts (Slurm's srun)."""

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return the variables that mpirun itself needs."""


def wrap(
    command: Command,
    stack: MpiStack,
    hosts: Mapping[str, Host],
    fabric: Fabric | None,
    remote_shell: str | None,
    slurm: Slurm | None = None,
) -> Command:
    """Return the command that starts an MPI job with the stack's own launcher, on the host of its first rank.

    A job with a fabric is forced onto its interface, on one host too; between hosts, over a fabric of verbs, onto its
    RDMA port. Without a fabric it uses shared memory. Where the interface or port has another name on every host, each
    rank finds its own (`own_interface`). Inside a Slurm job the command runs here, and enters the hosts by itself.
    Of the settings of MPI libraries that the stack and the fabric have, it gets those that count in it.
    Raises LaunchError.
    """
    launcher: MpiLauncher = discover("launch", "LAUNCHER").get(stack.kind)
    job = replace(job_of(command, hosts, fabric, remote_shell), bind=stack.bind, over=stack.over)
    settings = _counting(job, stack, mpi_settings.asked(stack.knobs, fabric.knobs if fabric is not None else {}))
    job = replace(job, env={**mpi_settings.variables(settings), **job.env})
    if slurm is not None:
        job = replace(job, in_slurm=True, remote_shell=None)
        check(job)
        if slurm.starts_by_srun(stack.kind):
            env = {**stack.env, **launcher.variables(job, stack), **job.env}
            return replace(command, argv=slurm.mpi_argv(job, stack.kind), env=env, host=HERE.name)
        argv = slurm.mpirun_argv(launcher.argv(job, stack))
        return replace(command, argv=argv, env={**stack.env, **launcher.env(job, stack)}, host=HERE.name)
    env = {**stack.env, **launcher.env(job, stack)}
    if job.remote_shell and stack.env:
        env[VARIABLES_VARIABLE] = " ".join(stack.env)
    keeps_env = getattr(launcher, "keeps_env", False)
    return replace(command, argv=launcher.argv(job, stack), env=env, host=job.rank_hosts[0], keeps_env=keeps_env)


def settings_of(
    rank_hosts: Sequence[str],
    stack: MpiStack,
    hosts: Mapping[str, Host],
    fabric: Fabric | None,
    asked: Mapping[str, str],
) -> dict[str, str]:
    """Return what of settings of MPI libraries counts in a launch; raises LaunchError for one that cannot be."""
    command = Command((), rank_hosts[0], rank_hosts=tuple(rank_hosts))
    return _counting(replace(job_of(command, hosts, fabric, None), over=stack.over), stack, asked)


def takes(stack: MpiStack, transport: str) -> frozenset[str]:
    """Return which kinds of settings (`MpiSetting.of`) count in launches over a transport, or inside a host (`shm`)."""
    ranks = ("a", "a") if transport == "shm" else ("a", "b")
    job = MpiJob((), ranks, "eth0", transport, rdma_port=RdmaPort("rdma0"), over=stack.over)
    return _taken(job, stack)


def _counting(job: MpiJob, stack: MpiStack, asked: Mapping[str, str]) -> dict[str, str]:
    taken = _taken(job, stack) if asked else ()
    return {name: value for name, value in asked.items() if MPI_SETTINGS[name].of in taken}


def _taken(job: MpiJob, stack: MpiStack) -> frozenset[str]:
    launcher: MpiLauncher = discover("launch", "LAUNCHER").get(stack.kind)
    return mpi_settings.taken(stack, job.transport, launcher.variables(job, stack))


def job_of(command: Command, hosts: Mapping[str, Host], fabric: Fabric | None, remote_shell: str | None) -> MpiJob:
    """Return the job that a command with `rank_hosts` stands for."""
    used = [hosts[name] for name in dict.fromkeys(command.rank_hosts)]
    is_inter = len(used) > 1
    management = {host.management_interface for host in used}
    interfaces = _interfaces(fabric, used) if is_inter or fabric is not None else {}
    ports = _rdma_ports(fabric, used, interfaces) if fabric is not None and is_inter else {}
    first = next(iter(ports.values()), (None, None))[1]
    own: tuple[str, ...] = ()
    if len(set(ports.values()) or set(interfaces.values())) > 1:
        own = _rdma.own_port(ports) if ports else own_interface(interfaces)
    transport = fabric.transport if fabric is not None and ports else "tcp"
    return MpiJob(
        argv=(*own, *command.argv),
        rank_hosts=command.rank_hosts,
        fabric_interface=next(iter(interfaces.values()), None),
        transport=transport if interfaces else "shm",
        rdma_port=first,
        service_level=fabric.service_level if fabric is not None and ports else 0,
        traffic_class=fabric.traffic_class if fabric is not None and ports else 0,
        management_interface=management.pop() if is_inter and len(management) == 1 else None,
        remote_shell=remote_shell if is_inter else None,
        env=command.env,
        shares_cores=_shares_cores(used, len(command.rank_hosts)),
        stdin_bytes=len(command.stdin or b""),
    )


def _interfaces(fabric: Fabric | None, hosts: Sequence[Host]) -> dict[str, str]:
    """Return the fabric's interface of every host, by what the host calls itself."""
    if fabric is None:
        raise LaunchError("an MPI job over several hosts needs a fabric", fix="name one in the plan")
    interfaces: dict[str, str] = {}
    for host in hosts:
        node, interface = host.node_name or host.name, fabric.interfaces.get(host.name)
        if interface is None:
            raise LaunchError(f"no interface is named for host {host.name!r}", where=fabric.name, fix="add it")
        if interfaces.setdefault(node, interface) != interface:
            raise LaunchError(
                f"two hosts call themselves {node!r} and have different interfaces",
                where=fabric.name,
                fix="give the hosts names of their own (hostnamectl), or measure this fabric with the layer tcp",
            )
    return interfaces


def _rdma_ports(
    fabric: Fabric, hosts: Sequence[Host], interfaces: Mapping[str, str]
) -> dict[str, tuple[str, RdmaPort]]:
    """Return interface and RDMA port of every host, by what it calls itself; nothing for a fabric of TCP alone."""
    if fabric.transport not in RDMA_TRANSPORTS:
        return {}
    ports = {}
    for host in hosts:
        port = fabric.rdma_ports.get(host.name)
        if port is None:
            raise LaunchError(f"no RDMA port is known for host {host.name!r}", where=fabric.name, fix="name its device")
        node = host.node_name or host.name
        ports[node] = (interfaces[node], RdmaPort(port.device, port.hca_port, port.gid_index))
    return ports


def own_interface(interfaces: Mapping[str, str]) -> tuple[str, ...]:
    """Return words before a rank's program that name the interface of the host it finds itself on.

    No MPI library takes one interface for each host, but every one reads its choice from a variable, and the rank's
    own environment is read last: this way works for all of them, and with every launcher. Open MPI's subnets
    (`btl_tcp_if_include 10.0.0.0/24`) would do for Open MPI alone.
    """
    cases = " ".join(f"{shlex.quote(node)}) i={shlex.quote(name)} ;;" for node, name in interfaces.items())
    lost = 'echo "no interface of the fabric is named for a host that calls itself $(uname -n)" >&2; exit 3'
    exports = " ".join(f"{variable}=$i" for variable in INTERFACE_VARIABLES)
    script = f'case $(uname -n) in {cases} *) {lost} ;; esac; export {exports}; exec "$@"'
    return ("/bin/sh", "-c", script, "sh")


def _shares_cores(hosts: Sequence[Host], rank_count: int) -> bool:
    """Return whether ranks must share cores: in a lab, or with more ranks than the hosts have cores."""
    if any(host.kind != "machine" for host in hosts):
        return True
    cpu_count = hosts[0].cpu_count or (None if hosts[0].access else len(os.sched_getaffinity(0)))
    return cpu_count is not None and cpu_count * len(hosts) < rank_count


def unit_of(job: MpiJob) -> str | None:
    """Return to what ranks are bound, one unit each: core, socket, numa or none; None for what the library does itself.

    Processors that are named one by one are for the launcher to bind to.
    """
    if job.bind is None:
        return "none" if job.shares_cores else None
    return job.bind if isinstance(job.bind, str) else None


def processors_of(job: MpiJob) -> tuple[int, ...]:
    """Return the processors for the ranks of every host, in their order; nothing where none were named."""
    return job.bind if isinstance(job.bind, tuple) else ()


def layout(rank_hosts: Sequence[str]) -> tuple[tuple[str, ...], Layout]:
    """Return the hosts in the order of their first ranks, and how the ranks are dealt out; raises LaunchError.

    Block (a a b b) or cyclic (a b a b), equally many on each host: that is what every launcher's own words can say.
    """
    fix = "ask for a number of ranks that is a multiple of the hosts"
    try:
        found = layout_of(rank_hosts)
    except ValueError as error:
        raise LaunchError(str(error), fix=fix) from error
    if found.arrangement in (TO_ONE, BESIDE):
        raise LaunchError(f"every host must have equally many ranks, not {' '.join(rank_hosts)}", fix=fix)
    return tuple(dict.fromkeys(rank_hosts)), found


def check(job: MpiJob) -> None:
    """Raise LaunchError for a transport that no launcher can force, too few processors, and too much standard input."""
    if job.transport not in ("tcp", "shm", *RDMA_TRANSPORTS):
        raise LaunchError(f"no MPI launcher can force the transport {job.transport!r}", fix="use tcp or shm")
    if job.transport in RDMA_TRANSPORTS:
        _rdma.port_of(job)
    if job.transport == "tcp" and job.fabric_interface is None:
        raise LaunchError("the transport tcp needs the name of an interface")
    ranks_per_host = layout(job.rank_hosts)[1].ranks_per_host
    if isinstance(job.bind, tuple) and len(job.bind) < ranks_per_host:
        raise LaunchError(
            f"the plan binds ranks to {len(job.bind)} processors, and every host has {ranks_per_host} ranks",
            fix="name a processor for each, or write `bind: core`",
        )
    if job.stdin_bytes > MAX_STDIN_BYTES:
        raise LaunchError(
            f"mpirun cannot be trusted with {job.stdin_bytes} bytes of standard input",
            fix=f"ask for fewer cases in one launch: {MAX_STDIN_BYTES} bytes are safe",
        )
