"""What applications tell: each number by the definition of the program that states it (docs/applications.md)."""

from __future__ import annotations

from collections.abc import Iterable

from fabriscope.model.metric import BYTES, NS, PER_S, PERCENT, Metric
from fabriscope.model.quantity import UNITS, Operations, Quantity, Ranks, Unit

_FLOP, _OP = UNITS["flop_per_s"], UNITS["op_per_s"]


def _metric(
    what: str, unit: Unit, title: str, definition: str, *, ranks: Ranks = Ranks.SPAN,
    operations: Operations = Operations.ALL, counted: str = "",
) -> Metric:  # fmt: skip
    return Metric(Quantity(what, unit, operations, ranks), title, definition, counted=counted)


_TIME = _metric(
    "time_to_solution", NS, "Time to solution",
    "as the application times itself, from its ready data to its result; of the slowest rank",
)  # fmt: skip
OF_NAS = (
    _metric(
        "nas_rate", _OP, "Rate", "operations that NAS counts for the problem over time_to_solution_ns, of all ranks",
    ),
    _TIME,
    _metric(
        "computing", PERCENT, "Share of computing",
        "mean over the ranks: time outside calls of MPI and the waits in them, over the rank’s own time (our kernels)",
    ),
)  # fmt: skip
OF_HPL = (
    _metric(
        "linpack", _FLOP, "Linpack", "2/3 N^3 + 3/2 N^2 operations over the time in which HPL solves the linear system",
    ),
    _TIME,
    _metric(
        "linpack_of_peak", PERCENT, "Linpack of nominal peak",
        "linpack_flop_per_s over the cores of the ranks, times their nominal clock, times floating-point operations a "
        "cycle",
    ),
    _metric(
        "linpack_of_dgemm", PERCENT, "Linpack of DGEMM on all ranks",
        "linpack_flop_per_s over the ranks times star_dgemm_flop_per_s of the same launch (hpcc)",
    ),
    _metric(
        "linpack_of_single_dgemm", PERCENT, "Linpack of DGEMM on one rank",
        "linpack_flop_per_s over the ranks times single_dgemm_flop_per_s of the same launch (hpcc)",
    ),
)  # fmt: skip
OF_HPCC = (
    _metric("star_dgemm", _FLOP, "DGEMM, all ranks", "HPCC: one rank’s matrix product, all at once; their mean"),
    _metric("single_dgemm", _FLOP, "DGEMM, one rank", "HPCC: one rank’s matrix product while the others wait"),
    _metric("ptrans", BYTES, "PTRANS", "HPCC: the bytes of a matrix over the time of A = A^T + B by all ranks"),
    _metric(
        "random_access", PER_S, "RandomAccess", "HPCC: updates of 8 bytes at random places of all ranks’ memory",
        counted="updates",
    ),
    _metric("global_fft", _FLOP, "FFT", "HPCC: one transform over all ranks, 5 n log2 n operations"),
    _metric("star_stream_triad", BYTES, "STREAM triad, all ranks", "HPCC: a = b + s c by each rank, all at once"),
    _metric("single_stream_triad", BYTES, "STREAM triad, one rank", "HPCC: a = b + s c by one rank"),
    _metric("natural_ring_latency", NS, "Ring latency, natural order", "HPCC: 8 bytes to both neighbours, each rank"),
    _metric(
        "random_ring_latency", NS, "Ring latency, random order", "HPCC: as natural_ring_latency_ns, neighbours drawn"
    ),
    _metric(
        "natural_ring_bandwidth", BYTES, "Ring bandwidth, natural order",
        "HPCC: 2,000,000 bytes to both neighbours; the bytes that each rank sends over the time"
    ),
    _metric(
        "random_ring_bandwidth", BYTES, "Ring bandwidth, random order",
        "HPCC: as natural_ring_bandwidth_bytes_per_s, neighbours drawn"
    ),
    _metric("pairs_latency", NS, "Ping-pong latency of pairs", "HPCC: half a round trip of 8 bytes; mean of the pairs"),
    _metric(
        "pairs_bandwidth", BYTES, "Ping-pong bandwidth of pairs",
        "HPCC: 2,000,000 bytes over half a round trip; mean of the pairs"
    ),
)  # fmt: skip
APPLICATION_METRICS = (*OF_NAS, *(metric for metric in OF_HPL if metric is not _TIME), *OF_HPCC)


def ids_of(metrics: Iterable[Metric]) -> tuple[str, ...]:
    """Return the ids of metrics."""
    return tuple(metric.metric_id for metric in metrics)
