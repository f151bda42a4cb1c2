"""How many ranks a class of each kernel takes: what the program refuses is what a plan's check refuses."""

from __future__ import annotations

import json
import math
import subprocess

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.model.applications import CLASSES, MOST_RANKS, NPB, can_use, nas_benchmark
from fabriscope.model.nas_memory import about_bytes

STACKS = [stack for stack in needs.stacks() if stack.mpicxx is not None]
MOST_ASKED = 1 << 20
"""Ranks that the program can be asked about."""
pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.timeout(900),
]


def takes(program: str, kernel: str, problem_class: str, rank_count: int) -> bool:
    """Return whether the program takes a number of ranks, were there memory for it."""
    words = [program, kernel, problem_class, "--dry-run", "--rank-count", str(rank_count)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    return "cannot use" not in json.loads(done.stdout.splitlines()[0]).get("reason", "")


@pytest.mark.parametrize("kernel", sorted(MOST_RANKS))
def test_the_program_and_a_plans_check_agree(kernel: str) -> None:
    program = str(engine_binary.build_npb(STACKS[0]))
    for problem_class, most in zip(CLASSES, MOST_RANKS[kernel], strict=True):
        benchmark = nas_benchmark(kernel, problem_class)
        counts = [1, 2, 3, 4, 5, 8, 9, most, most + 1, 2 * most, (math.isqrt(most) + 1) ** 2]
        counts = [count for count in counts if count <= MOST_ASKED]
        said = {count: takes(program, kernel, problem_class, count) for count in counts}
        assert said == {count: can_use(NPB, benchmark, count) for count in counts}
        assert most > MOST_ASKED or said[most]


def test_a_conjugate_gradient_of_class_s_has_an_eighth_of_the_order_at_most() -> None:
    program = str(engine_binary.build_npb(STACKS[0]))
    assert [count for count in (64, 128, 256) if takes(program, "cg", "S", count)] == [64, 128]


@pytest.mark.parametrize("kernel", sorted(MOST_RANKS))
def test_what_a_plans_check_says_of_memory_is_about_what_the_program_says(kernel: str) -> None:
    program = str(engine_binary.build_npb(STACKS[0]))
    for problem_class in CLASSES:
        count = 4 if kernel == "bt" or (kernel, problem_class) == ("is", "D") else 2
        words = [program, kernel, problem_class, "--dry-run", "--rank-count", str(count)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        said = json.loads(done.stdout.splitlines()[0])
        needed = said["needed_bytes_per_rank"] * count if "needed_bytes_per_rank" in said else said["needed_bytes"]
        assert about_bytes(nas_benchmark(kernel, problem_class)) == pytest.approx(needed, rel=0.01, abs=1 << 20)
