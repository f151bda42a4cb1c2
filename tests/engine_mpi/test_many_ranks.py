"""Pairs, rings and the common clock over a real MPI library."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.command import Command
from fabriscope.model.host import Host

STACKS = [stack for stack in needs.stacks() if stack.mpicxx is not None][:1]
RANK_COUNT = 4
HEAD = "fabriscope-spec 1\nbudget_ns 1\ncase_timeout_ns 60000000000\n"
CASES = (
    "case id=latency benchmark=multi_pair_latency message_size_bytes=64\n"
    "case id=rate benchmark=message_rate message_size_bytes=8 window_size=16 pairing=neighbour\n"
    "case id=ring benchmark=sendrecv message_size_bytes=1000\n"
    "case id=both benchmark=exchange message_size_bytes=100000 timing=barrier\n"
    "case id=loop benchmark=exchange message_size_bytes=0 timing=back_to_back\n"
    "case id=wrong benchmark=sendrecv message_size_bytes=8 timing=origin\n"
    "end\n"
)

pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.timeout(900),
]


def said(items: str) -> list[dict[str, Any]]:
    """Return the lines of a run of all cases with four ranks on this host."""
    engine = str(engine_binary.build_mpi_engine(STACKS[0]))
    argv = (engine, "--transport", "mpi", "--rendezvous", "mpi", "--rank-count", str(RANK_COUNT), "--spec", "-")
    job = Command(argv, "here", stdin=(HEAD + items + CASES).encode(), rank_hosts=("here",) * RANK_COUNT)
    hosts = {"here": Host("here")}
    (outcome,) = processes.run_commands([mpi_jobs.wrap(job, STACKS[0], hosts, None, None)], hosts, timeout_s=600)
    assert outcome.exit_status == 0, outcome.stderr.decode("utf-8", "replace")
    return [json.loads(line) for line in outcome.stdout.splitlines()]


@pytest.mark.parametrize("shared", [True, False])
def test_pairs_and_rings_are_checked_and_keep_each_ranks_share(shared: bool) -> None:
    lines = said(f"share_clocks {int(shared)}\n")
    (failure,) = [line for line in lines if line["type"] == "failure"]
    assert failure["case"] == "wrong"
    assert failure["reason"] == "timing is 'origin', not one of common_clock, barrier, back_to_back"
    assert all(line["ok"] for line in lines if line["type"] == "verification")
    recorded: dict[str, set[int]] = {name: set() for name in ("latency", "rate", "ring", "both", "loop")}
    for line in lines:
        if line["type"] == "rank_block":
            recorded[line["case"]].add(line["rank"])
    everyone = set(range(RANK_COUNT))
    assert recorded == {"latency": {0, 1}, "rate": {0, 2}, "ring": everyone, "both": everyone, "loop": everyone}
    (model,) = [line for line in lines if line["type"] == "clock_model"]
    assert [rank["rank"] for rank in model["ranks"]] == list(range(RANK_COUNT))
    compared = [rank["compared_with"] for rank in model["ranks"]]
    # As a tree: rank 0 tells the time to 1, then 0 to 2 while 1 tells it to 3.
    assert compared == ([None] * RANK_COUNT if shared else [None, 0, 0, 1])
