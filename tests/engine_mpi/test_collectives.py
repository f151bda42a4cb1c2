"""The engine's collectives over real MPI libraries: right data is found right, and wrong data wrong."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.benchmarks import COLLECTIVES, REDUCTIONS
from fabriscope.model.command import Command
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack

EVERY_MPI = bool(os.environ.get("FABRISCOPE_TEST_EVERY_MPI"))
FOUND = [stack for stack in needs.stacks() if stack.mpicxx is not None]
STACKS = FOUND if EVERY_MPI else FOUND[:1]
SHIM = Path(__file__).with_name("wrong_result.c")
HEAD = "fabriscope-spec 1\nbudget_ns 1\nburst_ns 100000\ncase_timeout_ns 60000000000\npool_bytes 1048576\n"
BOTH_FORMS = [form + name for form in ("", "i") for name in COLLECTIVES]

pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.timeout(900),
]


@pytest.fixture(params=STACKS, ids=lambda stack: stack.name)
def stack(request: pytest.FixtureRequest) -> MpiStack:
    found: MpiStack = request.param
    return found


def said(stack: MpiStack, rank_count: int, cases: list[str], preload: Path | None = None) -> list[dict[str, Any]]:
    """Return what the engine says of these cases."""
    engine = str(engine_binary.build_mpi_engine(stack))
    spec = HEAD + "".join(f"case id={place} timing=back_to_back {case}\n" for place, case in enumerate(cases)) + "end\n"
    argv = (engine, "--transport", "mpi", "--rendezvous", "mpi", "--rank-count", str(rank_count), "--spec", "-")
    here = Host("here")
    job = Command(argv, "here", stdin=spec.encode(), rank_hosts=("here",) * rank_count)
    if preload is not None:
        job = replace(job, env={"LD_PRELOAD": str(preload)})
    hosts = {"here": here}
    (outcome,) = processes.run_commands([mpi_jobs.wrap(job, stack, hosts, None, None)], hosts, timeout_s=600)
    assert outcome.exit_status == 0, outcome.stderr.decode("utf-8", "replace")
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def failures(lines: list[dict[str, Any]]) -> dict[int, str]:
    return {int(line["case"]): line["reason"] for line in lines if line["type"] == "failure"}


def case(benchmark: str, **parameters: str | int) -> str:
    size = 0 if benchmark.endswith("barrier") else 120
    words = {"benchmark": benchmark, "message_size_bytes": size, **parameters}
    return " ".join(f"{name}={value}" for name, value in words.items())


def every_case(forms: Sequence[str]) -> list[str]:
    """Return every collective, and in some forms with every datatype and reduction that MPI has for it."""
    cases = [case(name) for name in BOTH_FORMS]
    cases += [case(f"i{name}", compute=1) for name in ("barrier", "allreduce")]
    for form in forms:
        for datatype in ("byte", "int32", "int64", "float", "double"):
            cases.append(case(f"{form}bcast", datatype=datatype, root="rotating"))
            cases.append(case(f"{form}alltoallv", datatype=datatype))
            for reduction in ("sum", "prod", "max", "min", "band", "bor"):
                if (
                    (reduction in ("band", "bor"))
                    if datatype == "byte"
                    else (reduction not in ("band", "bor") or datatype.startswith("int"))
                ):
                    cases.append(case(f"{form}allreduce", datatype=datatype, reduction=reduction))
    cases += [case(name, root="rotating") for name in ("reduce", "gatherv", "iscatter")]
    cases += [case(name, message_size_bytes=4) for name in REDUCTIONS]  # ranks without a share
    return cases


@pytest.mark.parametrize("rank_count", [2, 3])
def test_every_collective_moves_the_right_data(stack: MpiStack, rank_count: int) -> None:
    cases = every_case(("", "i") if rank_count == 2 else ("",))  # three wait for each other on two processors
    lines = said(stack, rank_count, cases)
    assert failures(lines) == {}
    assert [line["ok"] for line in lines if line["type"] == "verification"] == [True] * len(cases)
    measured = {line["case"] for line in lines if line["type"] == "block" and line["phase"] == "measured"}
    assert len(measured) == len(cases)


def test_what_goes_through_pools_arrives_too(stack: MpiStack) -> None:
    names = [*(name for name in BOTH_FORMS if not name.endswith("barrier")), "sendrecv", "exchange"]
    cases = [case(name, buffers="rotating") for name in names]
    cases += [case("allreduce", buffers="separate"), case("iallreduce", buffers="rotating", compute=1)]
    lines = said(stack, 3, cases)
    assert failures(lines) == {}
    assert [line["ok"] for line in lines if line["type"] == "verification"] == [True] * len(cases)
    assert len({line["case"] for line in lines if line["type"] == "block" and line["phase"] == "measured"}) == len(
        cases
    )
    assert [line["pool_bytes"] for line in lines if line["type"] == "pool"] == [1 << 20]


def test_one_flipped_bit_and_a_barrier_that_is_none_are_found(stack: MpiStack, tmp_path: Path) -> None:
    shim = tmp_path / "wrong_result.so"
    compiler = str(stack.mpicxx).replace("mpicxx", "mpicc")
    argv, env = [compiler, "-shared", "-fPIC", str(SHIM), "-o", str(shim)], {**os.environ, **stack.env}
    subprocess.run(argv, check=True, timeout=120, env=env)
    reasons = failures(said(stack, 3, [case(name) for name in BOTH_FORMS], preload=shim))
    assert sorted(reasons) == list(range(len(BOTH_FORMS)))
    for place, name in enumerate(BOTH_FORMS):
        expected = (
            "left the barrier before" if name.endswith("barrier") else "the payload arrived changed: element 0 of"
        )
        assert expected in reasons[place], name


def test_what_cannot_be_measured_says_why(stack: MpiStack) -> None:
    wrong = {
        case("allreduce", message_size_bytes=6): "is no whole number of elements of 4 bytes",
        case("bcast", message_size_bytes=0): "a collective of 0 bytes",
        case("barrier", message_size_bytes=8): "a barrier carries no message",
        case("reduce", datatype="byte"): "MPI has no sum of the datatype byte",
        case("allreduce", reduction="bor"): "MPI has no bor of the datatype float",
        case("bcast", root="1"): "root is '1'",
    }
    reasons = failures(said(stack, 2, list(wrong)))
    assert len(reasons) == len(wrong)
    for place, expected in enumerate(wrong.values()):
        assert expected in reasons[place]


def test_the_overlap_is_told(stack: MpiStack) -> None:
    lines = said(stack, 2, [case("iallreduce", compute=1)])
    details = [line["details"] for line in lines if line["type"] == "block" and line["phase"] == "measured"]
    assert details
    assert all(one["pure_ns"] > 0 and one["compute_ns"] == one["pure_ns"] for one in details)
