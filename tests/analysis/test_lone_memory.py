"""Ranks of which a look saw each one's own memory and nothing else: they are not programs without MPI."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MEMORY, on_one

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import JOB, RANK, REFUTED, UNDECIDED, Expectation


@pytest.mark.parametrize(
    ("asked", "memory", "verdict"),
    [
        (MEMORY, "00:1b:{} /dev/shm/sm_segment.a.{}", UNDECIDED),
        (Expectation("tcp", ""), "00:1b:{} /dev/shm/sm_segment.a.{}", UNDECIDED),
        (MEMORY, "", REFUTED),
    ],
)
def test_what_ranks_told_their_launcher_is_not_what_they_told_each_other(
    asked: Expectation, memory: str, verdict: str
) -> None:
    """Open MPI 5 has its launcher tell each rank 188 kB over lo; the ranks' messages went through memory."""
    made = on_one()
    for _ in range(2):
        made.tcp("a", "a", 188_000, 1_000, "eth0", JOB, there=RANK)
    host = made["a"]
    for number, one in enumerate(host.processes):
        host.processes[number] = replace(
            one, shared_mappings={memory.format(number, number): 16 << 20} if memory else {}
        )
    assert balance(made.watches(), asked).verdict == verdict
