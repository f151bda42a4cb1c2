"""The profiles of NAS kernels are what their specification says, computed by hand from class and ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import needs
from tests.profiles.program_of import STACKS, only, profiled, total

from fabriscope import engine_binary
from fabriscope.model.profile import Profile

pytestmark = [pytest.mark.skipif(not STACKS, reason=needs.NO_MPI), pytest.mark.timeout(900)]


def kernel(name: str, problem: str, ranks: int, folder: Path) -> Profile:
    program = str(engine_binary.build_npb(STACKS[0]))
    job, done = profiled(STACKS[0], [program, name, problem], folder, ranks)
    assert '"verified":true' in done.stdout
    return job


@pytest.mark.parametrize(("problem", "points", "iterations"), [("S", 64**3, 6), ("W", 128 * 128 * 32, 6)])
@pytest.mark.parametrize("ranks", [2, 4])
def test_ft_transposes_once_and_then_once_an_iteration(
    problem: str, points: int, iterations: int, ranks: int, tmp_path: Path
) -> None:
    for rank in kernel("ft", problem, ranks, tmp_path).ranks:
        transposes = only(rank, "MPI_Alltoall")
        assert (transposes.count, transposes.bytes) == (iterations + 1, (iterations + 1) * points * 16 // ranks)
        assert (transposes.message_bytes, transposes.ranks) == (points * 16 / ranks**2, ranks)
        assert 2 ** (transposes.size_class - 1) == points * 16 // ranks**2
        assert total(rank, "MPI_Reduce") == (iterations, iterations * 16)
        assert {part.call for part in rank.parts} == {"MPI_Alltoall", "MPI_Reduce"}


@pytest.mark.parametrize("ranks", [2, 4])
def test_is_tells_buckets_counts_and_keys_in_each_of_ten_iterations(ranks: int, tmp_path: Path) -> None:
    keys, buckets, tests, iterations = 2**16, 512, 5, 10
    for rank in kernel("is", "S", ranks, tmp_path).ranks:
        assert total(rank, "MPI_Allreduce") == (iterations, iterations * 4 * (buckets + tests))
        counts = only(rank, "MPI_Alltoall")
        assert (counts.count, counts.bytes, counts.message_bytes) == (iterations, iterations * 4 * ranks, 4)
        assert total(rank, "MPI_Alltoallv") == (iterations, iterations * 4 * keys // ranks)
        assert {part.call for part in rank.parts} == {"MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv"}


def test_cg_exchanges_with_its_row_and_its_transpose(tmp_path: Path) -> None:
    """Two by two ranks: 25 inner iterations and a check, 26 products, 52 sums of one number, and one of two."""
    order, steps, products, sums = 1400, 15, 26, 52
    half = order // 2 * 8
    for rank in kernel("cg", "S", 4, tmp_path).ranks:
        is_on_diagonal = rank.rank in (0, 3)
        exchanges = steps * products * (1 if is_on_diagonal else 2)
        count, size = total(rank, "MPI_Sendrecv")
        assert count == exchanges + steps * (sums + 1)
        assert size == exchanges * half + steps * (sums * 8 + 16)
        row = {part.peer for part in rank.parts if part.call == "MPI_Sendrecv"}
        assert row == ({rank.rank ^ 1} if is_on_diagonal else {rank.rank ^ 1, 3 - rank.rank})
        by_class = {part.size_class: part.count for part in rank.parts if part.peer == rank.rank ^ 1}
        assert by_class == {4: steps * sums, 5: steps, 14: steps * products}
