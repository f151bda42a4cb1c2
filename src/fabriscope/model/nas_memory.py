"""About how much memory the NAS kernels take, so that a problem which does not fit is told before it is compiled."""

from __future__ import annotations

from fabriscope.model.applications import CLASSES, can_use, nas_benchmark, nas_problem

MIB = 1 << 20
_MIB_BY_CLASS = {
    "ep": (5, 5, 5, 5, 5, 5), "is": (1, 17, 136, 546, 2184, 37120), "cg": (2, 11, 34, 238, 599, 10556),
    "ft": (12, 24, 384, 1536, 6144, 98304), "mg": (1, 56, 435, 435, 3424, 27152),
    "bt": (1, 7, 100, 380, 1467, 22566),
}  # fmt: skip
"""Of all ranks together, as `fabriscope-npb KERNEL CLASS --rank-count 2 --dry-run` says (BT and IS D: of 4 ranks)."""


def about_bytes(benchmark: str) -> int:
    """Return about what all ranks of a NAS problem take together; many ranks take more than this."""
    kernel, problem_class = nas_problem(benchmark)
    return _MIB_BY_CLASS[kernel][CLASSES.index(problem_class)] * MIB


def largest_class(instrument: str, benchmark: str, ranks: int, memory_bytes: float) -> str:
    """Return the largest class of a problem's kernel that a memory holds and that many ranks can use; else nothing."""
    kernel, _ = nas_problem(benchmark)
    names = {one: nas_benchmark(kernel, one) for one in CLASSES}
    fit = [one for one, name in names.items() if about_bytes(name) <= memory_bytes and can_use(instrument, name, ranks)]
    return fit[-1] if fit else ""
