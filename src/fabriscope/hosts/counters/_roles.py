"""Who is a rank: decided once all processes of a host are known that a job had there."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from fabriscope.hosts.counters._processes import LAUNCHERS
from fabriscope.model.counters import BESIDE, JOB, OTHER, RANK

WRAPPERS = frozenset(
    ("sh", "bash", "dash", "zsh", "env", "nsenter", "unshare", "ssh", "sshd", "rsh", "sudo", "timeout", "time")
)
"""Programs that stand before others."""
SHELLS = frozenset(("ssh", "rsh"))
"""Of them, those that carry bytes themselves: one that started nothing is the program itself (`scp` has `ssh` send)."""
CLIENTS = frozenset(("prun", "srun", "mpiexec.slurm", "jsrun", "flux", "aprun"))
"""Launchers that have others start the ranks. Any other without a child is a program that happens to be called so."""


def roles(processes: Mapping[int, Mapping[str, Any]]) -> dict[int, tuple[str, int | None]]:
    """Return the role of every process of a job, and its rank, from what the collector says of it.

    Where anything carries the launch's mark, what neither carries it nor descends from what does is somebody else's. A
    rank has a rank's number in its environment, and is no launcher; other programs are beside them. Without MPI the
    ranks are the tasks of a Slurm step, or else the marked programs.
    """
    ours = {pid: one for pid, one in processes.items() if _is_marked(pid, processes)} or processes
    parents = {one["parent"] for one in processes.values()}
    launchers = {pid: one for pid, one in ours.items() if _is_launcher(pid, one, parents)}
    programs = {pid: one for pid, one in ours.items() if pid not in launchers and not _is_forked(one, launchers)}
    ranks = {pid: one["rank"] for pid, one in programs.items() if one["rank"] is not None}
    if not ranks and len(programs) == len(ours):
        working = {
            pid: one
            for pid, one in programs.items()
            if one["program"] not in WRAPPERS or (one["program"] in SHELLS and pid not in parents)
        }
        ranks = _without_mpi(working) or _without_mpi(programs)  # a shell may do all by itself (`exec 3<>/dev/tcp/...`)
    beside = _beside(programs) - ranks.keys()
    others = {pid: BESIDE if pid in beside else JOB if pid in ours else OTHER for pid in processes}
    return {pid: (RANK, ranks[pid]) if pid in ranks else (role, None) for pid, role in others.items()}


def _is_launcher(pid: int, one: Mapping[str, Any], parents: Container[int]) -> bool:
    name = one["program"]
    return name in CLIENTS or (name in LAUNCHERS and pid in parents)


def _is_forked(one: Mapping[str, Any], launchers: Mapping[int, Mapping[str, Any]]) -> bool:
    """Return whether it is a launcher's child and a launcher itself: one that has not become the program which it will
    run yet, and still has its parent's connections, or a proxy whose ranks were gone before anybody looked."""
    return one["parent"] in launchers and one["program"] in LAUNCHERS and one["rank"] is None


def _beside(programs: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Return the programs that no launcher started to reach a host: what they move is the job's too.

    Shells are among them: they open connections of their own. `ssh` that a launcher or nobody of the job started
    carries what a launcher tells a host.
    """
    return {
        pid
        for pid, one in programs.items()
        if one["program"] not in SHELLS
        or (one["parent"] in programs and programs[one["parent"]]["program"] not in LAUNCHERS)
    }


def _is_marked(pid: int, processes: Mapping[int, Mapping[str, Any]]) -> bool:
    """Return whether a process carries the mark, or one that it descends from."""
    passed = set()
    while pid in processes and pid not in passed:
        if processes[pid]["is_marked"]:
            return True
        passed.add(pid)
        pid = processes[pid]["parent"]
    return False


def _without_mpi(programs: Mapping[int, Mapping[str, Any]]) -> dict[int, int | None]:
    marked = {pid: one["step_rank"] for pid, one in programs.items() if one["is_marked"]}
    return marked or {pid: one["step_rank"] for pid, one in programs.items() if one["step_rank"] is not None}
