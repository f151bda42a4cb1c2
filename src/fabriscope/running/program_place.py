"""Where the program of `fabriscope prove` runs, here or on a host of a lab, and which hosts are watched meanwhile."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriscope.hosts import allocation, launcher_words
from fabriscope.launch import environment, slurm, ssh
from fabriscope.launch.ssh import Ssh
from fabriscope.model import search_paths
from fabriscope.model.errors import ToolMissing
from fabriscope.model.host import Host
from fabriscope.model.host_lists import unfolded
from fabriscope.running import fleet, real_site

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """Where a program runs, and what is watched meanwhile."""

    hosts: Mapping[str, Host]
    access: tuple[str, ...] = ()
    """Words that lead to where the program runs; none for here."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What MPI launchers need, to reach a lab's hosts and to work for root: the same as in a run."""
    fabrics: Mapping[str, str] = field(default_factory=dict)
    """Names that a lab has for its interfaces."""
    chosen_because: str = ""
    """Why these hosts, in words."""


def check(argv: Sequence[str]) -> None:
    """Raise ToolMissing where there is no such program on this machine, or nothing that can be started."""
    if shutil.which(argv[0], path=search_paths.given().get("PATH")) is None:
        if "/" in argv[0] and Path(argv[0]).is_file():
            raise ToolMissing(
                f"{argv[0]} is no program: it may not be executed", fix=f"chmod +x {shlex.quote(argv[0])}"
            )
        raise ToolMissing(
            f"there is no program {argv[0] or repr(argv[0])}", fix="give its path, or a name that PATH knows"
        )


@contextlib.contextmanager
def place(
    argv: Sequence[str], *, hosts: str | None, lab_name: str | None, ssh_words: str | None, notice: Notice
) -> Iterator[Place]:
    """Yield the place for a program: `hosts` are a list or None, `lab_name` is a lab that stands, or None.

    Connections end with the block. Raises HostError or LabError.
    """
    if lab_name is not None:
        yield _in_lab(lab_name, unfolded(hosts) if hosts else ())
        return
    names, why = _chosen(argv, hosts)
    near = [name for name in names if real_site.is_here(name)][:1]
    far = [name for name in names if not real_site.is_here(name)]
    known = {name: Host(name) for name in near}
    with contextlib.ExitStack() as stack:
        if far:
            words = _reached_by(names, ssh_words)
            notice(f"reaching {len(far)} hosts {'by srun' if isinstance(words, slurm.Slurm) else 'over ssh'}")
            opened = stack.enter_context(fleet.connected(words))
            opened.look(far)
            opened.check()
            known |= {name: opened.host(name) for name in far}
        watched = {name: known[name] for name in names if name in known}
        yield Place(watched, env=environment.here(os.environ), chosen_because=why)


def _in_lab(name: str, wanted: Sequence[str]) -> Place:
    from fabriscope import lab

    standing = lab.find(name or None)
    hosts = [standing.check_host(one) for one in wanted or [host.name for host in standing.hosts]]
    env = environment.in_lab(str(standing.remote_shell), hosts[0].management_interface, os.environ)
    fabrics = {fabric: str(one["interface"]) for fabric, one in standing.state.details["fabrics"].items()}
    return Place({host.name: host for host in hosts}, hosts[0].access, env, fabrics, f"the lab {standing.name}")


def _chosen(argv: Sequence[str], hosts: str | None) -> tuple[tuple[str, ...], str]:
    """Return the hosts to watch, and why these."""
    if hosts is not None:
        return unfolded(hosts), "--hosts"
    job = allocation.find()
    if job is not None:
        return job.hosts, f"the {job.scheduler} job {job.job_id}".strip()
    named = launcher_words.hosts_of(argv)
    if named:
        return named, "the command names them"
    return ("localhost",), "the command names no hosts"


def _reached_by(names: Sequence[str], ssh_words: str | None) -> Ssh:
    """Return what reaches the hosts: srun inside a Slurm job that has them, else ssh."""
    if os.environ.get("SLURM_JOB_ID") and not ssh_words:
        job = allocation.find()
        if job is not None and job.scheduler == "slurm" and set(names) <= set(job.hosts):
            return slurm.here(os.environ, "mpirun", ())
    usual = ssh.chosen()
    return replace(usual, command=ssh.split(ssh_words)) if ssh_words else usual
