"""Puts an MPI library's launcher before a program that has ranks.

A launcher is one file here with a `LAUNCHER` named after `MpiStack.kind`; it is a pure function from a job and an
installation to words, so that one test holds every command line (`tests/launch/test_launchers.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from fabriscope.model.command import Command
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.model.ranks import Layout, layout_of
from fabriscope.registry import discover

MAX_STDIN_BYTES = 60_000
"""More than about 64 KiB is refused by Hydra ("reading stdin too slowly") and garbled by PRRTE (its issue 2579)."""


class MpiLauncher(Protocol):
    """Knows the command line of one MPI library."""

    @property
    def name(self) -> str:
        """Return the `MpiStack.kind` that it speaks to."""

    def argv(self, job: MpiJob, stack: MpiStack) -> tuple[str, ...]:
        """Return the whole command line, the program's own words last; raises LaunchError."""

    def env(self, job: MpiJob, stack: MpiStack) -> dict[str, str]:
        """Return the variables that mpirun itself needs."""


def wrap(
    command: Command,
    stack: MpiStack,
    hosts: Mapping[str, Host],
    fabric: Fabric | None,
    remote_shell: str | None,
) -> Command:
    """Return the command that starts an MPI job with the stack's own launcher, on the host of its first rank.

    A job with a fabric is forced onto its interface, on one host too; without one it uses shared memory. Raises
    LaunchError if the hosts' interfaces differ in name, since no MPI library takes one for each host.
    """
    launcher: MpiLauncher = discover("launch", "LAUNCHER").get(stack.kind)
    job = job_of(command, hosts, fabric, remote_shell)
    env = {**stack.env, **launcher.env(job, stack)}
    return replace(command, argv=launcher.argv(job, stack), env=env, host=job.rank_hosts[0])


def job_of(command: Command, hosts: Mapping[str, Host], fabric: Fabric | None, remote_shell: str | None) -> MpiJob:
    """Return the job that a command with `rank_hosts` stands for."""
    used = [hosts[name] for name in dict.fromkeys(command.rank_hosts)]
    is_inter = len(used) > 1
    management = {host.management_interface for host in used}
    return MpiJob(
        argv=command.argv,
        rank_hosts=command.rank_hosts,
        fabric_interface=_interface(fabric, used) if is_inter or fabric is not None else None,
        transport="tcp" if is_inter or fabric is not None else "shm",
        management_interface=management.pop() if is_inter and len(management) == 1 else None,
        remote_shell=remote_shell if is_inter else None,
        env=command.env,
        shares_cores=_shares_cores(used, len(command.rank_hosts)),
        stdin_bytes=len(command.stdin or b""),
    )


def _interface(fabric: Fabric | None, hosts: Sequence[Host]) -> str:
    if fabric is None:
        raise LaunchError("an MPI job over several hosts needs a fabric", fix="name one in the plan")
    names = {fabric.interfaces.get(host.name) for host in hosts}
    name = names.pop()
    if names or name is None:
        raise LaunchError(
            "MPI libraries take one interface name for all hosts, and the fabric's differ",
            where=fabric.name,
            fix="rename the interfaces alike, or measure this fabric with the layer tcp",
        )
    return name


def _shares_cores(hosts: Sequence[Host], rank_count: int) -> bool:
    """Return whether ranks must share cores: in a lab, or with more ranks than this machine has cores."""
    if any(host.kind != "machine" for host in hosts):
        return True
    return not hosts[0].access and len(os.sched_getaffinity(0)) < rank_count


def layout(rank_hosts: Sequence[str]) -> tuple[tuple[str, ...], Layout]:
    """Return the hosts in the order of their first ranks, and how the ranks are dealt out; raises LaunchError.

    Block (a a b b) or cyclic (a b a b), equally many on each host: that is what every launcher's own words can say.
    """
    try:
        return tuple(dict.fromkeys(rank_hosts)), layout_of(rank_hosts)
    except ValueError as error:
        raise LaunchError(str(error), fix="ask for a number of ranks that is a multiple of the hosts") from error


def check(job: MpiJob) -> None:
    """Raise LaunchError for a transport that no launcher can force, and for too much standard input."""
    if job.transport not in ("tcp", "shm"):
        raise LaunchError(f"no MPI launcher can force the transport {job.transport!r}", fix="use tcp or shm")
    if job.transport == "tcp" and job.fabric_interface is None:
        raise LaunchError("the transport tcp needs the name of an interface")
    if job.stdin_bytes > MAX_STDIN_BYTES:
        raise LaunchError(
            f"mpirun cannot be trusted with {job.stdin_bytes} bytes of standard input",
            fix=f"ask for fewer cases in one launch: {MAX_STDIN_BYTES} bytes are safe",
        )
