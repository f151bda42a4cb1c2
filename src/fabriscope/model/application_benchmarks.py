"""The applications as benchmarks: each problem is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabriscope.model.application_metrics import OF_HPCC, OF_HPL, OF_NAS, ids_of
from fabriscope.model.applications import CLASSES, HPL, KERNELS, NPB, NPB_REFERENCE, nas_benchmark
from fabriscope.model.benchmark_kind import APPLICATION, BenchmarkKind


def _applications() -> Iterator[BenchmarkKind]:
    """Yield programs that solve one problem a launch: they have neither a message size nor a window."""
    of_nas = ((nas_benchmark(kernel, size), f"NAS {kernel.upper()} {size}") for kernel in KERNELS for size in CLASSES)
    common: dict[str, Any] = {"pattern": APPLICATION, "has_size": False, "needs_mpi": True}
    for name, title in of_nas:
        yield BenchmarkKind(name, title, metrics=ids_of(OF_NAS), instruments=(NPB, NPB_REFERENCE), **common)
    yield BenchmarkKind("hpl", "HPL", metrics=ids_of((*OF_HPL, *OF_HPCC)), instruments=(HPL,), **common)


APPLICATIONS = tuple(_applications())
