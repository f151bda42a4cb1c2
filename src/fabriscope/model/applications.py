"""What is known of applications: each solves one problem a launch, and cannot use every number of ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

CLASSES = "SWABCD"
"""Problem sizes of the NAS Parallel Benchmarks, smallest first."""


def _is_any(count: int) -> bool:
    return count > 0


def _is_power_of_two(count: int) -> bool:
    return count & (count - 1) == 0


def _is_square(count: int) -> bool:
    return math.isqrt(count) ** 2 == count


@dataclass(frozen=True)
class NasKernel:
    """One kernel of the NAS Parallel Benchmarks (NAS report RNR-94-007)."""

    name: str
    millions: tuple[float, ...]
    """Operations of a run as the specification counts them, in millions, by class."""
    per_rank: float
    """About how many millions of them a core does in a second: for estimates of time alone."""
    sent_bytes: float
    """About how many bytes the ranks of two hosts send each other for each operation: likewise."""
    can_use: Callable[[int], bool] = _is_any
    reference_can_use: Callable[[int], bool] = _is_power_of_two
    """Of the reference implementation (NPB 3), which takes fewer numbers of ranks."""

    def operations(self, problem_class: str) -> float:
        """Return how many operations a run has."""
        return self.millions[CLASSES.index(problem_class)] * 1e6


KERNELS = {
    kernel.name: kernel
    for kernel in (
        NasKernel("ep", (16.8, 33.6, 268, 1074, 4295, 68719), 30, 0),
        NasKernel("is", (0.655, 10.5, 83.9, 336, 1342, 21475), 50, 2.0),
        NasKernel("cg", (66.7, 420, 1508, 54863, 143298, 3649000), 600, 0.01, _is_power_of_two),
        NasKernel("ft", (177, 379, 7138, 92050, 390060, 8630000), 900, 0.08),
        NasKernel("mg", (7.6, 486, 3893, 19460, 155690, 3120000), 1000, 0.01, _is_power_of_two),
        NasKernel("bt", (228, 7755, 168300, 702200, 2830000, 58500000), 900, 0.01, _is_square, _is_square),
    )
}
MOST_RANKS = {
    "ep": (256, 512, 4096, 16384, 65536, 1048576), "is": (512, 1024, 1024, 1024, 1024, 1024),
    "cg": (128, 512, 1024, 8192, 16384, 131072), "ft": (64, 32, 128, 256, 512, 1024),
    "mg": (512, 32768, 262144, 262144, 2097152, 16777216), "bt": (16, 64, 441, 1156, 2916, 18496),
}  # fmt: skip
"""Of our kernels by class; docs/npb.md says what sets them. The reference's own limits are its own to tell."""
_LEAST_RANKS = {("is", "D"): 4}
NPB, NPB_REFERENCE, HPL = "npb", "npb-reference", "hpl"
"""Instruments that run applications: our kernels, the reference's programs, and xhpl or hpcc."""
INSTRUMENTS = (NPB, NPB_REFERENCE, HPL)


def nas_benchmark(kernel: str, problem_class: str) -> str:
    """Return how a case's benchmark is called: each class is a problem of its own."""
    return f"nas_{kernel}_{problem_class.lower()}"


def nas_problem(benchmark: str) -> tuple[str, str]:
    """Return kernel and class of such a benchmark: `ft`, `S`."""
    _, kernel, problem_class = benchmark.split("_")
    return kernel, problem_class.upper()


def can_use(instrument: str, benchmark: str, rank_count: int) -> bool:
    """Return whether an application can be run on a number of ranks."""
    if not benchmark.startswith("nas_"):
        return True
    name, problem_class = nas_problem(benchmark)
    if instrument == NPB_REFERENCE:
        return KERNELS[name].reference_can_use(rank_count)
    most = MOST_RANKS[name][CLASSES.index(problem_class)]
    return _LEAST_RANKS.get((name, problem_class), 1) <= rank_count <= most and KERNELS[name].can_use(rank_count)


def usable_counts(instrument: str, benchmark: str, rank_count: int) -> tuple[int, ...]:
    """Return the numbers of ranks next to one that an application can use: the next below and above, if any."""
    ways = range(rank_count - 1, 0, -1), range(rank_count + 1, 4 * rank_count + 4)
    near = (next((count for count in way if can_use(instrument, benchmark, count)), None) for way in ways)
    return tuple(count for count in near if count is not None)


def grid_of(rank_count: int) -> tuple[int, int]:
    """Return rows and columns of HPL's process grid: as square as the ranks allow, and no taller than wide."""
    rows = next(rows for rows in range(math.isqrt(rank_count), 0, -1) if rank_count % rows == 0)
    return rows, rank_count // rows


def hpl_operations(order: int) -> float:
    """Return the operations of HPL by its own count: 2/3 N^3 + 3/2 N^2."""
    return 2 / 3 * order**3 + 3 / 2 * order**2


def order_in(memory_bytes: float, block_size: int) -> int:
    """Return the order of the largest matrix of doubles that a memory holds, a whole number of blocks."""
    return max(block_size, math.isqrt(int(memory_bytes) // 8) // block_size * block_size)
