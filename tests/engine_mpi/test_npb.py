"""The NAS kernels over a real MPI library: the official values, a planted error, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.command import Command
from fabriscope.model.host import Host

STACKS = [stack for stack in needs.stacks() if stack.mpicxx is not None]
STACKS.sort(key=lambda stack: not stack.kind.startswith("openmpi"))
"""Open MPI before others: ranks that wait yield their core, and some tests have more ranks than a machine has cores."""
WRONG, REFUSED = 3, 2
CHECK_COUNTS = {"bt": 10, "cg": 1, "ep": 2, "ft": 12, "is": 51, "mg": 1}
"""Numbers that class S has official values of, and IS' order."""
KERNELS = sorted(CHECK_COUNTS)
MANY_RANKS = {"bt": (4, 9), "ep": (3, 5), "ft": (3, 8), "is": (3, 5), "mg": (4, 16)}
"""Where not 4 and 8: what work cannot be shared out evenly over; of MG, more than its coarsest grid has points."""

pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.timeout(900),
]


def said(*words: str, rank_count: int = 1) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the exit status and the lines of a run with these words on this host."""
    program = str(engine_binary.build_npb(STACKS[0]))
    job = Command((program, *words), "here", rank_hosts=("here",) * rank_count)
    hosts = {"here": Host("here")}
    (outcome,) = processes.run_commands([mpi_jobs.wrap(job, STACKS[0], hosts, None, None)], hosts, timeout_s=120)
    lines = [line for line in outcome.stdout.splitlines() if line.startswith(b"{")]
    return outcome.exit_status, [json.loads(line) for line in lines]


@pytest.mark.parametrize("kernel", KERNELS)
def test_class_s_is_verified_and_every_nanosecond_is_in_a_phase(kernel: str) -> None:
    rank_count = 1 if kernel == "bt" else 2
    status, lines = said(kernel.upper(), "s", "--repeat", "2", rank_count=rank_count)
    start, *results = lines
    assert (status, start["type"], start["kernel"], start["class"]) == (0, "start", kernel, "S")
    assert len(start["hosts"]) == rank_count
    assert [(line["type"], line["repeat"], line["verified"]) for line in results] == [
        ("result", 0, True), ("result", 1, True)
    ]  # fmt: skip
    for line in results:
        assert len(line["checks"]) == CHECK_COUNTS[kernel]
        assert all(check["passed"] for check in line["checks"])
        compute, *steps = line["phases"]
        assert compute["kind"] == "compute" and {step["kind"] for step in steps} == {"communication"}
        assert max(sum(phase["ns"][rank] for phase in line["phases"]) for rank in range(rank_count)) == line["time_ns"]
        assert line["mops"] == pytest.approx(line["operation_count"] * 1e3 / line["time_ns"], rel=1e-4)


@pytest.mark.skipif(not STACKS[:1] or not STACKS[0].kind.startswith("openmpi"), reason="takes an Open MPI")
@pytest.mark.parametrize("kernel", KERNELS)
def test_more_ranks_than_cores_find_the_same(kernel: str) -> None:
    for rank_count in MANY_RANKS.get(kernel, (4, 8)):
        status, lines = said(kernel, "S", rank_count=rank_count)
        assert (status, lines[-1]["verified"], lines[-1]["rank_count"]) == (0, True, rank_count)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_digit_that_is_wrong_is_found(kernel: str) -> None:
    status, lines = said(kernel, "S", "--damage")
    (line,) = [line for line in lines if line["type"] == "result"]
    assert (status, line["verified"]) == (WRONG, False)
    assert not all(check["passed"] for check in line["checks"])


def test_what_cannot_run_is_one_sentence_from_one_rank() -> None:
    status, (error,) = said("is", "D", rank_count=2)
    assert (status, error["type"], error["allowed_rank_counts"]) == (REFUSED, "error", [4])
    assert error["reason"] == "IS class D cannot use 2 ranks: it takes any number from 4 to 1024; nearest: 4"
    status, (error,) = said("is", "Q", rank_count=2)
    assert (status, error["reason"]) == (REFUSED, "there is no class 'Q'; known are: S, W, A, B, C, D")


def test_what_does_not_fit_is_told_before_anything_is_allocated() -> None:
    status, (error,) = said("is", "D", "--dry-run", "--rank-count", "1024")
    assert (status, error["type"]) == (REFUSED, "error")
    assert error["needed_bytes"] > 1 << 40 > error["available_bytes"]
