"""What ranks of real MPI libraries are bound to, as they say themselves, and as the engine records it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.command import Command
from fabriscope.model.host import Host
from fabriscope.model.mpi import Bind, MpiStack

STACKS = needs.stacks()
PROCESSORS = sorted(os.sched_getaffinity(0))
HERE = {"here": Host("here")}
WHERE_I_AM = "echo $OMPI_COMM_WORLD_RANK$PMI_RANK $(grep Cpus_allowed_list /proc/self/status)"

pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.skipif(len(PROCESSORS) < 2, reason=needs.ONE_PROCESSOR),
    pytest.mark.timeout(900),
]


def numbers(text: str) -> set[int]:
    """Return what the kernel's `0,2-3` lists."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def sharing(processor: int, what: str) -> set[int]:
    """Return the processors that are one core, or in one socket, with this one, and that we may use."""
    path = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/{what}_cpus_list")
    return numbers(path.read_text().strip()) & set(PROCESSORS)


def run(stack: MpiStack, bind: Bind | None, argv: tuple[str, ...], stdin: bytes | None = None) -> list[str]:
    """Return the lines that two ranks on this machine print."""
    job = Command(argv, "here", stdin=stdin, rank_hosts=("here", "here"))
    wrapped = mpi_jobs.wrap(job, replace(stack, bind=bind), HERE, None, None)
    (outcome,) = processes.run_commands([wrapped], HERE, timeout_s=120)
    assert outcome.exit_status == 0, outcome.stderr.decode("utf-8", "replace")
    return outcome.stdout.decode().splitlines()


def bound_to(stack: MpiStack, bind: Bind | None) -> list[set[int]]:
    """Return the processors of both ranks."""
    words = [line.split() for line in run(stack, bind, ("/bin/sh", "-c", WHERE_I_AM)) if "Cpus_allowed_list" in line]
    return [numbers(one[2]) for one in sorted(words)]


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: str(stack.name))
def test_ranks_are_bound_as_the_plan_says(stack: MpiStack) -> None:
    assert bound_to(stack, "none") == [set(PROCESSORS)] * 2
    first, second = bound_to(stack, "core")
    assert first and second and not first & second
    for mine in (first, second):
        assert mine <= sharing(min(mine), "core")
    for mine in bound_to(stack, "socket"):
        assert mine == sharing(min(mine), "package")
    last, before = PROCESSORS[-1], PROCESSORS[-2]
    assert bound_to(stack, (last, before)) == [{last}, {before}]


def test_the_engine_records_what_its_ranks_are_bound_to() -> None:
    stack = needs.mpi_library()
    engine = str(engine_binary.build_mpi_engine(stack))
    case = b"case id=0 benchmark=ping_pong message_size_bytes=8\n"
    spec = b"fabriscope-spec 1\nbudget_ns 1\nburst_ns 100000\ncase_timeout_ns 60000000000\n" + case + b"end\n"
    argv = (engine, "--transport", "mpi", "--rendezvous", "mpi", "--rank-count", "2", "--spec", "-")
    last, before = PROCESSORS[-1], PROCESSORS[-2]
    header = json.loads(run(stack, (last, before), argv, spec)[0])
    assert [rank["processors"] for rank in header["ranks"]] == [str(last), str(before)]
