"""Who is a rank: decided once all processes of a host are known that a job had there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabriscope.hosts.counters._processes import LAUNCHERS
from fabriscope.model.counters import JOB, OTHER, RANK

WRAPPERS = frozenset(
    ("sh", "bash", "dash", "zsh", "env", "nsenter", "unshare", "ssh", "sshd", "rsh", "sudo", "timeout", "time")
)
"""Programs that stand before others; without MPI nothing else tells them from the program itself."""


def roles(processes: Mapping[int, Mapping[str, Any]]) -> dict[int, tuple[str, int | None]]:
    """Return the role of every process of a job, and its rank, from what the collector says of it.

    A rank has a rank's number in its environment, and is no launcher. Where anything carries the launch's mark, ranks
    without it are somebody else's. Without MPI the ranks are the tasks of a Slurm step, or else the marked programs.
    """
    programs = {pid: one for pid, one in processes.items() if one["program"] not in LAUNCHERS}
    found = {pid: one["rank"] for pid, one in programs.items() if one["rank"] is not None}
    has_marks = any(processes[pid]["is_marked"] for pid in found)
    ranks = {pid: rank for pid, rank in found.items() if processes[pid]["is_marked"] or not has_marks}
    if not ranks and len(programs) == len(processes):
        ranks = _without_mpi({pid: one for pid, one in programs.items() if one["program"] not in WRAPPERS})
    strangers = set(found) - set(ranks) if has_marks else set()
    return {
        pid: (RANK, ranks[pid]) if pid in ranks else (OTHER if pid in strangers else JOB, None) for pid in processes
    }


def _without_mpi(programs: Mapping[int, Mapping[str, Any]]) -> dict[int, int | None]:
    marked = {pid: one["step_rank"] for pid, one in programs.items() if one["is_marked"]}
    return marked or {pid: one["step_rank"] for pid, one in programs.items() if one["step_rank"] is not None}
