"""Programs of tests over the MPI libraries of this machine, run under `fabriscope profile`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import forked, needs

from fabriscope.launch import mpi_jobs
from fabriscope.model.command import Command
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack
from fabriscope.model.profile import Part, Profile, RankProfile
from fabriscope.store import profiles

HERE = Path(__file__).parent
STACKS = [stack for stack in needs.stacks() if stack.mpicxx is not None]
OF_KIND = {stack.kind: stack for stack in reversed(STACKS)}
"""One library of each kind: the first found."""


def compiled(stack: MpiStack, folder: Path) -> str:
    """Return the program `calls`, compiled with an MPI library."""
    output = folder / "calls"
    argv = [stack.mpicxx or "", "-O1", "-DOMPI_SKIP_MPICXX", str(HERE / "calls.cc"), "-o", str(output), "-ldl"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False, env=environment(stack))
    assert done.returncode == 0, done.stderr
    return str(output)


def environment(stack: MpiStack, **more: str) -> dict[str, str]:
    return {**os.environ, **stack.env, **more}


def launch(stack: MpiStack, argv: Sequence[str], ranks: int) -> Command:
    """Return what starts a program on this host."""
    job = Command(tuple(argv), "here", rank_hosts=("here",) * ranks)
    return mpi_jobs.wrap(job, stack, {"here": Host("here", kind="lab")}, None, None)


def run(
    stack: MpiStack, argv: Sequence[str], ranks: int = 2, options: Sequence[str] = (), **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a program under `fabriscope profile`."""
    command = launch(stack, argv, ranks)
    env = {**environment(stack), **command.env, **more}
    return forked.fabriscope(["profile", *options, "--", *command.argv], env, timeout_s=250)


def profiled(
    stack: MpiStack, argv: Sequence[str], folder: Path, ranks: int = 2, status: int | None = 0
) -> tuple[Profile, subprocess.CompletedProcess[str]]:
    """Return the profile of a program, which is to be of one job, and how the command ended."""
    kept = folder / "profile.json"
    done = run(stack, argv, ranks, ["-o", str(kept), "--folder", str(folder)])
    assert status is None or done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("fabriscope-profile-*")), "what ranks wrote is left"
    (job,) = profiles.read(kept)
    return job, done


def total(rank: RankProfile, call: str) -> tuple[int, int]:
    """Return how often a rank called, and with how many bytes."""
    every = [part for part in rank.parts if part.call == call]
    return sum(part.count for part in every), sum(part.bytes for part in every)


def only(rank: RankProfile, call: str) -> Part:
    (part,) = [part for part in rank.parts if part.call == call]
    return part


def counts(job: Profile) -> Mapping[int, Mapping[str, int]]:
    """Return rank to call to count."""
    calls = {part.call for rank in job.ranks for part in rank.parts}
    return {rank.rank: {call: total(rank, call)[0] for call in calls if total(rank, call)[0]} for rank in job.ranks}
